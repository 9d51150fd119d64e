import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { type IdempotencyMark, idempotencyOf } from "../../src/api/idempotency.ts";
import { canonicalJson } from "../../src/base/canonical-json.ts";
import type { Problem } from "../../src/api/problems.ts";
import type { Routes } from "../../src/api/routes/registry.ts";
import { openTestApi } from "./kit.ts";
import { Type } from "../../src/api/type.ts";

/** Answers with what the helper makes of a call. */
const marking: Routes = (api, deps) => {
  for (const method of ["POST", "PUT"] as const)
    api.route({
      method,
      url: "/marks/:name",
      config: { role: "operator" },
      schema: { body: Type.Unknown() },
      handler: async (request) => ({ mark: idempotencyOf(deps, request) }),
    });
};

describe("a call with an Idempotency-Key", () => {
  test("is the same call whatever the order of its keys, and another one with any other content", async (t) => {
    const served = await openTestApi(t, { routes: [marking] });
    const mark = async (method: string, path: string, body: string) =>
      (await served.send(method, path, body, { "idempotency-key": "k-1" })).json<{ mark: IdempotencyMark }>().mark;
    const first = await mark("POST", "/marks/a", '{"x": 1, "y": {"b": [1, 2], "a": null}}');
    assert.equal(first.key, "k-1");
    assert.match(first.fingerprint, /^[0-9a-f]{64}$/);
    assert.deepEqual(await mark("POST", "/marks/a?trace=1", '{"y":{"a":null,"b":[1,2]},"x":1.0}'), first);
    for (const [method, path, body] of [
      ["PUT", "/marks/a", '{"x": 1, "y": {"b": [1, 2], "a": null}}'],
      ["POST", "/marks/b", '{"x": 1, "y": {"b": [1, 2], "a": null}}'],
      ["POST", "/marks/a", '{"x": 1, "y": {"b": [2, 1], "a": null}}'],
      ["POST", "/marks/a", '{"x": "1", "y": {"b": [1, 2], "a": null}}'],
      ["POST", "/marks/a", '{"x": 1, "y": {"b": [1, 2]}}'],
    ] as const)
      assert.notEqual((await mark(method, path, body)).fingerprint, first.fingerprint, `${method} ${path} ${body}`);
  });

  test("leaves nothing behind by which its content could be guessed", async (t) => {
    const served = await openTestApi(t, { routes: [marking] });
    const body = { basic: { username: "ana", password: "1234" } };
    const answer = await served.send("POST", "/marks/a", body, { "idempotency-key": "k-1" });
    const guess = createHash("sha256")
      .update(`POST\n/marks/a\n${canonicalJson(body)}`)
      .digest("hex");
    assert.notEqual(answer.json<{ mark: IdempotencyMark }>().mark.fingerprint, guess);
  });

  test("has none when none is given, and is refused when it cannot be one", async (t) => {
    const served = await openTestApi(t, { routes: [marking] });
    assert.deepEqual((await served.send("POST", "/marks/a", {})).json(), { mark: null });
    for (const key of ["", "a b", "\u00e9", "x".repeat(256)]) {
      const answer = await served.send("POST", "/marks/a", {}, { "idempotency-key": key });
      assert.equal(answer.status, 422, JSON.stringify(key));
      assert.equal(answer.json<Problem>().errors?.[0]?.path, "header.idempotency-key");
    }
    const longest = "x".repeat(255);
    const answer = await served.send("POST", "/marks/a", {}, { "idempotency-key": longest });
    assert.equal(answer.json<{ mark: IdempotencyMark }>().mark.key, longest);
  });
});

test("texts that could be taken for structure are told apart", () => {
  const values = [
    ["a", "b"],
    ["a,b"],
    { a: "b" },
    [{ a: "b" }],
    '{"a":"b"}',
    { "a:b": 1 },
    { a: { b: 1 } },
    null,
    "null",
  ];
  assert.equal(new Set(values.map(canonicalJson)).size, values.length);
});

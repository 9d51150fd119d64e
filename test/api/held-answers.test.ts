import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { madeFor } from "../../src/api/access/held-answers.ts";
import { FRESH_MS, RECHECK_MS } from "../../src/api/access/keys.ts";
import type { ApiRequest } from "../../src/api/instance.ts";
import type { Routes } from "../../src/api/routes/registry.ts";
import { asProgram, currentCaller } from "../../src/domain/access/caller.ts";
import { addFirecrawl } from "../../src/firecrawl/routes.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { openTestApi, type TestApi, TOKEN } from "./kit.ts";

const admin = { authorization: `Bearer ${TOKEN}` };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function keyWith(served: TestApi, body: object): Promise<{ id: string; key: string }> {
  const answer = await served.send("POST", "/keys", { name: "reader", role: "viewer", ...body }, admin);
  assert.equal(answer.status, 201, answer.text);
  return answer.json();
}

const revoke = (served: TestApi, id: string) => served.call({ method: "DELETE", path: `/keys/${id}`, headers: admin });

test("a revocation is known within a second, whatever was read of the key just before", () => {
  assert.ok(FRESH_MS + RECHECK_MS < 1000, `${FRESH_MS} + ${RECHECK_MS} ms`);
});

test("a key that is revoked on one server is refused by another, and its open stream there ends, within a second", async (t) => {
  const clock = new FakeClock();
  const here = await openTestApi(t, { settings: { token: TOKEN }, clock });
  const there = await openTestApi(t, { settings: { token: TOKEN }, clock, store: () => here.store });
  const { id, key } = await keyWith(here, {});
  const stream = await fetch(`${there.url}/events/stream`, { headers: bearer(key) });
  assert.equal(stream.status, 200);
  const ended = (async () => {
    for await (const _ of stream.body!);
  })();
  assert.equal((await there.get("/keys/me", bearer(key))).status, 200);
  await revoke(here, id);
  assert.equal((await here.get("/keys/me", bearer(key))).status, 401, "its own server knows at once");
  await clock.advance(999);
  assert.equal((await there.get("/keys/me", bearer(key))).status, 401);
  await ended;
});

/** A run with one record, on a server whose exports stop after their first page until they are let go. */
async function heldExport(t: TestContext) {
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  const callers: (string | null)[] = [];
  const asked = Promise.withResolvers<void>();
  const served = await openTestApi(t, {
    settings: { token: TOKEN },
    store: (real): Store =>
      new Proxy(real, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown;
          if (name === "auditLog")
            return async (...args: Parameters<Store["auditLog"]>) => {
              callers.push(currentCaller()?.actor.name ?? null);
              const rows = await target.auditLog(...args);
              if (args[0].limit !== 500) return rows;
              // As if there were more.
              if (args[0].before === undefined) return Array.from({ length: 500 }, () => rows[0]!);
              asked.resolve();
              await held.promise;
              return [];
            };
          return typeof value === "function" ? (value.bind(target) as unknown) : value;
        },
      }),
  });
  return { served, held, asked: asked.promise, callers };
}

test("an export is cut off when its key is revoked, and is made for its caller to the end", async (t) => {
  const { served, held, asked, callers } = await heldExport(t);
  const { id, key } = await keyWith(served, { role: "admin" });
  callers.length = 0;
  const response = await fetch(`${served.url}/audit-log?format=jsonl`, { headers: bearer(key) });
  assert.equal(response.status, 200);
  await asked;
  await revoke(served, id);
  await assert.rejects(response.text(), "it does not look complete");
  held.resolve();
  assert.deepEqual(new Set(callers), new Set(["reader"]));
});

test("what is made for a caller sees the caller, whoever asks for it", async () => {
  const principal = {
    kind: "key",
    id: "1",
    name: "agent",
    role: "viewer",
    limits: { jobs: null, sites: ["a.example"], tags: null },
    requestsPerMinute: null,
  } as const;
  const request = { principal, callerIp: "192.0.2.1", id: "r" } as unknown as ApiRequest;
  const seen: unknown[] = [];
  async function* source() {
    try {
      for (;;) {
        seen.push(currentCaller()?.limits?.sites);
        yield 1;
      }
    } finally {
      seen.push(currentCaller()?.actor.name);
    }
  }
  const values = madeFor(request, source())[Symbol.asyncIterator]();
  for (let n = 0; n < 3; n += 1) await asProgram(() => values.next());
  await asProgram(() => values.return!());
  assert.deepEqual(seen, [["a.example"], ["a.example"], ["a.example"], "agent"]);
});

/** A server with a call that waits for a page, on both kinds of routes, until it is let go. */
async function heldCalls(t: TestContext) {
  const clock = new FakeClock();
  const page = Promise.withResolvers<void>();
  t.after(() => page.resolve());
  let waiting = Promise.withResolvers<void>();
  const wait = async () => {
    waiting.resolve();
    await page.promise;
  };
  const held: Routes = (api) => {
    api.post("/held", { config: { role: "operator", audit: "job.updated" }, schema: { hide: true } }, async () => {
      await wait();
      return { page: "the content of the page" };
    });
  };
  const served = await openTestApi(t, {
    settings: { token: TOKEN },
    clock,
    routes: [held, addFirecrawl as never],
    store: (real): Store =>
      new Proxy(real, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown;
          if (name === "runs")
            return async (...args: Parameters<Store["runs"]>) => {
              await wait();
              return target.runs(...args);
            };
          return typeof value === "function" ? (value.bind(target) as unknown) : value;
        },
      }),
  });
  /** Calls, and returns when the call waits. */
  const begin = async (method: string, path: string, key: string) => {
    waiting = Promise.withResolvers<void>();
    const body = method === "POST" ? "{}" : null;
    const headers = { ...bearer(key), ...(body === null ? {} : { "content-type": "application/json" }) };
    const answer = fetch(`${served.url}${path}`, { method, headers, body });
    await Promise.race([waiting.promise, answer.then(({ status }) => assert.fail(`it does not wait: ${status}`))]);
    return { answer };
  };
  return { served, clock, begin, letGo: () => page.resolve() };
}

for (const [how, end] of [
  ["is revoked", async (served: TestApi, id: string) => void (await revoke(served, id))],
  [
    "gets another role",
    async (served: TestApi, id: string) => void (await served.send("PATCH", `/keys/${id}`, { role: "viewer" }, admin)),
  ],
] as const)
  test(`a call that waits for a page gets 401 instead of the page if its key ${how} meanwhile`, async (t) => {
    const { served, clock, begin, letGo } = await heldCalls(t);
    const [ends, stays] = [await keyWith(served, { role: "operator" }), await keyWith(served, { role: "operator" })];
    const own = await begin("POST", "/held", ends.key);
    const theirs = await begin("GET", "/v2/crawl/active", ends.key);
    const kept = await begin("POST", "/held", stays.key);
    await clock.advance(10_000);
    await end(served, ends.id);
    await clock.advance(600);
    letGo();
    const [refused, refusedTheirs, answered] = await Promise.all([own.answer, theirs.answer, kept.answer]);
    const problem = (await refused.json()) as { code: string; detail: string };
    assert.deepEqual([refused.status, problem.code], [401, "unauthorized"]);
    assert.match(problem.detail, /revoked or changed/);
    assert.match(refused.headers.get("www-authenticate") ?? "", /^Bearer/);
    const fault = (await refusedTheirs.json()) as { success: boolean; code: string };
    assert.deepEqual([refusedTheirs.status, fault.success, fault.code], [401, false, "UNAUTHORIZED"]);
    assert.deepEqual([answered.status, await answered.json()], [200, { page: "the content of the page" }]);
    const log = (await served.get("/audit-log?action=job.updated", admin)).json<unknown[]>();
    assert.equal(log.length, 2, "what was done is recorded, also of the call that got no answer");
  });

test("a call that waits for a page gets 401 if its key expires meanwhile", async (t) => {
  const { served, clock, begin, letGo } = await heldCalls(t);
  const { key } = await keyWith(served, {
    role: "operator",
    expires_at: new Date(clock.now() + 60_000).toISOString(),
  });
  const held = await begin("POST", "/held", key);
  await clock.advance(61_000);
  letGo();
  assert.equal((await held.answer).status, 401);
});

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { madeFor } from "../../src/api/access/held-answers.ts";
import { FRESH_MS, RECHECK_MS } from "../../src/api/access/keys.ts";
import type { ApiRequest } from "../../src/api/instance.ts";
import { asProgram, currentCaller } from "../../src/domain/access/caller.ts";
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

import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import type { AuditEntry } from "../../src/store/ports/security/access-port.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { startPostgres, startRedis } from "../support/services.ts";
import { servicesGate } from "../support/services-kit.ts";
import { FULL, Orb, report, until } from "./orb.ts";
import { Served } from "./served.ts";

const CALLERS = 4;
const ROUNDS = FULL ? 30 : 4;

/** Changes keys and jobs until the server is gone. */
async function change({ api }: Served, caller: number, answered: () => void): Promise<void> {
  const call = async <T>(method: "DELETE" | "PATCH" | "POST", path: string, body?: unknown) => {
    const answer = await api.call(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    answered();
    return answer.text === "" ? (null as T) : answer.json<T>();
  };
  for (let n = 0; ; n += 1) {
    const key = await call<{ id: string }>("POST", "/keys", { name: `new ${caller} ${n}`, role: "viewer" });
    await call("PATCH", `/keys/${key.id}`, { name: `changed ${caller} ${n}` });
    const page = { name: `new ${caller} ${n}`, target_url: "https://a.example/", fields: { title: "h1" } };
    const job = await call<{ id: string }>("POST", "/jobs", page);
    await call("PATCH", `/jobs/${job.id}`, { name: `changed ${caller} ${n}` });
    if (n % 2 === 0) await call("DELETE", `/keys/${key.id}`);
    if (n % 3 === 0) await call("DELETE", `/jobs/${job.id}`);
  }
}

/** Kills the server at ever other moments, while many change things. */
async function killedWhileChanging(orb: Orb): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const served = await Served.start(orb, ["--no-worker"]);
    let answered = 0;
    const callers = Array.from({ length: CALLERS }, (_, caller) => change(served, caller, () => (answered += 1)));
    const ends = Promise.allSettled(callers);
    const target = 25 + ((round * 17) % 40);
    await until(() => answered >= target, `${target} calls are answered`);
    await served.killed();
    for (const end of await ends) {
      assert.equal(end.status, "rejected");
      assert.ok(!(end.reason instanceof assert.AssertionError), String(end.reason));
    }
  }
}

async function entriesOf(store: Store): Promise<AuditEntry[]> {
  const all: AuditEntry[] = [];
  for (;;) {
    const before = all.at(-1)?.seq;
    const part = await store.auditLog({ limit: 500, ...(before === undefined ? {} : { before }) });
    all.push(...part);
    if (part.length < 500) return all.toReversed();
  }
}

/** What the log says of an object is what the object is: nothing more, and nothing less. */
async function assertLogged(store: Store): Promise<void> {
  const entries = await entriesOf(store);
  const [keys, jobs] = [await store.keys({ limit: 10_000 }), await store.jobs({ limit: 10_000 })];
  const of = (kind: string) =>
    Map.groupBy(
      entries.filter(({ object }) => object.kind === kind),
      ({ object }) => object.id,
    );
  const nameAfter = (list: readonly AuditEntry[]) =>
    list.flatMap(({ changes }) => changes.filter(({ path }) => path === "name")).at(-1)?.after;
  const logged = { keys: of("key"), jobs: of("job") };
  assert.deepEqual([...logged.keys.keys()].toSorted(), keys.map(({ id }) => id).toSorted(), "a key has its entries");
  for (const { id, name, revokedAt } of keys) {
    const list = logged.keys.get(id) ?? [];
    const expected = ["key.created", ...(name.startsWith("changed") ? ["key.updated"] : [])];
    if (revokedAt !== null) expected.push("key.revoked");
    assert.deepEqual(
      list.map(({ action }) => action),
      expected,
      name,
    );
    assert.equal(nameAfter(list), name);
  }
  const alive = new Map(jobs.map((job) => [job.id, job]));
  for (const [id, list] of logged.jobs) {
    const actions = list.map(({ action }) => action);
    assert.equal(actions[0], "job.created");
    assert.equal(actions.includes("job.deleted"), !alive.has(id ?? ""), `${id}: ${actions.join()}`);
    const job = alive.get(id ?? "");
    if (job !== undefined) assert.equal(nameAfter(list), job.name);
  }
  for (const id of alive.keys()) assert.ok(logged.jobs.has(id), `the job ${id} has entries`);
  report("audited changes", { keys: keys.length, jobs: logged.jobs.size, entries: entries.length });
}

test("kill -9 leaves no change without its entry in the audit log, and no entry without its change", async () => {
  await using orb = new Orb();
  await killedWhileChanging(orb);
  const store = openSqliteStore({ path: orb.database, clock: systemClock });
  try {
    await assertLogged(store);
  } finally {
    await store.close();
  }
});

test("on Postgres neither", servicesGate, async () => {
  await using postgres = await startPostgres();
  await using redis = await startRedis();
  await using orb = new Orb({ APP_DATABASE_URL: postgres.url, APP_REDIS_URL: redis.url });
  await killedWhileChanging(orb);
  const store = await openPostgresStore({ url: postgres.url, clock: systemClock, log: silentLog });
  try {
    await assertLogged(store);
  } finally {
    await store.close();
  }
});

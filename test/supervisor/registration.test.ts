import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createLog } from "../../src/base/log.ts";
import type { EngineRole } from "../../src/engine/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { SettledTask } from "../../src/store/ports/port.ts";
import type { Raise } from "../../src/supervisor/alerts.ts";
import { loseWorkers } from "../../src/supervisor/duties/lose-workers.ts";
import { Registration } from "../../src/supervisor/registration.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

function openRegistration(t: TestContext) {
  const clock = new FakeClock();
  const store = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
  t.after(() => store.close());
  const log = createLog({ level: "debug", pretty: false, write: () => {} });
  const engine = {
    role: "engine" as EngineRole,
    asked: [] as string[],
    drain: () => void engine.asked.push("drain"),
    resume: () => void engine.asked.push("resume"),
  };
  const registration = new Registration({
    store,
    clock,
    log,
    self: {
      id: "w",
      machine: "spider",
      identity: { boot: "b", pid: 1, pidStart: "1" },
      version: "1.0.0",
      command: "serve",
      maxWorkers: 8,
    },
    key: null,
    engine,
    engineKind: "embedded",
    worker: { inFlight: 3, paused: null, active: () => [], rateLimitWaits: () => [] },
    memory: async () => 1234,
    problems: async () => [{ what: "browser", message: "it does not start", since: 5 }],
  });
  return { clock, store, engine, registration, read: async () => (await store.worker("w"))! };
}

const ended = (kind: string) => {
  const failure_code = kind === "failed" ? "timeout" : null;
  const attempt = kind === "handed_back" ? null : { strategy: "http", failure_code, duration_ms: 10 };
  return { verdict: { kind }, attempt } as unknown as SettledTask;
};

test("a worker says every two seconds how it is doing, and that it stops", async (t) => {
  const { clock, registration, read } = openRegistration(t);
  await registration.start();
  const begun = clock.now();
  assert.deepEqual([(await read()).state, (await read()).inFlight], ["working", 3]);
  for (const kind of ["completed", "skipped", "failed", "retry", "handed_back"]) registration.note(ended(kind));
  await clock.advance(2000);
  const record = await read();
  assert.equal(record.heartbeatAt, begun + 2000);
  assert.deepEqual([record.completed, record.failed, record.tasksPerSecond, record.memoryBytes], [2, 1, 1.5, 1234]);
  assert.deepEqual(
    record.attempts.map(({ outcome, failureCode, count, ms }) => [outcome, failureCode, count, ms]),
    [
      ["completed", null, 1, 10],
      ["skipped", null, 1, 10],
      ["failed", "timeout", 1, 10],
      ["retry", null, 1, 10],
    ],
  );
  assert.deepEqual(
    record.troubles.map(({ what }) => what),
    ["browser"],
  );
  await clock.advance(20_000);
  assert.equal((await read()).tasksPerSecond, 0);
  await registration.stop();
  assert.equal((await read()).state, "stopped");
});

test("a worker drains, goes on and answers pings when others want it to", async (t) => {
  const { clock, store, engine, registration, read } = openRegistration(t);
  await registration.start();
  await store.askDrain("w", true);
  const ping = await store.askPing("w");
  await clock.advance(500);
  assert.deepEqual(engine.asked, ["drain"]);
  assert.equal((await read()).state, "draining");
  assert.equal(await store.pingAnswered("w", ping), true);
  engine.role = "drained";
  await clock.advance(2000);
  assert.deepEqual([(await read()).state, (await read()).role], ["drained", "standby"]);
  await store.askDrain("w", false);
  await clock.advance(500);
  assert.deepEqual([engine.asked, (await read()).state], [["drain", "resume"], "working"]);
  await registration.stop();
});

test("a worker that is silent is lost, and told of once", async (t) => {
  const { clock, store, registration, read } = openRegistration(t);
  await registration.start();
  await registration.stop();
  await store.registerWorker({ ...(await read()), id: "silent" }, clock.now());
  await clock.advance(11_000);
  const raised: string[] = [];
  const raise: Raise = async (alerts) => void raised.push(...alerts.map(({ kind, subject }) => `${kind} ${subject}`));
  const duty = loseWorkers({ store, clock, raise });
  const signal = new AbortController().signal;
  await duty.run(signal);
  await duty.run(signal);
  assert.deepEqual(raised, ["worker_lost silent"]);
});

test("a worker that was forgotten while it could not speak comes back by itself", async (t) => {
  const { clock, store, registration, read } = openRegistration(t);
  await registration.start();
  await store.workerStopped("w", clock.now());
  await store.forgetWorkers(clock.now() + 1);
  await clock.advance(1000);
  assert.equal((await read()).state, "working");
  await registration.stop();
});

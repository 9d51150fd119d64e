import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { Installation } from "./installation.ts";

const QUIET = {
  inFlight: 0,
  completed: 0,
  failed: 0,
  tasksPerSecond: 0,
  memoryBytes: 0,
  paused: null,
  troubles: [],
  attempts: [],
  active: [],
};

test("the table of workers says who stands by, and names engines when one has another than whoever looks", async () => {
  await using installation = Installation.prepared();
  mkdirSync(installation.dataDir, { recursive: true });
  const store = openSqliteStore({ path: installation.database, clock: systemClock });
  const begins = async (id: string, engine: string, role: "engine" | "standby" = "engine") => {
    const about = { machine: "m", version: "1", command: "worker", maxWorkers: 1, heartbeatMs: 60_000 };
    await store.registerWorker({ id, ...about, identity: { boot: "b", pid: 1, pidStart: "1" } }, systemClock.now());
    await store.recordHeartbeat(id, "working", { ...QUIET, role, engine }, systemClock.now());
  };
  const listed = async () => {
    const { code, stdout, stderr } = await installation.run(["workers"]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  try {
    await begins("10000000-0000-7000-8000-000000000000", "embedded");
    assert.doesNotMatch(await listed(), /engine, |embedded/);
    await begins("20000000-0000-7000-8000-000000000000", "bullmq");
    const both = await listed();
    assert.match(both, /^id +state +role +command +engine /);
    assert.match(both, /^1.* embedded, sqlite /m);
    assert.match(both, /^2.* bullmq, sqlite /m);
    await begins("30000000-0000-7000-8000-000000000000", "embedded", "standby");
    const three = await listed();
    assert.match(three, /^2\S+ +working +engine /m);
    assert.match(three, /^3\S+ +stands by +standby /m);
  } finally {
    await store.close();
  }
});

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Clock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import type { DiskBudget } from "../../src/domain/run/retention.ts";
import type { NewAlert } from "../../src/store/ports/alert-port.ts";
import { watchBudget } from "../../src/supervisor/duties/watch-budget.ts";
import { newTask } from "../contract/store/kit.ts";
import { openOrchestrator } from "../orchestrator/kit.ts";

const HOUR = 3_600_000;
const MB = 1024 * 1024;
const LANE = "site:a.example";
const { signal } = new AbortController();

/** Twelve runs with a file of a megabyte each. */
async function open(t: TestContext) {
  const orchestrator = await openOrchestrator(t);
  const { store, clock } = orchestrator;
  const ids: string[] = [];
  for (let n = 0; n < 12; n += 1) {
    await clock.advance(1000);
    const run = { kind: "page" as const, maxAttempts: 1, snapshot: {} };
    ids.push((await store.startRun(run, [newTask(`p${n}`)], clock.now())).created.id);
    const hash = n.toString(16).repeat(64);
    const file = { hash, size: MB, contentType: null, url: "https://a.example/" };
    await orchestrator.work(LANE, () => ({ kind: "completed", artifacts: [file], results: [], detail: null }));
  }
  const raised: NewAlert[] = [];
  const log: string[] = [];
  const busy: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after(_ms, fn) {
      const handle = setImmediate(fn);
      return { cancel: () => clearImmediate(handle) };
    },
  };
  const look = (budget: DiskBudget) =>
    watchBudget({
      store,
      clock: busy,
      log: createLog({ level: "debug", pretty: false, write: (line) => void log.push(line) }),
      raise: async (alerts) => {
        for (const alert of alerts)
          if ((await store.raiseAlerts([alert], { deliver: false }, clock.now())).length > 0) raised.push(alert);
      },
      budget,
    }).run(signal);
  const left = async () => (await store.runs({ limit: 100 })).map(({ id }) => id).toReversed();
  return { ...orchestrator, ids, raised, log, look, left };
}

test("near its budget an installation warns once, and removes nothing unless it was told to", async (t) => {
  const harness = await open(t);
  await harness.look({ bytes: 100 * MB, action: "warn" });
  assert.equal(harness.raised.length, 0);
  assert.equal((await harness.store.diskUse())?.warnedAt, null);
  for (let n = 0; n < 50; n += 1) {
    await harness.look({ bytes: 10 * MB, action: "warn" });
    await harness.clock.advance(HOUR);
  }
  assert.equal(harness.raised.length, 1);
  assert.match(harness.raised[0]?.message ?? "", /^Disk budget: stored data takes \d+ MB, \d+ % of 10 MB/);
  assert.deepEqual(await harness.left(), harness.ids);
});

test("beyond its budget the oldest runs go, a day after the warning, and those that are kept stay", async (t) => {
  const harness = await open(t);
  const budget = { bytes: 10 * MB, action: "remove" } as const;
  const [first = "", second = ""] = harness.ids;
  await harness.store.keepRun(first, true);
  for (let hours = 0; hours < 24; hours += 1) {
    await harness.look(budget);
    assert.deepEqual(await harness.left(), harness.ids, `nothing goes ${hours} hours after the warning`);
    await harness.clock.advance(HOUR);
  }
  assert.equal(harness.raised.length, 1);
  await harness.look(budget);
  const left = await harness.left();
  assert.ok(left.includes(first) && !left.includes(second));
  assert.deepEqual(left.slice(1), harness.ids.slice(-left.length + 1), "no more than have to, the newest stay");
  assert.ok(left.length > 3, `${left.length} are left`);
  assert.ok(((await harness.store.diskUse())?.bytes ?? 0) <= 7.5 * MB);
  assert.ok(harness.log.some((line) => line.includes("the oldest runs were deleted")));
  // There is room again: the next time it is told anew.
  await harness.look(budget);
  await harness.look({ bytes: MB, action: "warn" });
  assert.equal(harness.raised.length, 2);
});

test("the newest result of a job goes only when nothing else can, and the log says so before it does", async (t) => {
  const harness = await open(t);
  const { store, clock } = harness;
  const job = await store.createJob(
    {
      name: "Rare",
      kind: "page",
      url: "https://a.example/",
      site: "a.example",
      tags: [],
      recipe: {},
      nextAt: null,
      nextOccurrenceAt: null,
    },
    clock.now(),
  );
  const ids: string[] = [];
  for (let n = 0; n < 2; n += 1) {
    const run = { kind: "page" as const, maxAttempts: 1, snapshot: {}, jobId: job.created.id };
    ids.push((await store.startRun(run, [newTask(`job${n}`)], clock.now())).created.id);
    await harness.work(LANE, () => ({ kind: "completed", artifacts: [], results: [], detail: null }));
  }
  const all = await store.countDeletable({});
  assert.equal(await store.expireOldest(100, clock.now()), all - 1);
  assert.deepEqual(await harness.left(), [ids[1]]);
  const budget = { bytes: 1, action: "remove" } as const;
  await harness.look(budget);
  assert.deepEqual(await harness.left(), [ids[1]], "nothing goes before people were warned");
  assert.equal(harness.raised.length, 1);
  await clock.advance(25 * HOUR);
  await harness.look(budget);
  assert.deepEqual(await harness.left(), []);
  assert.ok(harness.log.some((line) => line.includes("too small for the newest result of each job")));
});

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { OrbError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { CLOSED_BREAKER } from "../../src/domain/lane/circuit.ts";
import { StoreBackpressure } from "../../src/lanes/limits/store-backpressure.ts";
import { Settler } from "../../src/lanes/owner/settler.ts";
import type { Turn } from "../../src/store/ports/claim-port.ts";
import type { ClaimedTask, LaneGrant, SettleBatch, Settled, SettledTask, Store } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { candidate, DONE, newTask, TTL } from "../contract/store/kit.ts";
import { FakeClock, settled } from "../support/fake-clock.ts";
import { isDone } from "../engine/kit.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

const DISK_FULL = () => new OrbError("disk_full", "no room");

/** A store in memory with one run over some lanes, all claimed, and a settler before it. */
async function make(t: TestContext, lanes: Record<string, number>, shared = false) {
  const clock = new FakeClock();
  const store = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
  t.after(() => store.close());
  const run = await store.openRun({ kind: "queue", maxAttempts: 3, snapshot: {} }, clock.now());
  await store.takeEngine(candidate("me"), TTL);
  const held: Record<string, { grant: LaneGrant; tasks: ClaimedTask[] }> = {};
  for (const [name, count] of Object.entries(lanes)) {
    const lane = `site:${name}`;
    const tasks = Array.from({ length: count }, (_, n) => newTask(`${name}-${n}`, { lane }));
    await store.enqueue(run.id, tasks, clock.now());
    const grant = (await store.takeLane(lane, "me", TTL)) as LaneGrant;
    held[name] = { grant, tasks: (await store.claim(grant, { limit: count }, clock.now()))!.tasks };
  }
  const writes: SettleBatch[][] = [];
  const done: Settled[] = [];
  const written: string[] = [];
  /** Decides about each write: an error to throw, or undefined to let it through. */
  const control: {
    fault: (batches: readonly SettleBatch[]) => Error | undefined;
    /** The same after it was written. */
    answer: () => Error | undefined;
    probe: () => boolean;
    /** Whether others have locked the run of a task. */
    busy: (task: ClaimedTask) => boolean;
    /** Waits until they have not. */
    turn: () => Promise<void>;
  } = {
    fault: () => undefined,
    answer: () => undefined,
    probe: () => true,
    busy: () => false,
    turn: async () => {},
  };
  const watched: Store = new Proxy(store, {
    get(target, name) {
      if (name === "capabilities") return { ...target.capabilities, singleEngine: !shared };
      if (name !== "settle") return Reflect.get(target, name) as unknown;
      return async (batches: readonly SettleBatch[], now: number, turn?: Turn) => {
        const fault = control.fault(batches);
        if (fault !== undefined) throw fault;
        if (typeof turn === "object") await control.turn();
        writes.push([...batches]);
        const isFree = ({ task }: SettledTask) => turn !== "try" || !control.busy(task);
        const free = batches.map((batch) => ({ ...batch, tasks: batch.tasks.filter(isFree) }));
        const settled = await target.settle(free, now);
        const lost = control.answer();
        if (lost !== undefined) throw lost;
        const busy = batches.flatMap(({ tasks }) => tasks).filter((one) => !isFree(one));
        return busy.length === 0 ? settled : { ...settled, busy: busy.map(({ task }) => task.row) };
      };
    },
  });
  const backpressure = new StoreBackpressure({
    clock,
    log: silentLog,
    probe: async () => {
      if (!control.probe()) throw DISK_FULL();
    },
  });
  const settler = new Settler({
    store: watched,
    clock,
    log: silentLog,
    backpressure,
    onSettled: (what) => done.push(what),
    onWritten: ({ task }) => written.push(task.key),
  });

  const outcome = (task: ClaimedTask, verdict: SettledTask["verdict"] = DONE): SettledTask => ({
    task,
    verdict,
    attempt: null,
  });
  const states = async () => {
    const list = await store.tasks(run.id, { limit: 1000 });
    return Object.fromEntries(list.map((task) => [task.key, task.state]));
  };
  return { clock, store, run, held, settler, writes, done, written, control, backpressure, outcome, states };
}

const never = () => assert.fail("the lane is not lost");

const SITE_HELD = { type: "site.rate_limited", level: "warn", message: "Site held", meta: null } as const;

test("outcomes of all lanes gather for a moment and are written together", async (t) => {
  const { clock, held, settler, writes, outcome, states, done } = await make(t, { a: 3, b: 2 });
  for (const { grant, tasks } of Object.values(held))
    for (const task of tasks) settler.add(grant, { task: outcome(task) }, never);
  assert.equal(writes.length, 0);
  await clock.advance(20);
  assert.deepEqual(
    writes.map((batches) => batches.map((batch) => batch.tasks.length)),
    [[3, 2]],
  );
  assert.deepEqual(new Set(Object.values(await states())), new Set(["completed"]));
  assert.deepEqual(
    done.flatMap((what) => what.ended.map((end) => end.status)),
    ["completed"],
  );
});

test("on a database that many processes share a busy one writes less often, and a quiet one at once", async (t) => {
  const { clock, held, settler, writes, outcome } = await make(t, { a: 5 }, true);
  const { grant, tasks } = held["a"]!;
  const sizes = () => writes.map((batches) => batches.map((batch) => batch.tasks.length));
  const add = (task: ClaimedTask | undefined) => settler.add(grant, { task: outcome(task as ClaimedTask) }, never);
  add(tasks[0]);
  await clock.advance(20);
  assert.deepEqual(sizes(), [[1]]);
  add(tasks[1]);
  await clock.advance(200);
  add(tasks[2]);
  await clock.advance(199);
  assert.deepEqual(sizes(), [[1]]);
  await clock.advance(1);
  assert.deepEqual(sizes(), [[1], [2]]);
  await clock.advance(400);
  add(tasks[3]);
  await clock.advance(20);
  assert.deepEqual(sizes(), [[1], [2], [1]]);
  add(tasks[4]);
  await settler.flush(grant);
  assert.deepEqual(sizes(), [[1], [2], [1], [1]], "whoever waits for it does not wait for the time");
});

test("many outcomes are written without waiting", async (t) => {
  const { held, settler, writes, outcome } = await make(t, { a: 500 });
  for (const task of held["a"]!.tasks) settler.add(held["a"]!.grant, { task: outcome(task) }, never);
  await settled();
  assert.equal(writes.length, 1);
});

test("a flush ends when everything of the lane is on record", async (t) => {
  const { held, settler, outcome, states } = await make(t, { a: 1 });
  await settler.flush(held["a"]!.grant);
  settler.add(held["a"]!.grant, { task: outcome(held["a"]!.tasks[0]!) }, never);
  await settler.flush(held["a"]!.grant);
  assert.deepEqual(await states(), { "a-0": "completed" });
});

test("a lane that another owner took is reported as lost; the others are written", async (t) => {
  const { clock, store, held, settler, outcome, states } = await make(t, { a: 1, b: 1 });
  await store.releaseLane(held["a"]!.grant);
  await store.takeLane("site:a", "me", TTL);
  let lost = 0;
  settler.add(held["a"]!.grant, { task: outcome(held["a"]!.tasks[0]!) }, () => (lost += 1));
  settler.add(held["b"]!.grant, { task: outcome(held["b"]!.tasks[0]!) }, never);
  await clock.advance(20);
  assert.equal(lost, 1);
  assert.deepEqual(await states(), { "a-0": "queued", "b-0": "completed" });
});

test("while the disk is full outcomes are kept, and written when there is room", async (t) => {
  const { clock, held, settler, control, backpressure, outcome, states } = await make(t, { a: 4 });
  const { grant, tasks } = held["a"]!;
  let full = true;
  control.fault = () => (full ? DISK_FULL() : undefined);
  control.probe = () => !full;
  settler.add(grant, { task: outcome(tasks[0]!) }, never);
  await clock.advance(5000);
  assert.match(backpressure.reason ?? "", /no room/);
  settler.add(grant, { task: outcome(tasks[1]!) }, never);
  await clock.advance(5000);
  const flushed = settler.flush(grant);
  assert.equal(await isDone(flushed), false);
  full = false;
  await clock.advance(1000);
  await flushed;
  assert.equal(backpressure.reason, null);
  assert.deepEqual(Object.values(await states()), ["completed", "completed", "running", "running"]);
});

test("what came in while the disk was full is written soon after, also when nobody flushes", async (t) => {
  const { clock, held, settler, control, outcome, states } = await make(t, { a: 3 });
  const { grant, tasks } = held["a"]!;
  let full = true;
  control.fault = () => (full ? DISK_FULL() : undefined);
  control.probe = () => !full;
  settler.add(grant, { task: outcome(tasks[0]!) }, never);
  await clock.advance(100);
  settler.add(grant, { task: outcome(tasks[1]!) }, never);
  await clock.advance(100);
  full = false;
  await clock.advance(2000);
  settler.add(grant, { task: outcome(tasks[2]!) }, never);
  await clock.advance(2000);
  assert.deepEqual(Object.values(await states()), ["completed", "completed", "completed"]);
});

test("what was written although its answer was lost is not told to the runs again", async (t) => {
  const { clock, held, settler, control, outcome, store, run } = await make(t, { a: 2 });
  const { grant, tasks } = held["a"]!;
  let answers = 0;
  control.answer = () => ((answers += 1) === 1 ? new OrbError("database_unavailable", "the line was cut") : undefined);
  settler.add(grant, { task: { ...outcome(tasks[0]!), laneEvents: [SITE_HELD] } }, never);
  const flushed = settler.flush(grant);
  await clock.advance(2000);
  await flushed;
  assert.equal(answers, 2, "it was handed in again");
  const events = await store.events(run.id, { limit: 100 });
  assert.equal(events.filter(({ message }) => message === SITE_HELD.message).length, 1);
});

test("one outcome that cannot be written fails its task, and keeps no other from being written", async (t) => {
  const { clock, held, settler, control, outcome, states, store, run } = await make(t, { a: 3, b: 2 });
  const bad = held["a"]!.tasks[1]!;
  control.fault = (batches) =>
    batches.some((batch) => batch.tasks.some(({ task, verdict }) => task.row === bad.row && verdict.kind !== "failed"))
      ? new Error("a value that cannot be stored")
      : undefined;
  for (const { grant, tasks } of Object.values(held))
    for (const task of tasks) settler.add(grant, { task: outcome(task) }, never);
  await clock.advance(20);
  assert.deepEqual(await states(), {
    "a-0": "completed",
    "a-1": "failed",
    "a-2": "completed",
    "b-0": "completed",
    "b-1": "completed",
  });
  const failed = await store.taskByKey(run.id, "a-1");
  assert.equal(failed?.failure?.reason, "internal");
  assert.match(failed?.failure?.message ?? "", /cannot be stored/);
});

test("what the site asked for is kept although an outcome cannot be written", async (t) => {
  const { clock, held, settler, control, outcome, store, run } = await make(t, { a: 2 });
  const { grant, tasks } = held["a"]!;
  control.fault = (batches) =>
    batches.some((batch) => batch.tasks.some(({ task, verdict }) => task === tasks[0] && verdict.kind !== "failed"))
      ? new Error("a value that cannot be stored")
      : undefined;
  const politeness = { holdUntil: clock.now() + 60_000, holdStep: 2, breaker: CLOSED_BREAKER };
  settler.add(grant, { task: { ...outcome(tasks[0]!), laneEvents: [SITE_HELD] }, site: "a", politeness }, never);
  settler.add(grant, { task: outcome(tasks[1]!) }, never);
  await clock.advance(20);
  assert.equal((await store.site("a"))?.holdStep, 2);
  const events = await store.events(run.id, { limit: 100 });
  assert.ok(events.some((event) => event.message === "Site held"));
});

test("a lane whose failures cannot be written either is let go", async (t) => {
  const { clock, held, settler, control, outcome, states } = await make(t, { a: 1, b: 1 });
  control.fault = (batches) =>
    batches.some((batch) => batch.hold.laneId === held["a"]!.grant.laneId && batch.tasks.length > 0)
      ? new Error("broken row")
      : undefined;
  let lost = 0;
  settler.add(held["a"]!.grant, { task: outcome(held["a"]!.tasks[0]!) }, () => (lost += 1));
  settler.add(held["b"]!.grant, { task: outcome(held["b"]!.tasks[0]!) }, never);
  await clock.advance(20);
  assert.equal(lost, 1);
  assert.equal((await states())["b-0"], "completed");
});

test("only what is in the store is told to be: not what was lost, dropped, or could not be written", async (t) => {
  const { clock, store, run, held, settler, written, control, outcome } = await make(t, { a: 3, b: 1 });
  const { a, b } = held as {
    a: { grant: LaneGrant; tasks: ClaimedTask[] };
    b: { grant: LaneGrant; tasks: ClaimedTask[] };
  };
  const [first, second, third] = a.tasks as [ClaimedTask, ClaimedTask, ClaimedTask];
  // One outcome that the store does not take is written as a failure instead.
  control.fault = (batches) =>
    batches.some(({ tasks }) => tasks.some(({ task, verdict }) => task === second && verdict.kind === "completed"))
      ? new Error("cannot be written")
      : undefined;
  settler.add(a.grant, { task: outcome(first) }, never);
  settler.add(a.grant, { task: outcome(second) }, never);
  await settler.flush(a.grant);
  assert.deepEqual(written, [first.key]);
  // Another owner has the lane.
  await store.releaseLane(b.grant);
  settler.add(b.grant, { task: outcome(b.tasks[0]!) }, () => {});
  await settler.flush(b.grant);
  await store.changeRun(run.id, "cancelled", "Run cancelled", clock.now());
  settler.add(a.grant, { task: outcome(third) }, never);
  await settler.flush(a.grant);
  assert.deepEqual(written, [first.key]);
});

test("outcomes of a run that others have locked wait on their own, and hold up no others", async (t) => {
  const { clock, held, settler, writes, control, outcome, states, written } = await make(t, { a: 3, b: 2 }, true);
  const { a, b } = held as Record<"a" | "b", { grant: LaneGrant; tasks: ClaimedTask[] }>;
  const turn = Promise.withResolvers<void>();
  let isLocked = true;
  control.busy = (task) => isLocked && task.key.startsWith("a");
  control.turn = () => turn.promise;
  settler.add(a.grant, { task: outcome(a.tasks[0]!) }, never);
  settler.add(b.grant, { task: outcome(b.tasks[0]!) }, never);
  const flushed = { a: settler.flush(a.grant), b: settler.flush(b.grant) };
  await flushed.b;
  assert.equal(await isDone(flushed.a), false);
  assert.equal(settler.isWriting(a.grant), true);
  assert.equal(settler.isWriting(b.grant), false);
  // Others are written while it waits, and no outcome twice.
  settler.add(a.grant, { task: outcome(a.tasks[1]!) }, never);
  settler.add(b.grant, { task: outcome(b.tasks[1]!) }, never);
  await settler.flush(b.grant);
  assert.deepEqual(written, ["b-0", "b-1"]);
  const tries = writes.length;
  await clock.advance(100);
  assert.ok(writes.length <= tries + 2, "what others have locked is not tried again and again");
  isLocked = false;
  turn.resolve();
  await flushed.a;
  await clock.advance(2000);
  assert.deepEqual(written.toSorted(), ["a-0", "a-1", "b-0", "b-1"]);
  assert.equal((await states())["a-1"], "completed");
});

test("a run that others keep locked does not pause the worker", async (t) => {
  const { clock, held, settler, control, outcome, states, backpressure } = await make(t, { a: 1 }, true);
  const { grant, tasks } = held["a"]!;
  let isLocked = true;
  let waits = 0;
  control.busy = () => isLocked;
  control.turn = async () => {
    waits += 1;
    await new Promise<void>((resolve) => void clock.after(1000, resolve));
    if (isLocked) throw new OrbError("database_busy", "locked for too long");
  };
  settler.add(grant, { task: outcome(tasks[0]!) }, never);
  const flushed = settler.flush(grant);
  await clock.advance(20_000);
  assert.ok(waits > 5, `it waited ${waits} times`);
  assert.equal(backpressure.reason, null);
  isLocked = false;
  await clock.advance(2000);
  await flushed;
  assert.deepEqual(await states(), { "a-0": "completed" });
});

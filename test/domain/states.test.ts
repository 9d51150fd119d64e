import assert from "node:assert/strict";
import { test } from "node:test";
import {
  canRunMove,
  canTaskMove,
  OPEN_TASK_STATES,
  QUEUE_STATES,
  queueStateOf,
  RUN_STATES,
  RUN_TRANSITIONS,
  TASK_STATES,
  TASK_TRANSITIONS,
  taskStatesOf,
  TERMINAL_RUN_STATES,
} from "../../src/domain/run/states.ts";

/** Written out once more, so that a change of the tables is a decision and not a slip. */
const TASK_MOVES = [
  "pending→queued pending→skipped pending→cancelled",
  "queued→running queued→skipped queued→cancelled",
  "running→completed running→failed running→skipped running→cancelled running→retrying running→queued",
  "retrying→queued retrying→skipped retrying→cancelled",
  "failed→queued cancelled→queued",
  "completed→pending failed→pending skipped→pending cancelled→pending",
].flatMap((line) => line.split(" "));

const RUN_MOVES = [
  "queued→running queued→paused queued→cancelled queued→failed",
  "running→completed running→partial running→failed running→cancelled running→paused running→waiting_for_human",
  "paused→running paused→queued paused→cancelled paused→failed",
  "waiting_for_human→running waiting_for_human→cancelled waiting_for_human→failed",
  "failed→recovering recovering→running recovering→cancelled",
  "completed→running partial→running failed→running",
  "completed→queued partial→queued failed→queued",
].flatMap((line) => line.split(" "));

test("a task moves exactly as the contract says", () => {
  const moves = TASK_STATES.flatMap((from) =>
    TASK_STATES.filter((to) => canTaskMove(from, to)).map((to) => `${from}→${to}`),
  );
  assert.deepEqual(moves.sort(), TASK_MOVES.sort());
});

test("a run moves exactly as the contract says", () => {
  const moves = RUN_STATES.flatMap((from) =>
    RUN_STATES.filter((to) => canRunMove(from, to)).map((to) => `${from}→${to}`),
  );
  assert.deepEqual(moves.sort(), RUN_MOVES.sort());
});

test("the tables know every state, and no state follows itself", () => {
  assert.deepEqual(Object.keys(TASK_TRANSITIONS).sort(), [...TASK_STATES].sort());
  assert.deepEqual(Object.keys(RUN_TRANSITIONS).sort(), [...RUN_STATES].sort());
  for (const state of TASK_STATES) assert.ok(!canTaskMove(state, state), state);
  for (const state of RUN_STATES) assert.ok(!canRunMove(state, state), state);
});

test("from every open state an end can be reached: nothing hangs for ever by rule", () => {
  const reach = <S extends string>(from: S, table: Readonly<Record<S, readonly S[]>>): Set<S> => {
    const seen = new Set<S>([from]);
    for (const state of seen) for (const next of table[state]) seen.add(next);
    return seen;
  };
  for (const state of OPEN_TASK_STATES) assert.ok(reach(state, TASK_TRANSITIONS).has("completed"), state);
  for (const state of RUN_STATES.filter((name) => !TERMINAL_RUN_STATES.includes(name))) {
    assert.ok(reach(state, RUN_TRANSITIONS).has("completed"), state);
    assert.ok(reach(state, RUN_TRANSITIONS).has("cancelled"), state);
  }
});

test("the numbers by which databases know task states never change", () => {
  assert.deepEqual(
    [...TASK_STATES],
    ["pending", "queued", "running", "retrying", "completed", "failed", "skipped", "cancelled"],
  );
});

test("every task state has one name in the queue, and every name has task states", () => {
  for (const state of TASK_STATES) assert.ok(taskStatesOf(queueStateOf(state)).includes(state), state);
  for (const name of QUEUE_STATES) assert.ok(taskStatesOf(name).length > 0, name);
  assert.equal(QUEUE_STATES.flatMap(taskStatesOf).length, TASK_STATES.length);
});

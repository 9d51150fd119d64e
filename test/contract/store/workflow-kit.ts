import assert from "node:assert/strict";
import { laneOfStep } from "../../../src/domain/workflow/definition.ts";
import type { TaskState } from "../../../src/domain/run/states.ts";
import type { ClaimedTask, LaneGrant, NewRun, RunRecord, Settled } from "../../../src/store/ports/port.ts";
import type { NewWorkflow } from "../../../src/store/records/workflow-records.ts";
import { attempt, type Kit, type Verdict } from "./kit.ts";

/** Names of steps, and whom each waits for. */
export type StepSketch = Readonly<Record<string, readonly string[]>>;

export function sketchWorkflow(sketch: StepSketch, more: Partial<NewWorkflow> = {}): NewWorkflow {
  const names = Object.keys(sketch);
  return {
    steps: names.map((name) => ({
      name,
      kind: "wait",
      dependencies: (sketch[name] ?? []).map((other) => names.indexOf(other)),
      maxRetries: 3,
      estimatedMs: null,
    })),
    start: true,
    metadata: {},
    maxRecoveryAttempts: 3,
    template: null,
    rerunOf: null,
    similarityKey: "alike",
    ...more,
  };
}

export async function newWorkflow(
  kit: Kit,
  sketch: StepSketch,
  more: Partial<NewWorkflow> = {},
  run: Partial<NewRun> = {},
): Promise<RunRecord> {
  const { created } = await kit.store.startRun(
    {
      kind: "workflow",
      name: "w",
      maxAttempts: null,
      snapshot: null,
      ...run,
      workflow: sketchWorkflow(sketch, more),
    },
    [],
    kit.now,
  );
  return created;
}

export async function stateOfSteps(kit: Kit, run: RunRecord): Promise<Record<string, TaskState>> {
  const steps = await kit.store.steps(run.id);
  return Object.fromEntries(steps.map(({ name, task }) => [name, task.state]));
}

/** A step that is ready, in somebody's hands. */
export async function takeStep(
  kit: Kit,
  run: RunRecord,
  step: string | number,
  slot?: number,
  owner = "A",
): Promise<{ hold: LaneGrant; task: ClaimedTask }> {
  const index = typeof step === "number" ? step : await indexOf(kit, run, step);
  const lane = laneOfStep(run.id, index, slot);
  const holder = await kit.store.engineHolder();
  if (holder?.id !== owner) await kit.enter(owner);
  const hold = await kit.store.takeLane(lane, owner, 60_000);
  assert.ok(hold !== null, `the lane ${lane} should be free`);
  const { tasks } = await kit.claim(hold);
  assert.equal(tasks.length, 1, `one task should be ready in ${lane}`);
  return { hold, task: tasks[0] as ClaimedTask };
}

async function indexOf(kit: Kit, run: RunRecord, name: string): Promise<number> {
  const index = (await kit.store.steps(run.id)).findIndex((step) => step.name === name);
  assert.ok(index >= 0, `there should be a step ${name}`);
  return index;
}

/** Settles it as its handler would, and lets go of its lane. */
export async function settleStep(
  kit: Kit,
  { hold, task }: { hold: LaneGrant; task: ClaimedTask },
  verdict: Verdict,
): Promise<Settled> {
  const tried = verdict.kind === "wait" || verdict.kind === "handed_back" ? null : attempt(task.tries + 1);
  const settled = await kit.store.settle([{ hold, tasks: [{ task, verdict, attempt: tried }] }], kit.now);
  await kit.store.releaseLane(hold);
  return settled;
}

/** Takes a step that is ready, and settles it. */
export async function workOn(
  kit: Kit,
  run: RunRecord,
  step: string | number,
  verdict: Verdict,
  slot?: number,
): Promise<Settled> {
  return settleStep(kit, await takeStep(kit, run, step, slot), verdict);
}

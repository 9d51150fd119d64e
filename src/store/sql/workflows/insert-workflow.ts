/** Creates and starts workflows. */
import { OrbError } from "../../../base/errors.ts";
import { keyOfStep, laneOfStep, STEP_HANDLER } from "../../../domain/workflow/definition.ts";
import { weightsOf } from "../../../domain/workflow/graph.ts";
import type { RunRecord } from "../../ports/port.ts";
import type { NewStep, NewWorkflow } from "../../records/workflow-records.ts";
import { bumpControl, type Context, keyHash, STATE } from "../kernel/context.ts";
import { changeAllCounters } from "../kernel/counters.ts";
import { logChange } from "../kernel/audit-entry.ts";
import { endRunIfDone } from "../runs/end-run.ts";
import { assignLanes, streamsOf } from "../lanes/lane-assignments.ts";
import { moveRun } from "../runs/move-run.ts";
import { openReadySteps } from "./open-steps.ts";
import { readRun, requireRun } from "../runs/runs.ts";

/** Inserts the steps of a new run, each as a pending task. Within the caller's transaction. */
export function insertWorkflow(
  context: Context,
  created: RunRecord,
  workflow: NewWorkflow,
  snapshot: unknown,
  now: number,
): { created: RunRecord; lanes: string[] } {
  const run = { n: requireRun(context, created.id).n, id: created.id };
  const { steps } = workflow;
  const tasks = insertSteps(context, run, workflow, { from: 0, to: steps.length }, now);
  insertEdges(context, run.n, tasks, dependentsOf(steps, tasks), { from: 0, to: steps.length });
  return completeWorkflow(context, { run, name: created.name, workflow, snapshot, tasks }, now);
}

interface WrittenSteps {
  run: RunOfSteps;
  name: string | null;
  workflow: NewWorkflow;
  snapshot: unknown;
  tasks: readonly number[];
}

/** All steps are inserted: writes the workflow row, and starts it if requested. Within the caller's transaction. */
export function completeWorkflow(
  context: Context,
  { run, name, workflow, snapshot, tasks }: WrittenSteps,
  now: number,
): { created: RunRecord; lanes: string[] } {
  const { connection } = context;
  const weights = weightsOf(workflow.steps.map(({ estimatedMs }) => estimatedMs));
  connection
    .sql(
      `INSERT INTO workflows (run, name, total_steps, metadata, max_recovery_attempts, template, template_version, rerun_of, similarity_key, weight, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      run.n,
      name ?? "",
      workflow.steps.length,
      JSON.stringify(workflow.metadata),
      workflow.maxRecoveryAttempts,
      workflow.template?.name ?? null,
      workflow.template?.version ?? null,
      workflow.rerunOf,
      workflow.similarityKey,
      weights.reduce((sum, weight) => sum + weight, 0),
      now,
    );
  connection
    .sql("INSERT INTO workflow_snapshots (run, snapshot) VALUES (?, ?)")
    .run(run.n, JSON.stringify(snapshot ?? null));
  connection
    .sql("UPDATE runs SET first_task = ?, last_task = ?, pages_known = ? WHERE n = ?")
    .run(tasks[0] ?? null, tasks.at(-1) ?? null, tasks.length, run.n);
  const lanes = workflow.start ? start(context, run.n, now) : [];
  return { created: { ...(readRun(context, run.id) as RunRecord), snapshot }, lanes };
}

interface RunOfSteps {
  n: number;
  id: string;
}

interface StepRange {
  from: number;
  to: number;
}

/** Inserts a range of steps, in order; returns their task numbers. */
export function insertSteps(
  context: Context,
  run: RunOfSteps,
  { steps }: NewWorkflow,
  { from, to }: StepRange,
  now: number,
): number[] {
  const weights = weightsOf(steps.map(({ estimatedMs }) => estimatedMs));
  const rangeSteps = steps.slice(from, to);
  const wanted = rangeSteps.map((_, index) => ({ lane: laneOfStep(run.id, from + index), site: null }));
  const assignments = assignLanes(context, wanted, now).map((assignment) => ({ ...assignment, resolver: null }));
  const streams = streamsOf(context, run.n, assignments);
  const tasks = rangeSteps.map((step, index) =>
    insertStep(context, run, streams[index] as number, from + index, step, weights[from + index] ?? 1, now),
  );
  changeAllCounters(
    context,
    streams.map((stream) => [stream, { pending: 1 }]),
  );
  return tasks;
}

/** By step index: the tasks of the steps that depend on it. */
export function dependentsOf(steps: readonly NewStep[], tasks: readonly number[]): number[][] {
  const dependents = steps.map((): number[] => []);
  for (const [index, { dependencies }] of steps.entries())
    for (const dependency of new Set(dependencies)) dependents[dependency]?.push(tasks[index] as number);
  return dependents;
}

/** There may be tens of thousands of edges; in index order, one statement per step: row by row takes twice as long. */
export function insertEdges(
  { connection }: Context,
  run: number,
  tasks: readonly number[],
  dependents: readonly (readonly number[])[],
  { from, to }: StepRange,
): void {
  const insert = connection.sql(
    "INSERT INTO step_edges (run, step, dependent) SELECT ?, ?, CAST(value AS BIGINT) FROM json_each(?)",
  );
  for (let index = from; index < to; index += 1) {
    const list = dependents[index] ?? [];
    if (list.length > 0) insert.run(run, tasks[index] as number, JSON.stringify(list));
  }
}

function insertStep(
  { connection }: Context,
  run: { n: number; id: string },
  stream: number,
  index: number,
  step: NewStep,
  weight: number,
  now: number,
): number {
  const key = keyOfStep(step.name);
  const { id } = connection
    .sql(
      `INSERT INTO tasks (stream, state, created_at, key_hash, key, handler, payload)
       VALUES (?, ${STATE.pending}, ?, ?, ?, ?, ?) RETURNING id`,
    )
    .get(stream, now, keyHash(run.id, key), key, STEP_HANDLER, JSON.stringify({ step: index })) as { id: number };
  connection
    .sql(
      `INSERT INTO steps (task, run, idx, name, kind, dependencies, open_deps, max_retries, estimated_ms, weight, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      id,
      run.n,
      index,
      step.name,
      step.kind,
      JSON.stringify(step.dependencies),
      new Set(step.dependencies).size,
      step.maxRetries,
      step.estimatedMs,
      weight,
      now,
    );
  return id;
}

export function startWorkflow(context: Context, id: string, now: number): { run: RunRecord; lanes: string[] } {
  return context.connection.write(
    () => {
      const run = requireRun(context, id);
      if (run.kind !== "workflow")
        throw new OrbError(
          "illegal_transition",
          `run ${id} is not a workflow and cannot be started manually: it starts automatically`,
        );
      const lanes = run.status === "queued" ? start(context, run.n, now) : [];
      if (lanes.length > 0) bumpControl(context);
      if (run.status === "queued")
        logChange(
          context,
          "run.started",
          { kind: "run", id },
          { before: { status: "queued" }, after: { status: "running" } },
        );
      return { run: readRun(context, id) as RunRecord, lanes };
    },
    { durable: true },
  );
}

function start(context: Context, run: number, now: number): string[] {
  moveRun(context, run, "running", { type: "run.started", message: "Run started" }, now);
  const lanes = openReadySteps(context, run);
  // A workflow without steps ends with its start.
  if (lanes.length === 0) endRunIfDone(context, run, now);
  return lanes;
}

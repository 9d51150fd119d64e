/** How workflows come into being, and begin. */
import { OrbError } from "../../base/errors.ts";
import { keyOfStep, laneOfStep, STEP_HANDLER } from "../../domain/workflow/definition.ts";
import { weightsOf } from "../../domain/workflow/graph.ts";
import type { RunRecord } from "../port.ts";
import type { NewStep, NewWorkflow } from "../workflow-records.ts";
import { bumpControl, type Context, keyHash, STATE } from "./context.ts";
import { changeAllCounters } from "./counters.ts";
import { endRunIfDone } from "./end-run.ts";
import { placesOf, streamsOf } from "./places.ts";
import { moveRun } from "./move-run.ts";
import { openReadySteps } from "./open-steps.ts";
import { readRun, requireRun } from "./runs.ts";

/** The steps of a run that was just made, each a task that is pending. Within a transaction of the caller's. */
export function insertWorkflow(
  context: Context,
  made: RunRecord,
  workflow: NewWorkflow,
  snapshot: unknown,
  now: number,
): { made: RunRecord; lanes: string[] } {
  const { connection } = context;
  const { n } = requireRun(context, made.id);
  const weights = weightsOf(workflow.steps.map(({ estimatedMs }) => estimatedMs));
  connection
    .sql(
      `INSERT INTO workflows (run, name, total_steps, metadata, max_recovery_attempts, template, template_version, rerun_of, likeness, weight, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      n,
      made.name ?? "",
      workflow.steps.length,
      JSON.stringify(workflow.metadata),
      workflow.maxRecoveryAttempts,
      workflow.template?.name ?? null,
      workflow.template?.version ?? null,
      workflow.rerunOf,
      workflow.likeness,
      weights.reduce((sum, weight) => sum + weight, 0),
      now,
    );
  connection
    .sql("INSERT INTO workflow_snapshots (run, snapshot) VALUES (?, ?)")
    .run(n, JSON.stringify(snapshot ?? null));
  const tasks: number[] = [];
  const wanted = workflow.steps.map((_, index) => ({ lane: laneOfStep(made.id, index), site: null }));
  const places = placesOf(context, wanted, now).map((place) => ({ ...place, resolver: null }));
  const streams = streamsOf(context, n, places);
  for (const [index, step] of workflow.steps.entries()) {
    const stream = streams[index] as number;
    tasks.push(insertStep(context, { n, id: made.id }, stream, index, step, weights[index] ?? 1, now));
    for (const dependency of new Set(step.dependencies))
      connection
        .sql("INSERT INTO step_edges (run, step, follower) VALUES (?, ?, ?)")
        .run(n, tasks[dependency] as number, tasks[index] as number);
  }
  connection
    .sql("UPDATE runs SET first_task = ?, last_task = ?, pages_known = ? WHERE n = ?")
    .run(tasks[0] ?? null, tasks.at(-1) ?? null, tasks.length, n);
  changeAllCounters(
    context,
    streams.map((stream) => [stream, { pending: 1 }]),
  );
  const lanes = workflow.start ? begin(context, n, now) : [];
  return { made: { ...(readRun(context, made.id) as RunRecord), snapshot }, lanes };
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
        throw new OrbError("illegal_transition", `the run ${id} is no workflow: it starts by itself`);
      const lanes = run.status === "queued" ? begin(context, run.n, now) : [];
      if (lanes.length > 0) bumpControl(context);
      return { run: readRun(context, id) as RunRecord, lanes };
    },
    { durable: true },
  );
}

function begin(context: Context, run: number, now: number): string[] {
  moveRun(context, run, "running", "Run started", now);
  const lanes = openReadySteps(context, run);
  // One without steps is done with its start.
  if (lanes.length === 0) endRunIfDone(context, run, now);
  return lanes;
}

/** Effects of a step's end, in the same transaction: dependents start, or are skipped. */
import type { Failure } from "../../../domain/run/failure.ts";
import { encodeId } from "../../../domain/run/ids.ts";
import type { RunEvent } from "../../../domain/run/outcome.ts";
import { stepNameOf } from "../../../domain/workflow/definition.ts";
import type { ClaimedTask } from "../../ports/port.ts";
import { appendEvent, type Context, rows, STATE } from "../kernel/context.ts";
import { closeItems, itemEnded, type StepItems } from "./workflow-items.ts";
import { openSteps } from "./open-steps.ts";
import type { CounterDeltas } from "../tasks/counter-deltas.ts";

type End =
  | { kind: "completed"; detail: unknown }
  | { kind: "skipped"; why: string }
  | { kind: "failed"; failure: Failure };

interface StepRow extends StepItems {
  weight: number;
  progress: number;
}

/** Steps that end in one transaction; the sums of their workflows are written once. */
export class Advance {
  readonly #context: Context;
  readonly #deltas: CounterDeltas;
  readonly #opened: Set<string>;
  readonly #now: number;
  readonly #totals = new Map<number, { done: number; error: string | null }>();

  constructor(context: Context, deltas: CounterDeltas, opened: Set<string>, now: number) {
    this.#context = context;
    this.#deltas = deltas;
    this.#opened = opened;
    this.#now = now;
  }

  ended(task: ClaimedTask, end: End): void {
    if (task.runKind !== "workflow") return;
    if (task.auxiliary) return this.#itemEnded(task, end);
    const step = this.#step(task);
    const name = stepNameOf(task.key);
    closeItems(this.#context, step, this.#deltas, "the step has ended", this.#now);
    // A failed step keeps its last reported progress.
    this.#progressed(step, end.kind === "failed" ? step.progress : 1);
    const meta = { step: name, task_id: task.id };
    if (end.kind === "failed") {
      const { code, reason, message } = end.failure;
      const why = `step ${name} failed`;
      this.#totalOf(step.run).error ??= `${why}: ${message}`;
      const failed = { failure_code: code, failure_reason: reason, attempt: task.tries + 1 };
      this.#log(step.run, {
        type: "workflow.step_failed",
        level: "error",
        message: `Step ${name} failed: ${message}`,
        meta: { ...meta, ...failed },
      });
      this.#skipDependents(step, why);
      return;
    }
    const ended =
      end.kind === "completed"
        ? ({ type: "workflow.step_completed", message: `Step ${name} completed` } as const)
        : ({ type: "workflow.step_skipped", message: `Step ${name} skipped: ${end.why}` } as const);
    this.#log(step.run, { ...ended, level: "info", meta });
    this.#openDependents(step);
  }

  /** A step waits for its retry. */
  retries(task: ClaimedTask, { failure, readyAt }: { failure: Failure; readyAt: number }): void {
    if (task.runKind !== "workflow" || task.auxiliary) return;
    const step = this.#step(task);
    closeItems(this.#context, step, this.#deltas, "the step starts again", this.#now);
    this.#progressed(step, 0);
    const name = stepNameOf(task.key);
    const seconds = Math.max(0, Math.round((readyAt - this.#now) / 100) / 10);
    const limit = task.maxAttempts === null ? "" : ` of ${task.maxAttempts}`;
    this.#log(step.run, {
      type: "task.retry_scheduled",
      level: "warn",
      message: `Retry scheduled: step ${name}, attempt ${task.tries + 2}${limit} in ${seconds} s, because ${failure.message}`,
      meta: {
        step: name,
        task_id: task.id,
        failure_code: failure.code,
        failure_reason: failure.reason,
        attempt: task.tries + 2,
        max_attempts: task.maxAttempts,
        http_status: failure.httpStatus ?? null,
        ready_at: new Date(readyAt).toISOString(),
      },
    });
  }

  /** Records a checkpoint: a restart resumes from it. */
  touched(task: ClaimedTask): void {
    this.#totalOf(this.#runOf(task));
  }

  /** Writes the sums of the workflows. */
  write(): void {
    const { connection } = this.#context;
    for (const [run, { done, error }] of this.#totals) {
      const sums = connection
        .sql(
          `UPDATE workflows SET weight_done = weight_done + ?1, error_message = coalesce(error_message, ?2),
             last_checkpoint = ?3, updated_at = ?3 WHERE run = ?4 RETURNING weight, weight_done`,
        )
        .get(done, error, this.#now, run) as { weight: number; weight_done: number };
      if (done !== 0) showProgress(this.#context, run, sums);
    }
  }

  #totalOf(run: number): { done: number; error: string | null } {
    let sum = this.#totals.get(run);
    if (sum === undefined) this.#totals.set(run, (sum = { done: 0, error: null }));
    return sum;
  }

  #runOf({ streamId }: ClaimedTask): number {
    return (this.#context.connection.sql("SELECT run FROM streams WHERE id = ?").get(streamId) as { run: number }).run;
  }

  #step(task: ClaimedTask): StepRow {
    return this.#context.connection.sql("SELECT * FROM steps WHERE task = ?").get(task.row) as unknown as StepRow;
  }

  #log(run: number, event: RunEvent): void {
    appendEvent(this.#context, run, event, this.#now);
  }

  #progressed(step: StepRow, progress: number): void {
    this.#context.connection
      .sql("UPDATE steps SET progress = ?, updated_at = ? WHERE task = ?")
      .run(progress, this.#now, step.task);
    this.#totalOf(step.run).done += (progress - step.progress) * step.weight;
  }

  #openDependents({ run, task }: StepRow): void {
    const dependents = rows<{ task: number; open_deps: number }>(
      this.#context.connection
        .sql(
          `UPDATE steps SET open_deps = open_deps - 1 WHERE task IN
           (SELECT dependent FROM step_edges WHERE run = ? AND step = ?) RETURNING task, open_deps`,
        )
        .all(run, task),
    );
    const ready = dependents.filter(({ open_deps: open }) => open === 0).map(({ task: id }) => id);
    openSteps(this.#context, ready, this.#deltas, this.#opened);
  }

  /** Skips all direct and indirect dependents of the step. */
  #skipDependents(step: StepRow, why: string): void {
    for (const { task, name } of skipDependents(this.#context, step.run, [step.task], why, this.#deltas, this.#now))
      this.#log(step.run, {
        type: "workflow.step_skipped",
        level: "warn",
        message: `Step ${name} skipped: ${why}`,
        meta: { step: name, task_id: encodeId(this.#context.instance, "task", task) },
      });
  }

  #itemEnded(task: ClaimedTask, { kind }: End): void {
    const step = itemEnded(this.#context, task, kind, this.#deltas, this.#opened, this.#now);
    if (step === null) return;
    const ended = step.items_completed + step.items_failed + step.items_skipped;
    this.#progressed(step as StepRow, ended / Math.max(1, step.items_total ?? 1));
  }
}

/** Marks all pending direct and indirect dependents as skipped; returns them. */
export function skipDependents(
  { connection }: Context,
  run: number,
  from: readonly number[],
  why: string,
  deltas: CounterDeltas,
  now: number,
): { task: number; name: string }[] {
  const skipped = rows<{ task: number; name: string; stream: number }>(
    connection
      .sql(
        `WITH RECURSIVE behind (task) AS (
           SELECT dependent FROM step_edges WHERE run = ?1 AND step IN (SELECT CAST(value AS BIGINT) FROM json_each(?2))
           UNION SELECT e.dependent FROM behind b CROSS JOIN step_edges e ON e.run = ?1 AND e.step = b.task
         ) SELECT p.task, p.name, t.stream FROM behind b CROSS JOIN steps p ON p.task = b.task
           CROSS JOIN tasks t ON t.id = b.task
         WHERE t.state = ${STATE.pending} ORDER BY p.idx`,
      )
      .all(run, JSON.stringify(from)),
  );
  for (const { task, stream } of skipped) {
    connection
      .sql(`UPDATE tasks SET state = ${STATE.skipped}, ended_at = ?, outcome = ? WHERE id = ?`)
      .run(now, JSON.stringify({ why }), task);
    connection.sql("UPDATE steps SET updated_at = ? WHERE task = ?").run(now, task);
    deltas.shift(stream, "pending", stream, "skipped");
  }
  return skipped;
}

/** In percent; 100 only after success, and never decreasing within a generation. */
export function showProgress(
  { connection }: Context,
  run: number,
  sums: { weight: number; weight_done: number },
): void {
  const percent = percentOf(sums);
  connection.sql("UPDATE runs SET progress = ?1 WHERE n = ?2 AND progress < ?1").run(percent, run);
}

export function percentOf({ weight, weight_done: done }: { weight: number; weight_done: number }): number {
  return Math.max(0, Math.min(99, Math.floor((100 * done) / Math.max(weight, Number.MIN_VALUE))));
}

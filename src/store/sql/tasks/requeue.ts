/** Requeues ended tasks in batches: failed ones, and those cut off by a time limit. */
import { OrbError } from "../../../base/errors.ts";
import { NEVER_FETCHED } from "../../../domain/crawl/crawl-end.ts";
import type { FailureReason } from "../../../domain/run/failure.ts";
import { decodeId } from "../../../domain/run/ids.ts";
import type { RunFacts } from "../../../domain/run/run-facts.ts";
import { TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { FailedChoice, Requeued, RequeuePosition, RequeueWindow } from "../../ports/progress-port.ts";
import { bumpControl, type Context, parseJson, rows, stampIdleLane, STATE } from "../kernel/context.ts";
import { reopenRun } from "../runs/move-run.ts";
import { changeCounters } from "../kernel/counters.ts";
import { uncountErrors } from "../runs/run-errors.ts";
import { requireRun } from "../runs/runs.ts";
import { LANE_OF_STREAM } from "../lanes/shards.ts";
import { forgetFailedProbes } from "../sites/sites.ts";
import { lockRuns } from "../kernel/lock-runs.ts";
import { logChange } from "../kernel/audit-entry.ts";

/** Streams per call: most may have no matching task. */
const STREAMS_PER_CALL = 1000;
/** Tasks per call, for the same reason. */
const TASKS_PER_CALL = 5000;

export function retryFailed(
  context: Context,
  runId: string,
  choice: FailedChoice & RequeueWindow,
  now: number,
): Requeued {
  return context.connection.write(
    () => {
      lockRuns(context, [runId]);
      const run = requireRun(context, runId);
      if (run.kind === "workflow")
        throw new OrbError("illegal_transition", "single steps of a workflow cannot be retried", {
          hint: "Recover the workflow: it repeats the failed steps and the steps that depend on them.",
        });
      const lanes = new Set<string>();
      const byReason = new Map<string, number>();
      const { requeued: pages, next } = requeue(context, run, "failed", 0, choice, (lane, reasons) => {
        lanes.add(lane);
        for (const reason of reasons) byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
      });
      const isAll = choice.reasons === undefined && choice.taskIds === undefined && choice.after === undefined;
      // Auxiliary tasks are requeued together with all pages. They are few, and not part of the failure counts: they
      // count only when nothing else was requeued.
      const auxiliary = isAll
        ? requeue(context, run, "failed", 1, { ...choice, limit: Number.MAX_SAFE_INTEGER }, (lane) => lanes.add(lane))
            .requeued
        : 0;
      const requeued = pages === 0 ? auxiliary : pages;
      if (requeued > 0) {
        uncountErrors(context, run.n, byReason);
        if (TERMINAL_RUN_STATES.includes(run.status)) {
          const message = `Run reopened: ${requeued} failed tasks are retried`;
          reopenRun(context, run, { type: "run.reopened", message }, now);
        }
        bumpControl(context);
        // The first piece stands for all; the queue of single files has an entry of its own.
        if (choice.after === undefined && run.alias === null)
          logChange(context, "run.failed_retried", { kind: "run", id: runId });
      }
      return { requeued, lanes: [...lanes], next };
    },
    { durable: true },
  );
}

/**
 * Restarts the time limit of a run that ran out of time, makes one without proxies wait for them again, or lets one that
 * was saturated read on; requeues the tasks that were cut off. Others stay as they are.
 */
export function goOn(context: Context, runId: string, window: RequeueWindow, now: number): Requeued {
  const { connection } = context;
  return connection.write(
    () => {
      lockRuns(context, [runId]);
      const run = requireRun(context, runId);
      const { left } = parseJson<RunFacts>(run.facts, {});
      const byTime = left?.time === true;
      if (run.status === "cancelled" || (!byTime && left?.proxies !== true && left?.saturated !== true))
        return { requeued: 0, lanes: [], next: null };
      const reason = byTime ? "with a new time limit, it continues" : "it continues";
      if (TERMINAL_RUN_STATES.includes(run.status))
        reopenRun(
          context,
          run,
          { type: "run.reopened", message: `Run reopened: ${reason} with the remaining tasks` },
          now,
        );
      const lanes = new Set<string>();
      const { requeued, next } = requeue(context, run, "cancelled", null, window, (lane) => lanes.add(lane));
      // Until the last batch the run still has tasks left, whatever happens to this process.
      if (next === null)
        connection
          .sql(
            "UPDATE runs SET facts = json_remove(facts, '$.left.time', '$.left.proxies', '$.left.saturated') WHERE n = ?",
          )
          .run(run.n);
      bumpControl(context);
      return { requeued, lanes: [...lanes], next };
    },
    { durable: true },
  );
}

interface EndedStream {
  id: number;
  /** The current lane of its site. */
  lane: number;
  name: string;
}

/** Streams of the run with such tasks, in processing order. */
function streamsOf(
  { connection }: Context,
  run: number,
  from: "failed" | "cancelled",
  auxiliary: 0 | 1 | null,
  { site, after }: FailedChoice & RequeueWindow,
): EndedStream[] {
  return rows<EndedStream>(
    connection
      .sql(
        `SELECT s.id, l.id AS lane, l.lane AS name FROM streams s LEFT JOIN sites p ON p.site = s.site
           JOIN lanes l ON l.id = ${LANE_OF_STREAM}
         WHERE s.run = ?1 AND s.${from} > 0 AND (CAST(?2 AS BIGINT) IS NULL OR s.auxiliary = ?2) AND (CAST(?3 AS TEXT) IS NULL OR s.site = ?3) AND s.id >= ?4
         ORDER BY s.id LIMIT ${STREAMS_PER_CALL}`,
      )
      .all(run, auxiliary, site ?? null, after?.stream ?? 0),
  );
}

/** Continues after the previous batch, so that tasks that fail again meanwhile are left for the next call. */
function requeue(
  context: Context,
  run: { n: number; last_task: number | null },
  from: "failed" | "cancelled",
  auxiliary: 0 | 1 | null,
  choice: FailedChoice & RequeueWindow,
  moved: (lane: string, reasons: readonly string[]) => void,
): { requeued: number; next: RequeuePosition | null } {
  const { after, limit } = choice;
  const upTo = after?.upTo ?? run.last_task ?? 0;
  const streams = streamsOf(context, run.n, from, auxiliary, choice);
  let requeued = 0;
  let examined = 0;
  for (const stream of streams) {
    const afterTask = after?.stream === stream.id ? after.task : 0;
    const seen = readEnded(context, stream.id, from, choice, { afterTask, upTo, limit: TASKS_PER_CALL - examined });
    examined += seen.length;
    const matching = seen.filter(({ reason }) => matches(choice, reason)).slice(0, limit - requeued);
    if (matching.length > 0) {
      requeueTasks(context, stream, from, matching);
      moved(
        stream.name,
        matching.map(({ reason }) => reason),
      );
      requeued += matching.length;
    }
    const last = requeued >= limit ? matching.at(-1) : examined >= TASKS_PER_CALL ? seen.at(-1) : undefined;
    if (last !== undefined) return { requeued, next: { stream: stream.id, task: last.id, upTo } };
  }
  const last = streams.length < STREAMS_PER_CALL ? undefined : streams.at(-1);
  return { requeued, next: last === undefined ? null : { stream: last.id + 1, task: 0, upTo } };
}

interface EndedTask {
  id: number;
  reason: FailureReason;
}

function matches({ reasons }: FailedChoice, reason: FailureReason): boolean {
  return reasons === undefined || reasons.includes(reason);
}

/** Ended tasks of a stream by id, with their failure reasons. */
function readEnded(
  { connection, instance }: Context,
  stream: number,
  from: "failed" | "cancelled",
  { taskIds }: FailedChoice,
  window: { afterTask: number; upTo: number; limit: number },
): EndedTask[] {
  const named = taskIds?.map((id) => decodeId(instance, "task", id));
  // Without unused conditions, so that an index applies.
  const among = named === undefined ? "" : "AND id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))";
  return rows<EndedTask>(
    connection
      .sql(
        `SELECT id, coalesce(json_extract(outcome, '$.failure.reason'), 'internal') AS reason FROM tasks
         WHERE stream = ? AND state = ${STATE[from]} AND id > ? AND id <= ? ${among} ORDER BY id LIMIT ?`,
      )
      .all(
        stream,
        window.afterTask,
        window.upTo,
        ...(named === undefined ? [] : [JSON.stringify(named)]),
        Math.max(0, window.limit),
      ),
  );
}

function requeueTasks(
  context: Context,
  stream: EndedStream,
  from: "failed" | "cancelled",
  list: readonly EndedTask[],
): void {
  context.connection
    .sql(
      `UPDATE tasks SET state = ${STATE.queued}, tries = 0, waits = 0, ready_at = 0, ended_at = NULL
       WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`,
    )
    .run(JSON.stringify(list.map(({ id }) => id)));
  context.connection.sql("UPDATE streams SET lane = ?1 WHERE id = ?2 AND lane <> ?1").run(stream.lane, stream.id);
  const unfetched = list.filter(({ reason }) => NEVER_FETCHED.includes(reason)).length;
  changeCounters(context, stream.id, {
    [from]: -list.length,
    queued: list.length,
    ...(from === "failed" ? { unfetched: -unfetched } : {}),
  });
  stampIdleLane(context, stream.lane);
  // A manual retry also applies to sites that were given up.
  forgetFailedProbes(context, stream.lane);
}

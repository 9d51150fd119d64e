/** Tasks that have ended go back into the queue, a piece at a time: what failed, and what the end of a run's time cut off. */
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
import { HOME_OF_LANE, LANE_OF_STREAM } from "../lanes/shards.ts";

/** Streams that one call looks at: in most of them there may be nothing that is meant. */
const STREAMS_AT_ONCE = 1000;
/** Tasks that one call looks at, for the same reason. */
const LOOKED_AT_ONCE = 5000;

export function retryFailed(
  context: Context,
  runId: string,
  choice: FailedChoice & RequeueWindow,
  now: number,
): Requeued {
  return context.connection.write(
    () => {
      const run = requireRun(context, runId);
      if (run.kind === "workflow")
        throw new OrbError("illegal_transition", "the steps of a workflow are not tried again one by one", {
          hint: "Recover the workflow: its failed steps are done again, and what waits for them.",
        });
      const lanes = new Set<string>();
      const byReason = new Map<string, number>();
      const { requeued: pages, next } = requeue(context, run, "failed", 0, choice, (lane, reasons) => {
        lanes.add(lane);
        for (const reason of reasons) byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
      });
      const isAll = choice.reasons === undefined && choice.taskIds === undefined && choice.after === undefined;
      // What serves the run and is none of its pages goes along with all of them. There are never many of these, and
      // nobody has counted them among what failed: they count when there is nothing else.
      const auxiliary = isAll
        ? requeue(context, run, "failed", 1, { ...choice, limit: Number.MAX_SAFE_INTEGER }, (lane) => lanes.add(lane))
            .requeued
        : 0;
      const requeued = pages === 0 ? auxiliary : pages;
      if (requeued > 0) {
        uncountErrors(context, run.n, byReason);
        if (TERMINAL_RUN_STATES.includes(run.status)) {
          const message = `Run reopened: ${requeued} failed tasks tried again`;
          reopenRun(context, run, { type: "run.reopened", message }, now);
        }
        bumpControl(context);
      }
      return { requeued, lanes: [...lanes], next };
    },
    { durable: true },
  );
}

/**
 * A run that ran out of time gets it anew, and one that had no proxies waits for them again: it goes on with what was cut
 * off. Others are left as they are.
 */
export function goOn(context: Context, runId: string, window: RequeueWindow, now: number): Requeued {
  const { connection } = context;
  return connection.write(
    () => {
      const run = requireRun(context, runId);
      const { left } = parseJson<RunFacts>(run.facts, {});
      const byTime = left?.time === true;
      if (run.status === "cancelled" || (!byTime && left?.proxies !== true))
        return { requeued: 0, lanes: [], next: null };
      const how = byTime ? "its time begins anew, and it goes on" : "it goes on";
      if (TERMINAL_RUN_STATES.includes(run.status))
        reopenRun(context, run, { type: "run.reopened", message: `Run reopened: ${how} with what was left` }, now);
      const lanes = new Set<string>();
      const { requeued, next } = requeue(context, run, "cancelled", null, window, (lane) => lanes.add(lane));
      // Until the last piece it is still true that something is left, whatever happens to this process.
      if (next === null)
        connection
          .sql("UPDATE runs SET facts = json_remove(facts, '$.left.time', '$.left.proxies') WHERE n = ?")
          .run(run.n);
      bumpControl(context);
      return { requeued, lanes: [...lanes], next };
    },
    { durable: true },
  );
}

interface EndedStream {
  id: number;
  /** Where its site is at present. */
  lane: number;
  name: string;
}

/** Streams of the run that have such tasks, in the order in which they are gone through. */
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
         ORDER BY s.id LIMIT ${STREAMS_AT_ONCE}`,
      )
      .all(run, auxiliary, site ?? null, after?.stream ?? 0),
  );
}

/** Goes on behind where the piece before ended, so that what fails again meanwhile is left for the next time. */
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
  let looked = 0;
  for (const stream of streams) {
    const behind = after?.stream === stream.id ? after.task : 0;
    const seen = ended(context, stream.id, from, choice, { behind, upTo, limit: LOOKED_AT_ONCE - looked });
    looked += seen.length;
    const meant = seen.filter(({ reason }) => isMeant(choice, reason)).slice(0, limit - requeued);
    if (meant.length > 0) {
      putBack(context, stream, from, meant);
      moved(
        stream.name,
        meant.map(({ reason }) => reason),
      );
      requeued += meant.length;
    }
    const last = requeued >= limit ? meant.at(-1) : looked >= LOOKED_AT_ONCE ? seen.at(-1) : undefined;
    if (last !== undefined) return { requeued, next: { stream: stream.id, task: last.id, upTo } };
  }
  const last = streams.length < STREAMS_AT_ONCE ? undefined : streams.at(-1);
  return { requeued, next: last === undefined ? null : { stream: last.id + 1, task: 0, upTo } };
}

interface EndedTask {
  id: number;
  reason: FailureReason;
}

function isMeant({ reasons }: FailedChoice, reason: FailureReason): boolean {
  return reasons === undefined || reasons.includes(reason);
}

/** Ended tasks of a stream in order of their ids, with what each had failed by. */
function ended(
  { connection, instance }: Context,
  stream: number,
  from: "failed" | "cancelled",
  { taskIds }: FailedChoice,
  window: { behind: number; upTo: number; limit: number },
): EndedTask[] {
  const named = taskIds?.map((id) => decodeId(instance, "task", id));
  // Only what is asked for stands in the statement, so that an index can serve it.
  const among = named === undefined ? "" : "AND id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))";
  return rows<EndedTask>(
    connection
      .sql(
        `SELECT id, coalesce(json_extract(outcome, '$.failure.reason'), 'internal') AS reason FROM tasks
         WHERE stream = ? AND state = ${STATE[from]} AND id > ? AND id <= ? ${among} ORDER BY id LIMIT ?`,
      )
      .all(
        stream,
        window.behind,
        window.upTo,
        ...(named === undefined ? [] : [JSON.stringify(named)]),
        Math.max(0, window.limit),
      ),
  );
}

function putBack(
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
  // Whoever asks for another try also asks for it at a site that was given up: it gets its probes anew.
  context.connection.sql(`UPDATE sites SET breaker_failed_probes = 0 WHERE lane = ${HOME_OF_LANE}`).run(stream.lane);
}

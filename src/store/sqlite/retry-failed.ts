import { decodeId } from "../../domain/ids.ts";
import { TERMINAL_RUN_STATES } from "../../domain/states.ts";
import type { Requeued } from "../port.ts";
import type { FailedChoice } from "../progress-port.ts";
import { bumpControl, changeCounters, type Context, reopenRun, rows, stampIdleLane, STATE } from "./context.ts";
import { uncountErrors } from "./run-errors.ts";
import { requireRun } from "./runs.ts";

export function retryFailed(
  context: Context,
  runId: string,
  choice: FailedChoice & { limit: number },
  now: number,
): Requeued {
  return context.connection.write(
    () => {
      const run = requireRun(context, runId);
      const lanes = new Set<string>();
      const byReason = new Map<string, number>();
      const pages = requeue(context, streamsOf(context, run.n, 0, choice), choice, (stream, reasons) => {
        lanes.add(stream.name);
        for (const reason of reasons) byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
      });
      const isAll = choice.reasons === undefined && choice.taskIds === undefined;
      // What serves the run and is none of its pages goes along with all of them. There are never many of these, and
      // nobody has counted them among what failed: they count when there is nothing else.
      const aside = isAll
        ? requeue(
            context,
            streamsOf(context, run.n, 1, choice),
            { ...choice, limit: Number.MAX_SAFE_INTEGER },
            ({ name }) => lanes.add(name),
          )
        : 0;
      const requeued = pages === 0 ? aside : pages;
      if (requeued > 0) {
        uncountErrors(context, run.n, byReason);
        if (TERMINAL_RUN_STATES.includes(run.status)) {
          reopenRun(context, run.n, `Run reopened: ${requeued} failed tasks tried again`, now);
        }
        bumpControl(context);
      }
      return { requeued, lanes: [...lanes] };
    },
    { durable: true },
  );
}

interface FailedStream {
  id: number;
  lane: number;
  name: string;
}

function streamsOf({ connection }: Context, run: number, aside: 0 | 1, { lane }: FailedChoice): FailedStream[] {
  return rows<FailedStream>(
    connection
      .sql(
        `SELECT s.id, s.lane, l.lane AS name FROM streams s JOIN lanes l ON l.id = s.lane
         WHERE s.run = ?1 AND s.failed > 0 AND s.aside = ?2 AND (?3 IS NULL OR l.lane = ?3)`,
      )
      .all(run, aside, lane ?? null),
  );
}

function requeue(
  context: Context,
  streams: readonly FailedStream[],
  choice: FailedChoice & { limit: number },
  moved: (stream: FailedStream, reasons: readonly string[]) => void,
): number {
  const move = requeuing(context, choice);
  let requeued = 0;
  for (const stream of streams) {
    const reasons = move(stream.id, choice.limit - requeued);
    if (reasons.length === 0) continue;
    changeCounters(context, stream.id, { failed: -reasons.length, queued: reasons.length });
    stampIdleLane(context, stream.lane);
    // Whoever asks for another try also asks for it at a site that was given up: it gets its probes anew.
    context.connection.sql("UPDATE sites SET breaker_failed_probes = 0 WHERE lane = ?").run(stream.lane);
    moved(stream, reasons);
    requeued += reasons.length;
    if (requeued >= choice.limit) break;
  }
  return requeued;
}

/** Puts failed tasks of one stream back into the queue, up to a number of them, and says why each had failed. */
function requeuing(
  { connection, instance }: Context,
  { reasons, taskIds, failedUntil }: FailedChoice,
): (stream: number, limit: number) => string[] {
  // Only what is asked for stands in the statement, so that an index can serve it.
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const among = (what: string, list: readonly unknown[]) => {
    conditions.push(`AND ${what} IN (SELECT value FROM json_each(?))`);
    values.push(JSON.stringify(list));
  };
  if (reasons !== undefined) among("json_extract(outcome, '$.failure.reason')", reasons);
  if (taskIds !== undefined)
    among(
      "id",
      taskIds.map((id) => decodeId(instance, "task", id)),
    );
  if (failedUntil !== undefined) {
    conditions.push("AND ended_at <= ?");
    values.push(failedUntil);
  }
  const update = connection.sql(
    `UPDATE tasks SET state = ${STATE.queued}, tries = 0, waits = 0, ready_at = 0, ended_at = NULL WHERE id IN
     (SELECT id FROM tasks WHERE stream = ? AND state = ${STATE.failed} ${conditions.join(" ")} LIMIT ?)
     RETURNING coalesce(json_extract(outcome, '$.failure.reason'), 'internal') AS reason`,
  );
  return (stream, limit) => rows<{ reason: string }>(update.all(stream, ...values, limit)).map(({ reason }) => reason);
}

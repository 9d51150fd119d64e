/** Remaining attempt time of sleeping steps: counted in ticks, like that of crawls. */
import { decodeId } from "../../../domain/run/ids.ts";
import { type Context, rows, STATE } from "../kernel/context.ts";
import { changeCounters } from "../kernel/counters.ts";
import { laneGotWork } from "../runs/move-run.ts";

/** Time since the last tick is less than this; a clock change makes it seem more. */
const UNCOUNTED_MS = 1000;

const SLEEPS = `EXISTS (SELECT 1 FROM tasks t JOIN streams s ON s.id = t.stream JOIN runs r ON r.n = s.run
  WHERE t.id = step_timers.task AND t.state = ${STATE.retrying} AND r.status = 'running')`;

/** Stores the remaining time of a step that goes to sleep. */
export function keepTimeLeft({ connection }: Context, task: number, leftMs: number, now: number): void {
  connection
    .sql(`INSERT INTO step_timers (task, remaining_ms, updated_at) VALUES (?, ?, ?)
         ON CONFLICT (task) DO UPDATE SET remaining_ms = excluded.remaining_ms, updated_at = excluded.updated_at`)
    .run(task, Math.round(leftMs), now);
}

export function readTimeLeft({ connection, instance }: Context, taskId: string, now: number): number | null {
  const row = connection
    .sql("SELECT remaining_ms, updated_at FROM step_timers WHERE task = ?")
    .get(decodeId(instance, "task", taskId)) as { remaining_ms: number; updated_at: number } | undefined;
  if (row === undefined) return null;
  return row.remaining_ms - Math.min(UNCOUNTED_MS, Math.max(0, now - row.updated_at));
}

export function passStepTime(context: Context, elapsedMs: number, now: number): string[] {
  const { connection } = context;
  if (connection.sql("SELECT 1 FROM step_timers LIMIT 1").get() === undefined) return [];
  return connection.write(() => {
    connection
      .sql(
        `DELETE FROM step_timers WHERE NOT EXISTS
           (SELECT 1 FROM tasks t WHERE t.id = step_timers.task AND t.ended_at IS NULL)`,
      )
      .run();
    connection
      .sql(
        `UPDATE step_timers SET updated_at = ?2,
           remaining_ms = remaining_ms - CASE WHEN ${SLEEPS} THEN min(?1, max(0, ?2 - updated_at)) ELSE 0 END`,
      )
      .run(Math.round(elapsedMs), now);
    // A failed step that waits for its retry has no running time limit.
    const expired = rows<{ stream: number }>(
      connection
        .sql(
          `UPDATE tasks SET state = ${STATE.queued}, ready_at = 0
           WHERE id IN (SELECT task FROM step_timers WHERE remaining_ms <= 0 AND ${SLEEPS})
             AND json_extract(outcome, '$.waiting') IS NOT NULL RETURNING stream`,
        )
        .all(),
    );
    for (const { stream } of expired) changeCounters(context, stream, { retrying: -1, queued: 1 });
    return expired.map(({ stream }) => laneGotWork(context, stream));
  });
}

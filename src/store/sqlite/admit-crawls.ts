import { type Context, rows, stampIdleLanesOfRun } from "./context.ts";
import { moveRun } from "./move-run.ts";
import { countCrawls } from "./crawl-pace.ts";
import { endRunIfDone } from "./end-run.ts";
import { STREAM_IS_OPEN } from "./lanes.ts";

/** Who waits for something else than a turn is not let in. */
const WAITING = "SELECT n, id, started_at FROM runs WHERE status = 'queued' AND kind = 'crawl' AND hold IS NULL";

/** Lets waiting crawls in; whoever has waited longest is first. */
export function admitCrawls(context: Context, most: number, now: number): { admitted: string[]; lanes: string[] } {
  const { connection } = context;
  // Most of the time nobody waits, and then nothing is written.
  const { running } = countCrawls(context);
  if (running >= most || connection.sql(`${WAITING} LIMIT 1`).get() === undefined) return { admitted: [], lanes: [] };
  return connection.write(() => {
    const free = most - countCrawls(context).running;
    const waiting = rows<{ n: number; id: string; started_at: number | null }>(
      connection.sql(`${WAITING} ORDER BY n LIMIT ?`).all(Math.max(0, free)),
    );
    const lanes = new Set<string>();
    for (const { n, started_at: before } of waiting) {
      moveRun(context, n, "running", before === null ? "Run started" : "Run goes on: it is its turn", now);
      stampIdleLanesOfRun(context, n);
      // What was in flight when it was paused may have been the last of it.
      const end = endRunIfDone(context, n, now);
      if (end !== null) {
        for (const lane of end.lanes) lanes.add(lane);
        continue;
      }
      const own = connection
        .sql(
          `SELECT DISTINCT l.lane FROM streams s JOIN lanes l ON l.id = s.lane WHERE s.run = ? AND ${STREAM_IS_OPEN}`,
        )
        .all(n);
      for (const { lane } of rows<{ lane: string }>(own)) lanes.add(lane);
    }
    return { admitted: waiting.map(({ id }) => id), lanes: [...lanes] };
  });
}

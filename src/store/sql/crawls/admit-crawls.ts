import type { RunState } from "../../../domain/run/states.ts";
import { appendEvent, type Context, rows, stampIdleLanesOfRun } from "../kernel/context.ts";
import { letGoOn, moveRun } from "../runs/move-run.ts";
import { countCrawls } from "./crawl-throughput.ts";
import { endRunIfDone } from "../runs/end-run.ts";
import { beginComparison } from "./page-states.ts";
import { runBegins } from "../sites/site-deps.ts";
import { STREAM_IS_OPEN } from "../lanes/lanes.ts";
import { startEvent } from "../runs/start-event.ts";

const OF_CRAWL = "SELECT n, id, status, started_at FROM runs WHERE kind = 'crawl'";

/** Who waits for something else than a turn is not let in. */
export const WAITING_CRAWLS = `${OF_CRAWL} AND status = 'queued' AND hold IS NULL UNION ALL
  ${OF_CRAWL} AND status IN ('queued', 'running') AND hold IS NOT NULL AND json_extract(hold, '$.reason') = 'turn'`;

const ITS_TURN = {
  type: "run.released",
  message: "Run continues: it is its turn",
  meta: { waited_for: "turn" },
} as const;

/** Lets waiting crawls in; whoever has waited longest is first. */
export function admitCrawls(context: Context, most: number, now: number): { admitted: string[]; lanes: string[] } {
  const { connection } = context;
  // Most of the time nobody waits, and then nothing is written.
  const { running } = countCrawls(context);
  if (running >= most || connection.sql(`${WAITING_CRAWLS} LIMIT 1`).get() === undefined)
    return { admitted: [], lanes: [] };
  return connection.write(() => {
    const free = most - countCrawls(context).running;
    const waiting = rows<{ n: number; id: string; status: RunState; started_at: number | null }>(
      connection.sql(`${WAITING_CRAWLS} ORDER BY n LIMIT ?`).all(Math.max(0, free)),
    );
    const lanes = new Set<string>();
    for (const { n, status, started_at: before } of waiting) {
      letGoOn(context, n, now);
      const event = before === null ? startEvent(context, n) : ITS_TURN;
      if (before === null) beginComparison(context, n);
      if (status === "queued") moveRun(context, n, "running", event, now);
      else {
        appendEvent(context, n, { ...event, level: "info" }, now);
        runBegins(context, n);
      }
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

import type { RunState } from "../../../domain/run/states.ts";
import { appendEvent, type Context, rows, stampIdleLanesOfRun } from "../kernel/context.ts";
import { clearHold, moveRun } from "../runs/move-run.ts";
import { countCrawls } from "./crawl-throughput.ts";
import { endRunIfDone } from "../runs/end-run.ts";
import { beginComparison } from "./page-states.ts";
import { stampStartEvent } from "../sites/site-deps.ts";
import { STREAM_IS_OPEN } from "../lanes/lanes.ts";
import { startEvent } from "../runs/start-event.ts";

const OF_CRAWL = "SELECT n, id, status, started_at FROM runs WHERE kind = 'crawl'";

/** Only crawls that wait for their turn: those held for another reason are not admitted. */
export const WAITING_CRAWLS = `${OF_CRAWL} AND status = 'queued' AND hold IS NULL UNION ALL
  ${OF_CRAWL} AND status IN ('queued', 'running') AND hold IS NOT NULL AND json_extract(hold, '$.reason') = 'turn'`;

const ITS_TURN = {
  type: "run.released",
  message: "Run continues: it is its turn",
  meta: { waited_for: "turn" },
} as const;

/** Admits waiting crawls, longest waiting first. */
export function admitCrawls(
  context: Context,
  maxRunning: number,
  now: number,
): { admitted: string[]; lanes: string[] } {
  const { connection } = context;
  // Usually none waits, and then nothing is written.
  const { running } = countCrawls(context);
  if (running >= maxRunning || connection.sql(`${WAITING_CRAWLS} LIMIT 1`).get() === undefined)
    return { admitted: [], lanes: [] };
  return connection.write(() => {
    const free = maxRunning - countCrawls(context).running;
    const waiting = rows<{ n: number; id: string; status: RunState; started_at: number | null }>(
      connection.sql(`${WAITING_CRAWLS} ORDER BY n LIMIT ?`).all(Math.max(0, free)),
    );
    const lanes = new Set<string>();
    for (const { n, status, started_at: before } of waiting) {
      clearHold(context, n, now);
      const event = before === null ? startEvent(context, n) : ITS_TURN;
      if (before === null) beginComparison(context, n);
      if (status === "queued") moveRun(context, n, "running", event, now);
      else {
        appendEvent(context, n, { ...event, level: "info" }, now);
        stampStartEvent(context, n);
      }
      stampIdleLanesOfRun(context, n);
      // The tasks in flight when it was paused may have been its last.
      const end = endRunIfDone(context, n, now);
      if (end !== null) {
        for (const lane of end.lanes) lanes.add(lane);
        continue;
      }
      const openLanes = connection
        .sql(
          `SELECT DISTINCT l.lane FROM streams s JOIN lanes l ON l.id = s.lane WHERE s.run = ? AND ${STREAM_IS_OPEN}`,
        )
        .all(n);
      for (const { lane } of rows<{ lane: string }>(openLanes)) lanes.add(lane);
    }
    return { admitted: waiting.map(({ id }) => id), lanes: [...lanes] };
  });
}

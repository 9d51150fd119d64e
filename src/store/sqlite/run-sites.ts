import { NO_TASKS, type TaskCounts } from "../../domain/run-end.ts";
import { TASK_STATES } from "../../domain/states.ts";
import type { RunSiteFilter, RunSiteRecord } from "../progress-port.ts";
import { type Context, rows, STATE } from "./context.ts";
import { siteOfLane } from "./sites.ts";

const SUMS = TASK_STATES.map((name) => `sum(s.${name}) AS ${name}`).join(", ");

/** How a run is getting on, site by site; a page of them reads a few rows for each, however many tasks there are. */
export function readRunSites(context: Context, run: number, filter: RunSiteFilter): RunSiteRecord[] {
  const { connection } = context;
  const list = connection
    .sql(
      `SELECT s.lane AS id, l.lane AS name, ${SUMS} FROM streams s JOIN lanes l ON l.id = s.lane
       WHERE s.run = ?1 AND s.aside = 0 AND (?2 IS NULL OR l.lane > ?2) AND (?3 IS NULL OR l.lane = ?3)
       GROUP BY s.lane HAVING ${filter.state === undefined ? "true" : `sum(s.${filter.state}) > 0`}
       ORDER BY l.lane LIMIT ?4`,
    )
    .all(run, filter.after ?? null, filter.lane ?? null, filter.limit);
  return rows<TaskCounts & { id: number; name: string }>(list).map(({ id, name, ...counts }) => ({
    lane: name,
    counts: { ...NO_TASKS, ...counts },
    nextTryAt: counts.retrying === 0 ? null : nextTry(context, run, id),
    laneRunning: numberOf(context, "SELECT sum(running) AS n FROM streams WHERE lane = ?", id) ?? 0,
    site: siteOfLane(context, id),
  }));
}

function nextTry(context: Context, run: number, lane: number): number | null {
  return numberOf(
    context,
    `SELECT min((SELECT min(ready_at) FROM tasks WHERE stream = s.id AND state = ${STATE.retrying})) AS n
     FROM streams s WHERE s.run = ? AND s.lane = ? AND s.aside = 0`,
    run,
    lane,
  );
}

function numberOf({ connection }: Context, sql: string, ...values: number[]): number | null {
  return (connection.sql(sql).get(...values) as { n: number | null }).n;
}

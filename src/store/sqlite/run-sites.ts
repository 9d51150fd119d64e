import type { Failure } from "../../domain/failure.ts";
import { NO_TASKS, type TaskCounts } from "../../domain/run-end.ts";
import { TASK_STATES, type TaskState } from "../../domain/states.ts";
import type { RunSiteFilter, RunSiteRecord } from "../progress-port.ts";
import { badPosition, type Context, parseJson, rows, STATE } from "./context.ts";
import { siteOfLane } from "./sites.ts";

const SUMS = TASK_STATES.map((name) => `sum(s.${name}) AS ${name}`).join(", ");

/** Few sites of many have tasks in these states, and somebody who watches a run asks for them again and again. */
const INDEXES: Partial<Record<TaskState, string>> = {
  queued: "streams_queued_of_run",
  running: "streams_running_of_run",
  retrying: "streams_retrying_of_run",
};

/** How a run is getting on, site by site: a page of them reads a few rows for each, however many sites there are. */
export function readRunSites(context: Context, run: number, filter: RunSiteFilter): RunSiteRecord[] {
  const { connection } = context;
  const counts = connection.sql(
    `SELECT l.lane AS name, ${SUMS} FROM streams s JOIN lanes l ON l.id = s.lane
     WHERE s.run = ? AND s.lane = ? AND s.aside = 0`,
  );
  return lanesOf(context, run, filter).map((lane) => {
    const { name, ...found } = counts.get(run, lane) as unknown as TaskCounts & { name: string };
    return {
      lane: name,
      counts: { ...NO_TASKS, ...found },
      ...(found.retrying === 0 ? { nextTryAt: null, lastFailure: null } : nextTry(context, run, lane)),
      laneRunning: numberOf(context, "SELECT sum(running) AS n FROM streams WHERE lane = ?", lane) ?? 0,
      site: siteOfLane(context, lane),
    };
  });
}

/** Walks along an index from the cursor, and stops when the page is full. */
function lanesOf(context: Context, run: number, { state, lane, after, limit }: RunSiteFilter): number[] {
  const only = lane === undefined ? null : laneNumber(context, lane);
  if (only === undefined) return [];
  const from = after === undefined ? 0 : laneNumber(context, after);
  if (from === undefined) throw badPosition(after ?? "", "a site");
  const list = context.connection
    .sql(
      `SELECT DISTINCT s.lane FROM streams s INDEXED BY ${(state && INDEXES[state]) ?? "streams_by_run"}
       WHERE s.run = ?1 AND s.lane > ?2 AND s.aside = 0 ${state === undefined ? "" : `AND s.${state} > 0`}
         ${only === null ? "" : "AND s.lane = ?4"} ORDER BY s.lane LIMIT ?3`,
    )
    .all(run, from, limit, ...(only === null ? [] : [only]));
  return rows<{ lane: number }>(list).map((row) => row.lane);
}

function laneNumber({ connection }: Context, name: string): number | undefined {
  return (connection.sql("SELECT id FROM lanes WHERE lane = ?").get(name) as { id: number } | undefined)?.id;
}

/** Of each stream the first in its index, and of those the first. */
function nextTry({ connection }: Context, run: number, lane: number): Pick<RunSiteRecord, "nextTryAt" | "lastFailure"> {
  const row = connection
    .sql(
      `SELECT t.ready_at AS at, json_extract(t.outcome, '$.failure') AS failure FROM streams s
       JOIN tasks t ON t.id = (SELECT id FROM tasks WHERE stream = s.id AND state = ${STATE.retrying} ORDER BY ready_at LIMIT 1)
       WHERE s.run = ? AND s.lane = ? AND s.aside = 0 ORDER BY t.ready_at LIMIT 1`,
    )
    .get(run, lane) as { at: number; failure: string | null } | undefined;
  return { nextTryAt: row?.at ?? null, lastFailure: parseJson<Failure | null>(row?.failure ?? null, null) };
}

function numberOf({ connection }: Context, sql: string, ...values: number[]): number | null {
  return (connection.sql(sql).get(...values) as { n: number | null }).n;
}

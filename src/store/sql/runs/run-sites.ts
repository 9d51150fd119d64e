import type { Failure } from "../../../domain/run/failure.ts";
import { NO_TASKS, type TaskCounts } from "../../../domain/run/run-end.ts";
import { TASK_STATES, type TaskState } from "../../../domain/run/states.ts";
import type { RunSiteFilter, RunSiteRecord } from "../../ports/progress-port.ts";
import { type Context, parseJson, rows, STATE } from "../kernel/context.ts";
import { STREAM_IS_OPEN } from "../lanes/lanes.ts";
import { LANES_OF_SITE } from "../lanes/shards.ts";
import { readSite } from "../sites/sites.ts";
import { sitesWaitedFor } from "../sites/site-deps.ts";

const SUMS = TASK_STATES.map((name) => `sum(s.${name}) AS ${name}`).join(", ");

/** Few of many sites have tasks in these states, and dashboards poll them. */
const INDEXES: Partial<Record<TaskState, string>> = {
  queued: "streams_queued_of_run",
  running: "streams_running_of_run",
  retrying: "streams_retrying_of_run",
};

/** Progress of a run by site: a page reads a few rows per site, however many sites there are. */
export function readRunSites(context: Context, run: number, filter: RunSiteFilter): RunSiteRecord[] {
  const { connection } = context;
  const counts = connection.sql(`SELECT ${SUMS} FROM streams s WHERE s.run = ? AND s.site = ? AND s.auxiliary = 0`);
  const runningInLane = connection.sql(
    `SELECT sum(s.running) AS n FROM streams s
     WHERE s.lane IN ${LANES_OF_SITE} AND ${STREAM_IS_OPEN}`,
  );
  const { full } = connection
    .sql("SELECT coalesce(pages_counted + pages_in_flight >= pages_limit, FALSE) AS full FROM runs WHERE n = ?")
    .get(run) as { full: number };
  return namesOf(context, run, filter).flatMap((name) => {
    const site = readSite(context, name);
    if (site === null) return [];
    const found = counts.get(run, name) as unknown as TaskCounts;
    return {
      site,
      counts: { ...NO_TASKS, ...found },
      ...(found.retrying === 0 ? NO_RETRY : nextTry(context, run, name)),
      laneRunning: (runningInLane.get(name) as { n: number | null }).n ?? 0,
      waitsFor: site.dependsOn.length === 0 ? [] : sitesWaitedFor(context, name, run),
      quotaExhausted: full === 1,
    };
  });
}

/** Walks along an index from the cursor, and stops when the page is full. */
function namesOf({ connection }: Context, run: number, { state, site, after, limit }: RunSiteFilter): string[] {
  const list = connection
    .sql(
      `SELECT DISTINCT s.site FROM streams s INDEXED BY ${(state && INDEXES[state]) ?? "streams_by_run"}
       WHERE s.run = ?1 AND s.site > ?2 AND s.auxiliary = 0 ${state === undefined ? "" : `AND s.${state} > 0`}
         ${site === undefined ? "" : "AND s.site = ?4"} ORDER BY s.site LIMIT ?3`,
    )
    .all(run, after ?? "", limit, ...(site === undefined ? [] : [site]));
  return rows<{ site: string }>(list).map((row) => row.site);
}

type Retry = Pick<RunSiteRecord, "nextTryAt" | "lastFailure" | "lastTries" | "lastUrl">;

const NO_RETRY: Retry = { nextTryAt: null, lastFailure: null, lastTries: 0, lastUrl: null };

/** The first of each stream by index, and the first of those. */
function nextTry({ connection }: Context, run: number, site: string): Retry {
  const row = connection
    .sql(
      `SELECT t.ready_at AS at, t.tries, t.url, json_extract(t.outcome, '$.failure') AS failure FROM streams s
       JOIN tasks t ON t.id = (SELECT id FROM tasks WHERE stream = s.id AND state = ${STATE.retrying} ORDER BY ready_at LIMIT 1)
       WHERE s.run = ? AND s.site = ? AND s.auxiliary = 0 ORDER BY t.ready_at LIMIT 1`,
    )
    .get(run, site) as { at: number; tries: number; url: string | null; failure: string | null } | undefined;
  if (row === undefined) return NO_RETRY;
  const { at, tries, url, failure } = row;
  return { nextTryAt: at, lastFailure: parseJson<Failure | null>(failure, null), lastTries: tries, lastUrl: url };
}

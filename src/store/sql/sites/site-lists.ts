/** Lists of sites, and totals over all of them. */
import type { Failure } from "../../../domain/run/failure.ts";
import { NO_TASKS, type TaskCounts } from "../../../domain/run/run-end.ts";
import type { RunHold } from "../../../domain/run/run-hold.ts";
import type { SiteState } from "../../../domain/site/site-states.ts";
import { type RunState, TASK_STATES } from "../../../domain/run/states.ts";
import type { HeldRun, SiteFilter, SiteRecord, SiteRetry, SiteTotals } from "../../records/site-records.ts";
import { type Context, HAS_QUOTA, parseJson, RUN_MAY_WORK, STATE } from "../kernel/context.ts";
import { STREAM_IS_OPEN } from "../lanes/lanes.ts";
import { likePattern } from "../kernel/like.ts";
import { LANES_OF_SITE } from "../lanes/shards.ts";
import { SELECT_SITE, toSites } from "./sites.ts";

/** Worded like the partial index, so that SQLite uses it. */
const HAS_WORK = "(c.queued > 0 OR c.running > 0 OR c.retrying > 0)";
const IS_FREE = "s.paused = 0 AND coalesce(s.breaker_open_until, 0) <= :now";
const IS_IDLE = "(c.running = 0 OR s.waiting IS NOT NULL)";

const IN_STATE: Readonly<Record<SiteState, string>> = {
  paused: "s.paused = 1",
  blocked: "s.paused = 0 AND s.breaker_open_until > :now",
  waiting: `${HAS_WORK} AND ${IS_FREE} AND ${IS_IDLE}`,
  active: `${HAS_WORK} AND ${IS_FREE} AND NOT ${IS_IDLE}`,
};

export function readSites(context: Context, filter: SiteFilter, now: number): SiteRecord[] {
  // Without unused conditions, so that an index applies.
  const conditions = ["s.site > :after"];
  const values: Record<string, string | number> = { after: filter.after ?? "", limit: filter.limit };
  if (filter.q !== undefined) {
    conditions.push(String.raw`s.site LIKE :q ESCAPE '\'`);
    values["q"] = likePattern(filter.q);
  }
  if (filter.group !== undefined) {
    conditions.push("s.site_group = :group");
    values["group"] = filter.group;
  }
  if (filter.state !== undefined) {
    conditions.push(IN_STATE[filter.state]);
    if (filter.state !== "paused") values["now"] = now;
  }
  const list = context.connection
    .sql(`${SELECT_SITE} WHERE ${conditions.join(" AND ")} ORDER BY s.site LIMIT :limit`)
    .all(values);
  return toSites(context, list);
}

const byWork = (table: string) => `${table}.running DESC, ${table}.queued + ${table}.retrying DESC, ${table}.site`;

/** Selected from the counts alone: there may be very many sites. */
export const BUSIEST = `SELECT b.site FROM site_counts b WHERE (b.queued > 0 OR b.running > 0 OR b.retrying > 0)
  ORDER BY ${byWork("b")} LIMIT ?`;

export function readBusySites(context: Context, limit: number): SiteRecord[] {
  const list = context.connection.sql(`${SELECT_SITE} WHERE s.site IN (${BUSIEST}) ORDER BY ${byWork("c")}`).all(limit);
  return toSites(context, list);
}

/** Sorts runs that may work first: then the site is not held. */
export function readRunHeldAt({ connection }: Context, site: string): HeldRun | null {
  const row = connection
    .sql(
      `SELECT r.status, r.hold, ${RUN_MAY_WORK} AS may, ${HAS_QUOTA} OR s.retrying > 0 AS has_quota FROM streams s INDEXED BY streams_open
       JOIN runs r ON r.n = s.run WHERE s.lane IN ${LANES_OF_SITE} AND s.site = ?1 AND ${STREAM_IS_OPEN} AND r.finished_at IS NULL
       ORDER BY (${RUN_MAY_WORK} AND (${HAS_QUOTA} OR s.retrying > 0)) DESC, may DESC, r.n LIMIT 1`,
    )
    .get(site) as { status: RunState; hold: string | null; may: number; has_quota: number } | undefined;
  if (row === undefined || (row.may === 1 && row.has_quota === 1)) return null;
  return { status: row.status, hold: parseJson<RunHold | null>(row.hold, null), quotaExhausted: row.may === 1 };
}

/** Tasks that can start at once, as far as their runs are concerned. */
const QUEUED_AT_SITE = `FROM streams s INDEXED BY streams_open JOIN runs r ON r.n = s.run
  WHERE s.lane IN ${LANES_OF_SITE} AND s.site = ?1 AND ${STREAM_IS_OPEN} AND s.queued > 0 AND ${RUN_MAY_WORK} AND ${HAS_QUOTA}`;

/** The first of each stream by index, and the first of those; runs that may work come first. */
export function readNextTry({ connection }: Context, site: string): SiteRetry | null {
  const row = connection
    .sql(
      `SELECT t.ready_at AS at, t.tries, t.url, r.max_attempts AS most, json_extract(t.outcome, '$.failure') AS failure,
         CASE WHEN EXISTS (SELECT 1 ${QUEUED_AT_SITE}) THEN 0 ELSE 1 END AS next
       FROM streams s INDEXED BY streams_open JOIN runs r ON r.n = s.run
       JOIN tasks t ON t.id = (SELECT id FROM tasks WHERE stream = s.id AND state = ${STATE.retrying} ORDER BY ready_at LIMIT 1)
       WHERE s.lane IN ${LANES_OF_SITE} AND s.site = ?1 AND ${STREAM_IS_OPEN} AND s.retrying > 0
       ORDER BY CASE WHEN ${RUN_MAY_WORK} THEN 0 ELSE 1 END, t.ready_at LIMIT 1`,
    )
    .get(site) as
    | { at: number; tries: number; url: string | null; most: number | null; failure: string | null; next: number }
    | undefined;
  if (row === undefined) return null;
  const { at, tries, url, most: maxAttempts } = row;
  return { at, tries, url, maxAttempts, isNext: row.next === 1, failure: parseJson<Failure | null>(row.failure, null) };
}

const SUMS = TASK_STATES.map((name) => `coalesce(sum(c.${name}), 0) AS ${name}`).join(", ");

const SITES_FIRST = "sites s CROSS JOIN site_counts c ON c.site = s.site";
const COUNTS_FIRST = "site_counts c CROSS JOIN sites s ON s.site = c.site";

/** One scan of all counts; reads only sites that are paused, blocked or active. */
export function readSiteTotals({ connection }: Context, now: number): SiteTotals {
  const all = connection.sql(
    `SELECT count(*) AS sites, count(*) FILTER (WHERE ${HAS_WORK}) AS open, ${SUMS} FROM site_counts c`,
  );
  const { sites, open, ...counts } = all.get() as unknown as TaskCounts & { sites: number; open: number };
  const countIn = (state: SiteState, more = "") => {
    const count = connection.sql(
      `SELECT count(*) AS sites, count(*) FILTER (WHERE ${HAS_WORK}) AS open
       FROM ${state === "active" ? COUNTS_FIRST : SITES_FIRST} WHERE ${more}${IN_STATE[state]}`,
    );
    return (state === "paused" ? count.get() : count.get({ now })) as { sites: number; open: number };
  };
  const [paused, blocked] = [countIn("paused"), countIn("blocked")];
  const active = countIn("active", "c.running > 0 AND ");
  const waiting = open - paused.open - blocked.open - active.sites;
  return {
    counts: { ...NO_TASKS, ...counts },
    sites,
    byState: { active: active.sites, waiting, paused: paused.sites, blocked: blocked.sites },
  };
}

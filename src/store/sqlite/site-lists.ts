/** Lists of sites, and sums over all of them. */
import { NO_TASKS, type TaskCounts } from "../../domain/run-end.ts";
import type { RunHold } from "../../domain/run-hold.ts";
import { SITE_STATES, type SiteState } from "../../domain/site-states.ts";
import { type RunState, TASK_STATES } from "../../domain/states.ts";
import type { HeldRun, SiteFilter, SiteRecord, SiteTotals } from "../site-records.ts";
import { type Context, parseJson, RUN_MAY_WORK } from "./context.ts";
import { STREAM_IS_OPEN } from "./lanes.ts";
import { likePattern } from "./like.ts";
import { SELECT_SITE, toSites } from "./sites.ts";

/** Written as the partial index has it, so that SQLite uses the index. */
const HAS_WORK = "(c.queued > 0 OR c.running > 0 OR c.retrying > 0)";
const IS_FREE = "s.paused = 0 AND coalesce(s.breaker_open_until, 0) <= :now";
const STANDS = "(c.running = 0 OR s.waiting IS NOT NULL)";

const IN_STATE: Readonly<Record<SiteState, string>> = {
  paused: "s.paused = 1",
  blocked: "s.paused = 0 AND s.breaker_open_until > :now",
  waiting: `${HAS_WORK} AND ${IS_FREE} AND ${STANDS}`,
  active: `${HAS_WORK} AND ${IS_FREE} AND NOT ${STANDS}`,
};

export function readSites(context: Context, filter: SiteFilter, now: number): SiteRecord[] {
  // Only what is asked for stands in the statement, so that an index can serve it.
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

export function readBusySites(context: Context, limit: number): SiteRecord[] {
  const list = context.connection
    .sql(`${SELECT_SITE} WHERE ${HAS_WORK} ORDER BY c.running DESC, c.queued + c.retrying DESC, s.site LIMIT ?`)
    .all(limit);
  return toSites(context, list);
}

/** Whoever may work comes first: then nothing is held. */
export function readRunHeldAt({ connection }: Context, site: string): HeldRun | null {
  const row = connection
    .sql(
      `SELECT r.status, r.hold, ${RUN_MAY_WORK} AS may FROM streams s INDEXED BY streams_open_at_site
       JOIN runs r ON r.n = s.run WHERE s.site = ? AND ${STREAM_IS_OPEN} AND r.finished_at IS NULL
       ORDER BY may DESC, r.n LIMIT 1`,
    )
    .get(site) as { status: RunState; hold: string | null; may: number } | undefined;
  if (row === undefined || row.may === 1) return null;
  return { status: row.status, hold: parseJson<RunHold | null>(row.hold, null) };
}

const SUMS = TASK_STATES.map((name) => `coalesce(sum(${name}), 0) AS ${name}`).join(", ");

export function readSiteTotals({ connection }: Context, now: number): SiteTotals {
  const { sites, ...counts } = connection
    .sql(`SELECT count(*) AS sites, ${SUMS} FROM site_counts`)
    .get() as unknown as {
    sites: number;
  } & TaskCounts;
  const inState = (state: SiteState) => {
    const from = "FROM sites s JOIN site_counts c ON c.site = s.site";
    const count = connection.sql(`SELECT count(*) AS n ${from} WHERE ${IN_STATE[state]}`);
    return (state === "paused" ? count.get() : count.get({ now })) as { n: number };
  };
  return {
    counts: { ...NO_TASKS, ...counts },
    sites,
    byState: Object.fromEntries(SITE_STATES.map((state) => [state, inState(state).n])) as SiteTotals["byState"],
  };
}

/** Site dependencies: work at a site waits until other sites are finished. */
import { OrbError } from "../../../base/errors.ts";
import { type Context, RUN_MAY_WORK, rows, stampIdleLane } from "../kernel/context.ts";
import { PARENT_LANE_OF, LANES_OF_SITE } from "../lanes/shards.ts";

/**
 * Only work of started, unfinished runs is waited for. Not of a crawl that waits for its turn: its dependent might hold
 * that turn.
 */
const RUN_COUNTS = `q.finished_at IS NULL AND q.start_event IS NOT NULL AND NOT (q.kind = 'crawl'
  AND (q.status = 'queued' OR (q.hold IS NOT NULL AND json_extract(q.hold, '$.reason') = 'turn')))`;

/** Since when a relevant run has had open work at site `d.depends_on`; the earliest of several. Null: there is none. */
const OPEN_SINCE = `(SELECT o.opened_event FROM streams o INDEXED BY streams_opened CROSS JOIN runs q ON q.n = o.run
  WHERE o.site = d.depends_on AND o.opened_event IS NOT NULL AND ${RUN_COUNTS} ORDER BY o.opened_event LIMIT 1)`;

/**
 * Prefix for statements that check whether work may start: the waits of a site are the same for all its runs, of which
 * there may be ten thousand. Only evaluated where dependencies are configured.
 */
export const withSiteWaits = (which: string) => `WITH site_waits AS MATERIALIZED (
  SELECT d.site, min(${OPEN_SINCE}) AS since FROM site_deps d ${which} GROUP BY d.site)`;

/** Joined to streams `s`: a subquery would be evaluated for each of them. */
export const JOIN_WAITS = "LEFT JOIN site_waits w ON w.site = s.site";

/** The lane is the first parameter. */
export const WITH_WAITS_OF_LANE = withSiteWaits(
  `WHERE d.site IN (SELECT site FROM sites WHERE lane = ${PARENT_LANE_OF})`,
);

const RUN_HAS_WORK = `EXISTS (SELECT 1 FROM streams o INDEXED BY streams_by_run WHERE o.run = r.n AND o.site = d.depends_on AND o.opened_event IS NOT NULL)`;

/**
 * A run's work at a site waits while the run itself has open work at a required site, or while another run has had some
 * there since before this one started. So later runs, and new work of older runs, block no earlier run. Deadlocks are
 * impossible: dependencies have no cycles.
 */
export const SITE_MAY_WORK = `NOT (EXISTS (SELECT 1 FROM site_deps) AND (
  coalesce(w.since < r.start_event, FALSE) OR EXISTS (SELECT 1 FROM site_deps d WHERE d.site = s.site AND ${RUN_HAS_WORK})))`;

/** Within the transaction that first lets a run work, after its event. */
export function stampStartEvent({ connection }: Context, run: number): void {
  connection
    .sql(
      `UPDATE runs AS r SET start_event = ${connection.dialect.tick} WHERE n = ? AND start_event IS NULL AND ${RUN_MAY_WORK}`,
    )
    .run(run);
}

/** The sites that a run's work at this one waits for. */
export function sitesWaitedFor({ connection }: Context, site: string, run: number): string[] {
  const list = connection
    .sql(
      `SELECT d.depends_on FROM runs r CROSS JOIN site_deps d ON d.site = ?1 WHERE r.n = ?2
         AND (${RUN_HAS_WORK} OR ${OPEN_SINCE} < coalesce(r.start_event, 9000000000000000000)) ORDER BY d.depends_on`,
    )
    .all(site, run);
  return rows<{ depends_on: string }>(list).map(({ depends_on }) => depends_on);
}

/** The newest run with open work at a site; null: there is none. */
export function newestOpenRun({ connection }: Context, site: string): number | null {
  const newest = connection.sql("SELECT max(run) AS n FROM streams WHERE site = ? AND opened_event IS NOT NULL");
  return (newest.get(site) as { n: number | null }).n;
}

/** Lanes whose work may continue because something was finished at these sites. */
export function lanesThatWaitFor(context: Context, sites: Iterable<string>): string[] {
  const waiting = context.connection.sql("SELECT site FROM site_deps WHERE depends_on = ?");
  // Runs that started first are the likeliest to be free.
  const find = context.connection.sql(
    `${withSiteWaits("WHERE d.site = ?1")}
     SELECT l.id, l.lane FROM sites p JOIN lanes l ON l.id IN ${LANES_OF_SITE} WHERE p.site = ?1 AND EXISTS (
       SELECT 1 FROM streams s INDEXED BY streams_opened CROSS JOIN runs r ON r.n = s.run ${JOIN_WAITS}
       WHERE s.site = p.site AND s.lane = l.id AND s.opened_event IS NOT NULL AND ${RUN_MAY_WORK} AND ${SITE_MAY_WORK})`,
  );
  const dependent = new Set(
    [...sites].flatMap((needs) => rows<{ site: string }>(waiting.all(needs))).map(({ site }) => site),
  );
  return [...dependent].flatMap((site) => stampLanes(context, find.all(site)));
}

/** As `lanesThatWaitFor`, for all sites with open work of a run at its end. */
export function lanesThatWaitForRun(context: Context, run: number): string[] {
  const left = context.connection.sql(
    `SELECT DISTINCT d.depends_on FROM site_deps d JOIN runs r ON r.n = ? WHERE ${RUN_HAS_WORK}`,
  );
  return lanesThatWaitFor(
    context,
    rows<{ depends_on: string }>(left.all(run)).map(({ depends_on }) => depends_on),
  );
}

function stampLanes(context: Context, list: unknown[]): string[] {
  return rows<{ id: number; lane: string }>(list).map(({ id, lane }) => {
    stampIdleLane(context, id);
    return lane;
  });
}

/** Replaces the dependencies of a site. A cycle would deadlock, and is rejected. */
export function writeDeps(context: Context, site: string, needs: readonly string[]): void {
  const { connection } = context;
  for (const dependency of needs) {
    const path = pathBetween(context, dependency, site);
    if (path !== null) throw cycleError([site, ...path]);
  }
  connection.sql("DELETE FROM site_deps WHERE site = ?").run(site);
  const insert = connection.sql("INSERT INTO site_deps (site, depends_on) VALUES (?, ?) ON CONFLICT DO NOTHING");
  for (const dependency of needs) insert.run(site, dependency);
}

function cycleError(path: readonly string[]): OrbError {
  const what = `would create a cycle of sites that wait for each other: ${path.join(" → ")}`;
  return new OrbError("input_invalid", `depends_on ${what}`, { fields: [{ path: "depends_on", message: what }] });
}

/** A dependency path between two sites; null: there is none. */
function pathBetween({ connection }: Context, from: string, to: string): string[] | null {
  const cameFrom = new Map<string, string | null>([[from, null]]);
  for (const [site] of cameFrom) {
    if (site === to) {
      const path: string[] = [];
      for (let at: string | null = to; at !== null; at = cameFrom.get(at) ?? null) path.unshift(at);
      return path;
    }
    const next = connection.sql("SELECT depends_on FROM site_deps WHERE site = ? ORDER BY depends_on").all(site);
    for (const { depends_on: needs } of rows<{ depends_on: string }>(next))
      if (!cameFrom.has(needs)) cameFrom.set(needs, site);
  }
  return null;
}

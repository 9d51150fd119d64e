/** Sites whose work waits until that of others is finished. */
import { OrbError } from "../../../base/errors.ts";
import { type Context, RUN_MAY_WORK, rows, stampIdleLane } from "../kernel/context.ts";
import { HOME_OF_LANE, LANES_OF_SITE } from "../lanes/shards.ts";

/**
 * Whose open work is waited for: that of a run which has begun, and not ended. A crawl that waits for its turn is not waited
 * for: what waits for it might have the turn.
 */
const COUNTS = `q.finished_at IS NULL AND q.start_event IS NOT NULL AND NOT (q.kind = 'crawl'
  AND (q.status = 'queued' OR (q.hold IS NOT NULL AND json_extract(q.hold, '$.reason') = 'turn')))`;

/** Since when a run that counts has had open work at site `d.depends_on`; of several the first. Null: there is none. */
const OPEN_SINCE = `(SELECT o.opened_event FROM streams o INDEXED BY streams_opened CROSS JOIN runs q ON q.n = o.run
  WHERE o.site = d.depends_on AND o.opened_event IS NOT NULL AND ${COUNTS} ORDER BY o.opened_event LIMIT 1)`;

/**
 * Goes before a statement that asks whether work may be done: what is waited for at a site is the same for all its runs, and
 * there may be ten thousand of them. It is only looked up where somebody has said that sites depend on each other.
 */
export const withSiteWaits = (which: string) => `WITH site_waits AS MATERIALIZED (
  SELECT d.site, min(${OPEN_SINCE}) AS since FROM site_deps d ${which} GROUP BY d.site)`;

/** Joined to streams `s`: asked for in a subquery it would be found anew for each of them. */
export const JOIN_WAITS = "LEFT JOIN site_waits w ON w.site = s.site";

/** With the lane as the first value. */
export const WITH_WAITS_OF_LANE = withSiteWaits(
  `WHERE d.site IN (SELECT site FROM sites WHERE lane = ${HOME_OF_LANE})`,
);

const OWN_WORK = `EXISTS (SELECT 1 FROM streams o INDEXED BY streams_by_run WHERE o.run = r.n AND o.site = d.depends_on AND o.opened_event IS NOT NULL)`;

/**
 * The work of a run at a site waits while the run itself has open work at a site that is needed, or while another one has
 * had some there since before this one began. So whoever comes later keeps nobody waiting, and neither does new work of
 * older runs. No two can wait for each other: sites do not need each other in circles.
 */
export const SITE_MAY_WORK = `NOT (EXISTS (SELECT 1 FROM site_deps) AND (
  coalesce(w.since < r.start_event, FALSE) OR EXISTS (SELECT 1 FROM site_deps d WHERE d.site = s.site AND ${OWN_WORK})))`;

/** Within the transaction that lets a run work for the first time, behind the event that says so. */
export function runBegins({ connection }: Context, run: number): void {
  connection
    .sql(
      `UPDATE runs AS r SET start_event = (SELECT max(n) FROM events) WHERE n = ? AND start_event IS NULL AND ${RUN_MAY_WORK}`,
    )
    .run(run);
}

/** The sites that keep the work of a run at this one waiting. */
export function sitesWaitedFor({ connection }: Context, site: string, run: number): string[] {
  const list = connection
    .sql(
      `SELECT d.depends_on FROM runs r CROSS JOIN site_deps d ON d.site = ?1 WHERE r.n = ?2
         AND (${OWN_WORK} OR ${OPEN_SINCE} < coalesce(r.start_event, 9000000000000000000)) ORDER BY d.depends_on`,
    )
    .all(site, run);
  return rows<{ depends_on: string }>(list).map(({ depends_on }) => depends_on);
}

/** The newest run with open work at a site; null: there is none. */
export function newestOpenRun({ connection }: Context, site: string): number | null {
  const newest = connection.sql("SELECT max(run) AS n FROM streams WHERE site = ? AND opened_event IS NOT NULL");
  return (newest.get(site) as { n: number | null }).n;
}

/** Lanes in which work may go on that waited for these sites, at which something was finished. */
export function lanesThatWaitFor(context: Context, sites: Iterable<string>): string[] {
  const waiting = context.connection.sql("SELECT site FROM site_deps WHERE depends_on = ?");
  // Those that began first are the likeliest to be free.
  const find = context.connection.sql(
    `${withSiteWaits("WHERE d.site = ?1")}
     SELECT l.id, l.lane FROM sites p JOIN lanes l ON l.id IN ${LANES_OF_SITE} WHERE p.site = ?1 AND EXISTS (
       SELECT 1 FROM streams s INDEXED BY streams_opened CROSS JOIN runs r ON r.n = s.run ${JOIN_WAITS}
       WHERE s.site = p.site AND s.lane = l.id AND s.opened_event IS NOT NULL AND ${RUN_MAY_WORK} AND ${SITE_MAY_WORK})`,
  );
  const dependent = new Set(
    [...sites].flatMap((needs) => rows<{ site: string }>(waiting.all(needs))).map((one) => one.site),
  );
  return [...dependent].flatMap((site) => told(context, find.all(site)));
}

/** As above, for all sites at which a run has left something at its end. */
export function lanesThatWaitForRun(context: Context, run: number): string[] {
  const left = context.connection.sql(
    `SELECT DISTINCT d.depends_on FROM site_deps d JOIN runs r ON r.n = ? WHERE ${OWN_WORK}`,
  );
  return lanesThatWaitFor(
    context,
    rows<{ depends_on: string }>(left.all(run)).map(({ depends_on }) => depends_on),
  );
}

function told(context: Context, list: unknown[]): string[] {
  return rows<{ id: number; lane: string }>(list).map(({ id, lane }) => {
    stampIdleLane(context, id);
    return lane;
  });
}

/** Replaces what a site needs. A circle would wait for itself for ever, and is refused. */
export function writeDeps(context: Context, site: string, needs: readonly string[]): void {
  const { connection } = context;
  for (const one of needs) {
    const path = pathBetween(context, one, site);
    if (path !== null) throw circle([site, ...path]);
  }
  connection.sql("DELETE FROM site_deps WHERE site = ?").run(site);
  const insert = connection.sql("INSERT INTO site_deps (site, depends_on) VALUES (?, ?) ON CONFLICT DO NOTHING");
  for (const one of needs) insert.run(site, one);
}

function circle(path: readonly string[]): OrbError {
  const what = `would make a circle in which each site waits for the next one: ${path.join(" → ")}`;
  return new OrbError("input_invalid", `depends_on ${what}`, { fields: [{ path: "depends_on", message: what }] });
}

/** From site to site along what they need; null: one does not lead to the other. */
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

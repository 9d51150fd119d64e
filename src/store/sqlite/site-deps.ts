/** Sites whose work waits until that of others is finished. */
import { OrbError } from "../../base/errors.ts";
import { type Context, rows, stampIdleLane } from "./context.ts";

const isOpen = (table: string) => `(${table}.queued > 0 OR ${table}.running > 0 OR ${table}.retrying > 0)`;

/**
 * Open work `o` of a site, found by the lane that the site is in. It is only looked for where somebody has said that sites
 * depend on each other.
 */
const openAt = (site: string) => `streams o INDEXED BY streams_open
  ON o.lane = (SELECT lane FROM sites WHERE site = ${site}) AND o.site = ${site} AND ${isOpen("o")}`;

/** It is waited for, unless it is that of a crawl which waits for its turn: what waits for it might have the turn. */
const COUNTS = `EXISTS (SELECT 1 FROM runs q WHERE q.n = o.run AND q.finished_at IS NULL
  AND (q.kind <> 'crawl' OR q.status <> 'queued'))`;

/**
 * The work of a run at a site waits while the run itself, or one that is older, has open work at a site that is needed. Only
 * older ones: then no two runs can wait for each other, and whoever comes later keeps nobody waiting.
 */
export const SITE_MAY_WORK = `NOT (EXISTS (SELECT 1 FROM site_deps) AND EXISTS (SELECT 1 FROM site_deps d
  CROSS JOIN ${openAt("d.needs")} AND o.run <= s.run WHERE d.site = s.site AND ${COUNTS}))`;

/** The sites that keep the work of a run at this one waiting. */
export function sitesWaitedFor({ connection }: Context, site: string, run: number): string[] {
  const list = connection
    .sql(
      `SELECT DISTINCT d.needs FROM site_deps d CROSS JOIN ${openAt("d.needs")} AND o.run <= ?2
       WHERE d.site = ?1 AND ${COUNTS} ORDER BY d.needs`,
    )
    .all(site, run);
  return rows<{ needs: string }>(list).map(({ needs }) => needs);
}

/** The newest run with open work at a site; null: there is none. */
export function newestOpenRun({ connection }: Context, site: string): number | null {
  const newest = connection.sql(`SELECT max(o.run) AS n FROM sites p CROSS JOIN ${openAt("p.site")} WHERE p.site = ?`);
  return (newest.get(site) as { n: number | null }).n;
}

/** Where the oldest run has work at site `w`, as `s`: if that must wait, all that is there must. */
const OLDEST = `CROSS JOIN streams s ON s.id = (SELECT o.id FROM sites p CROSS JOIN ${openAt("p.site")}
    WHERE p.site = w.site ORDER BY o.run LIMIT 1) JOIN lanes l ON l.id = s.lane`;

/** Lanes in which work may go on that waited for these sites, at which something was finished. */
export function lanesThatWaitFor(context: Context, sites: Iterable<string>): string[] {
  const find = context.connection.sql(
    `SELECT l.id, l.lane FROM site_deps w ${OLDEST} WHERE w.needs = ? AND ${SITE_MAY_WORK}`,
  );
  return [...sites].flatMap((needs) => told(context, find.all(needs)));
}

/** As above, for all sites at which a run has left something at its end. */
export function lanesThatWaitForRun(context: Context, run: number): string[] {
  const find = context.connection.sql(
    `SELECT l.id, l.lane FROM site_deps w ${OLDEST} WHERE ${SITE_MAY_WORK}
       AND EXISTS (SELECT 1 FROM streams n WHERE n.run = ? AND n.site = w.needs AND ${isOpen("n")})`,
  );
  return told(context, find.all(run));
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
  const insert = connection.sql("INSERT INTO site_deps (site, needs) VALUES (?, ?) ON CONFLICT DO NOTHING");
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
    const next = connection.sql("SELECT needs FROM site_deps WHERE site = ? ORDER BY needs").all(site);
    for (const { needs } of rows<{ needs: string }>(next)) if (!cameFrom.has(needs)) cameFrom.set(needs, site);
  }
  return null;
}

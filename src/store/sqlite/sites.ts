import { OrbError } from "../../base/errors.ts";
import { CLOSED_BREAKER } from "../../domain/circuit.ts";
import { learnBrowser, learnPlain } from "../../domain/learned.ts";
import type { Report } from "../../domain/outcome.ts";
import type { TaskCounts } from "../../domain/run-end.ts";
import type { LearnedStrategy } from "../../domain/run-facts.ts";
import type { SiteHealth } from "../../domain/site-health.ts";
import { TASK_STATES } from "../../domain/states.ts";
import type { Waiting } from "../../domain/waiting.ts";
import type { Politeness, SiteLimits, SiteRecord } from "../site-records.ts";
import { bumpControl, type Context, parseJson, rows } from "./context.ts";
import { newestOpenRun, sitesWaitedFor } from "./site-deps.ts";

type SiteRow = TaskCounts & {
  site: string;
  lane: number;
  lane_name: string;
  max_concurrency: number | null;
  requests_per_second: number | null;
  burst: number | null;
  min_delay_ms: number | null;
  max_memory_mb: number | null;
  strategy: SiteLimits["strategy"];
  respect_robots: number | null;
  shards: number | null;
  site_group: string | null;
  depends_on: string;
  paused: number;
  hold_until: number;
  hold_step: number;
  breaker_failures: number;
  breaker_open_until: number | null;
  breaker_failed_probes: number;
  learned: string | null;
  health: string | null;
  waiting: string | null;
  first_seen_at: number | null;
};

/** With the site as `s`, and its counts as `c`. */
export const SELECT_SITE = `SELECT s.*, ${TASK_STATES.map((name) => `c.${name}`).join(", ")}, l.lane AS lane_name,
    (SELECT json_group_array(d.needs) FROM site_deps d WHERE d.site = s.site) AS depends_on
  FROM sites s JOIN site_counts c ON c.site = s.site JOIN lanes l ON l.id = s.lane`;

/** The longest that a site of the lane asks for: they are one server. */
const CRAWL_DELAY = `SELECT max(r.crawl_delay_ms) AS ms FROM sites o
  CROSS JOIN robots r ON r.site = o.site AND r.crawl_delay_ms IS NOT NULL WHERE o.lane = ?`;

function toRecord(context: Context, row: SiteRow, crawlDelayMs: number | null): SiteRecord {
  const dependsOn = (JSON.parse(row.depends_on) as string[]).toSorted();
  return {
    site: row.site,
    lane: row.lane_name,
    maxConcurrency: row.max_concurrency,
    requestsPerSecond: row.requests_per_second,
    burst: row.burst,
    minDelayMs: row.min_delay_ms,
    maxMemoryMb: row.max_memory_mb,
    strategy: row.strategy,
    respectRobots: row.respect_robots === null ? null : row.respect_robots === 1,
    shards: row.shards,
    group: row.site_group,
    dependsOn,
    paused: row.paused === 1,
    holdUntil: row.hold_until,
    holdStep: row.hold_step,
    breaker: {
      failures: row.breaker_failures,
      openUntil: row.breaker_open_until,
      failedProbes: row.breaker_failed_probes,
    },
    crawlDelayMs,
    learned: parseJson<LearnedStrategy | null>(row.learned, null),
    health: parseJson<SiteHealth | null>(row.health, null),
    waiting: parseJson<Waiting | null>(row.waiting, null),
    waitsFor: dependsOn.length === 0 ? [] : waitsFor(context, row.site),
    counts: Object.fromEntries(TASK_STATES.map((name) => [name, row[name]])) as TaskCounts,
    firstSeenAt: row.first_seen_at,
  };
}

/** What keeps the newest of its runs waiting. */
function waitsFor(context: Context, site: string): string[] {
  const run = newestOpenRun(context, site);
  return run === null ? [] : sitesWaitedFor(context, site, run);
}

export function toSites(context: Context, list: unknown[]): SiteRecord[] {
  // Once for each lane: a group may have thousands of sites.
  const delays = new Map<number, number | null>();
  const delayOf = (lane: number): number | null => {
    let ms = delays.get(lane);
    if (ms === undefined) {
      ({ ms } = context.connection.sql(CRAWL_DELAY).get(lane) as { ms: number | null });
      delays.set(lane, ms);
    }
    return ms;
  };
  return rows<SiteRow>(list).map((row) => toRecord(context, row, delayOf(row.lane)));
}

export function readSite(context: Context, site: string): SiteRecord | null {
  return toSites(context, context.connection.sql(`${SELECT_SITE} WHERE s.site = ?`).all(site))[0] ?? null;
}

export function openBreakers(context: Context, now: number, limit: number): SiteRecord[] {
  const list = context.connection
    .sql(`${SELECT_SITE} WHERE s.breaker_open_until > ? ORDER BY s.breaker_open_until DESC LIMIT ?`)
    .all(now, limit);
  return toSites(context, list);
}

/** Any of the lane's sites. */
export function siteOfLane(context: Context, lane: number): SiteRecord | null {
  return toSites(context, context.connection.sql(`${SELECT_SITE} WHERE s.lane = ? LIMIT 1`).all(lane))[0] ?? null;
}

/** What a server asked for holds for all of its sites. */
export function writePoliteness({ connection }: Context, lane: number, what: Politeness): void {
  connection
    .sql(
      `UPDATE sites SET hold_until = ?, hold_step = ?, breaker_failures = ?, breaker_open_until = ?, breaker_failed_probes = ?
       WHERE lane = ?`,
    )
    .run(
      Math.round(what.holdUntil),
      what.holdStep,
      what.breaker.failures,
      what.breaker.openUntil === null ? null : Math.round(what.breaker.openUntil),
      what.breaker.failedProbes,
      lane,
    );
}

export function writeHealth({ connection }: Context, site: string, health: SiteHealth): void {
  connection.sql("UPDATE sites SET health = ? WHERE site = ?").run(JSON.stringify(health), site);
}

export function writeWaiting({ connection }: Context, lane: number, waiting: Waiting | null): void {
  const text = waiting === null ? null : JSON.stringify(waiting);
  connection.sql("UPDATE sites SET waiting = ?1 WHERE lane = ?2 AND waiting IS NOT ?1").run(text, lane);
}

export function resetBreaker(context: Context, site: string): void {
  context.connection.write(
    () => {
      const row = context.connection.sql("SELECT lane FROM sites WHERE site = ?").get(site) as
        | { lane: number }
        | undefined;
      if (row === undefined) throw new OrbError("not_found", `no site named ${site} is known`);
      writePoliteness(context, row.lane, { holdUntil: 0, holdStep: 0, breaker: CLOSED_BREAKER });
      bumpControl(context);
    },
    { durable: true },
  );
}

/** Pages under way together each add what they found. */
export function writeLearned({ connection }: Context, lesson: NonNullable<Report["learned"]>, now: number): void {
  const { site, url, needed, because } = lesson;
  const row = connection.sql("SELECT learned FROM sites WHERE site = ?").get(site) as
    | { learned: string | null }
    | undefined;
  const before = parseJson<LearnedStrategy | null>(row?.learned, null);
  const after = needed === "browser" ? learnBrowser(before, url, because, now) : learnPlain(before, now);
  if (after !== null) connection.sql("UPDATE sites SET learned = ? WHERE site = ?").run(JSON.stringify(after), site);
}

export function forgetLearned(context: Context, site: string): SiteRecord {
  return context.connection.write(
    () => {
      if (readSite(context, site) === null) throw new OrbError("not_found", `no site named ${site} is known`);
      context.connection.sql("UPDATE sites SET learned = NULL WHERE site = ?").run(site);
      return readSite(context, site) as SiteRecord;
    },
    { durable: true },
  );
}

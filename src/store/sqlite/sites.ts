import { OrbError } from "../../base/errors.ts";
import { CLOSED_BREAKER } from "../../domain/circuit.ts";
import { laneOfSite } from "../../domain/lane.ts";
import type { Politeness, SiteLimits, SiteRecord } from "../site-records.ts";
import { learnBrowser, learnPlain } from "../../domain/learned.ts";
import type { Report } from "../../domain/outcome.ts";
import type { LearnedStrategy } from "../../domain/run-facts.ts";
import { bumpControl, type Context, parseJson, rows, stampIdleLane } from "./context.ts";
import { laneId } from "./insert-tasks.ts";

interface SiteRow {
  site: string;
  lane_name: string;
  max_concurrency: number | null;
  requests_per_second: number | null;
  burst: number | null;
  min_delay_ms: number | null;
  paused: number;
  hold_until: number;
  hold_step: number;
  breaker_failures: number;
  breaker_open_until: number | null;
  breaker_failed_probes: number;
  learned: string | null;
  crawl_delay_ms: number | null;
}

const SELECT_SITE = `SELECT s.*, l.lane AS lane_name,
    (SELECT max(r.crawl_delay_ms) FROM robots r WHERE r.site = s.site AND r.crawl_delay_ms IS NOT NULL) AS crawl_delay_ms
  FROM sites s JOIN lanes l ON l.id = s.lane`;

function toRecord(row: SiteRow): SiteRecord {
  return {
    site: row.site,
    lane: row.lane_name,
    maxConcurrency: row.max_concurrency,
    requestsPerSecond: row.requests_per_second,
    burst: row.burst,
    minDelayMs: row.min_delay_ms,
    paused: row.paused === 1,
    holdUntil: row.hold_until,
    holdStep: row.hold_step,
    breaker: {
      failures: row.breaker_failures,
      openUntil: row.breaker_open_until,
      failedProbes: row.breaker_failed_probes,
    },
    crawlDelayMs: row.crawl_delay_ms,
    learned: parseJson<LearnedStrategy | null>(row.learned, null),
  };
}

export function readSite({ connection }: Context, site: string): SiteRecord | null {
  const row = connection.sql(`${SELECT_SITE} WHERE s.site = ?`).get(site) as SiteRow | undefined;
  return row === undefined ? null : toRecord(row);
}

export function readSites({ connection }: Context): SiteRecord[] {
  return rows<SiteRow>(connection.sql(`${SELECT_SITE} ORDER BY s.site`).all()).map(toRecord);
}

export function openBreakers({ connection }: Context, now: number, limit: number): SiteRecord[] {
  const list = connection
    .sql(`${SELECT_SITE} WHERE s.breaker_open_until > ? ORDER BY s.breaker_open_until DESC LIMIT ?`)
    .all(now, limit);
  return rows<SiteRow>(list).map(toRecord);
}

export function siteOfLane({ connection }: Context, lane: number): SiteRecord | null {
  const row = connection.sql(`${SELECT_SITE} WHERE s.lane = ? LIMIT 1`).get(lane) as SiteRow | undefined;
  return row === undefined ? null : toRecord(row);
}

const COLUMNS: Readonly<Record<keyof SiteLimits, string>> = {
  maxConcurrency: "max_concurrency",
  requestsPerSecond: "requests_per_second",
  burst: "burst",
  minDelayMs: "min_delay_ms",
  paused: "paused",
};

export function setSite(context: Context, site: string, change: Partial<SiteLimits>): SiteRecord {
  const { connection } = context;
  return connection.write(
    () => {
      // A site that already belongs to a lane stays there.
      const known = connection.sql("SELECT lane FROM sites WHERE site = ?").get(site) as { lane: number } | undefined;
      const lane = known?.lane ?? laneId(context, laneOfSite(site), site);
      if (change.paused === false) stampIdleLane(context, lane);
      for (const [name, value] of Object.entries(change) as [keyof SiteLimits, number | boolean | null][]) {
        const column = COLUMNS[name];
        if (column === undefined) throw new OrbError("input_invalid", `a site has no limit named ${name}`);
        connection
          .sql(`UPDATE sites SET ${column} = ? WHERE site = ?`)
          .run(typeof value === "boolean" ? Number(value) : value, site);
      }
      bumpControl(context);
      return readSite(context, site) as SiteRecord;
    },
    { durable: true },
  );
}

export function writePoliteness({ connection }: Context, site: string, what: Politeness): void {
  connection
    .sql(
      `UPDATE sites SET hold_until = ?, hold_step = ?, breaker_failures = ?, breaker_open_until = ?, breaker_failed_probes = ?
       WHERE site = ?`,
    )
    .run(
      Math.round(what.holdUntil),
      what.holdStep,
      what.breaker.failures,
      what.breaker.openUntil === null ? null : Math.round(what.breaker.openUntil),
      what.breaker.failedProbes,
      site,
    );
}

export function resetBreaker(context: Context, site: string): void {
  context.connection.write(
    () => {
      const record = readSite(context, site);
      if (record === null) throw new OrbError("not_found", `no site named ${site} is known`);
      writePoliteness(context, site, { holdUntil: 0, holdStep: 0, breaker: CLOSED_BREAKER });
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

import { OrbError } from "../../../base/errors.ts";
import { CLOSED_BREAKER } from "../../../domain/lane/circuit.ts";
import type { SiteFailure } from "../../../domain/run/last-failure.ts";
import { learnBrowser, learnPlain } from "../../../domain/page/learned.ts";
import type { Report } from "../../../domain/run/outcome.ts";
import type { TaskCounts } from "../../../domain/run/run-end.ts";
import type { LearnedStrategy } from "../../../domain/run/run-facts.ts";
import { mergeHealth, NO_HEALTH, type SiteHealth } from "../../../domain/site/site-health.ts";
import { TASK_STATES } from "../../../domain/run/states.ts";
import type { Waiting } from "../../../domain/run/waiting.ts";
import type { Politeness, SiteLimits, SiteRecord } from "../../records/site-records.ts";
import type { LaneHold, SettledTask } from "../../ports/port.ts";
import type { Row } from "../kernel/connection.ts";
import { bumpControl, type Context, parseJson, rows, toJson } from "../kernel/context.ts";
import { PARENT_LANE_OF } from "../lanes/shards.ts";
import { changeSites } from "./change-sites.ts";
import { newestOpenRun, sitesWaitedFor } from "./site-deps.ts";

interface PolitenessRow {
  hold_until: number;
  hold_step: number;
  breaker_failures: number;
  breaker_pages: string | null;
  breaker_open_until: number | null;
  breaker_failed_probes: number;
  last_failure: string | null;
}

type SiteRow = TaskCounts &
  PolitenessRow & {
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
    shard_count: number;
    target_shard_count: number;
    /** For a sharded site: health reported by the owners of its other shards. */
    shards_health: string | null;
    site_group: string | null;
    depends_on: string;
    paused: number;
    learned: string | null;
    health: string | null;
    waiting: string | null;
    first_seen_at: number | null;
    /** Only in queries for one site. */
    crawl_delay_ms?: number | null;
  };

/** The site is `s`, its counts `c`. */
export const SELECT_SITE = `SELECT s.*, ${TASK_STATES.map((name) => `c.${name}`).join(", ")}, l.lane AS lane_name,
    (SELECT coalesce(json_group_array(d.depends_on), '[]') FROM site_deps d WHERE d.site = s.site) AS depends_on,
    CASE WHEN s.shard_count > 1 THEN (SELECT json_group_array(x.health) FROM lanes x
      WHERE x.parent_lane = s.lane AND x.shard < s.shard_count AND x.health IS NOT NULL) END AS shards_health
  FROM sites s JOIN site_counts c ON c.site = s.site JOIN lanes l ON l.id = s.lane`;

/** The longest delay among the lane's sites: they are one server. */
const crawlDelay = (lane: string) => `SELECT max(r.crawl_delay_ms) AS ms FROM sites o
  CROSS JOIN robots r ON r.site = o.site AND r.crawl_delay_ms IS NOT NULL WHERE o.lane = ${lane}`;
const CRAWL_DELAY = crawlDelay("?");
const SELECT_ONE = SELECT_SITE.replace("SELECT s.*", `SELECT s.*, (${crawlDelay("s.lane")}) AS crawl_delay_ms`);

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
    shardCount: row.shard_count,
    targetShardCount: row.target_shard_count,
    group: row.site_group,
    dependsOn,
    paused: row.paused === 1,
    ...politenessOf(row),
    crawlDelayMs,
    learned: parseJson<LearnedStrategy | null>(row.learned, null),
    health: healthOf(row),
    waiting: parseJson<Waiting | null>(row.waiting, null),
    waitsFor: dependsOn.length === 0 ? [] : waitsFor(context, row.site),
    counts: Object.fromEntries(TASK_STATES.map((name) => [name, row[name]])) as TaskCounts,
    firstSeenAt: row.first_seen_at,
  };
}

function politenessOf(row: PolitenessRow): Politeness {
  return {
    holdUntil: row.hold_until,
    holdStep: row.hold_step,
    breaker: {
      failures: row.breaker_failures,
      pages: parseJson<string[]>(row.breaker_pages, []),
      openUntil: row.breaker_open_until,
      failedProbes: row.breaker_failed_probes,
    },
    lastFailure: parseJson<SiteFailure | null>(row.last_failure, null),
  };
}

/** Merged over all shards. */
function healthOf({ health, shards_health: others }: SiteRow): SiteHealth | null {
  const firstShard = parseJson<SiteHealth | null>(health, null);
  const list = parseJson<string[]>(others, []).map((text) => JSON.parse(text) as SiteHealth);
  return list.length === 0 ? firstShard : list.reduce(mergeHealth, firstShard ?? NO_HEALTH);
}

/** As reported by the owner of one shard. */
export function healthOfShard(
  { connection }: Context,
  site: string,
  { id, shard }: { id: number; shard: number },
): SiteHealth | null {
  const row =
    shard === 0
      ? connection.sql("SELECT health FROM sites WHERE site = ?").get(site)
      : connection.sql("SELECT health FROM lanes WHERE id = ?").get(id);
  return parseJson<SiteHealth | null>(row?.["health"] as string | null | undefined, null);
}

/** What its newest run waits for. */
function waitsFor(context: Context, site: string): string[] {
  const run = newestOpenRun(context, site);
  return run === null ? [] : sitesWaitedFor(context, site, run);
}

export function toSites(context: Context, list: unknown[]): SiteRecord[] {
  // Once per lane: a group may have thousands of sites.
  const delays = new Map<number, number | null>();
  const delayOf = (lane: number): number | null => {
    let ms = delays.get(lane);
    if (ms === undefined) {
      ({ ms } = context.connection.sql(CRAWL_DELAY).get(lane) as { ms: number | null });
      delays.set(lane, ms);
    }
    return ms;
  };
  return rows<SiteRow>(list).map((row) =>
    toRecord(context, row, row.crawl_delay_ms === undefined ? delayOf(row.lane) : row.crawl_delay_ms),
  );
}

export function readSite(context: Context, site: string): SiteRecord | null {
  return toSites(context, context.connection.sql(`${SELECT_ONE} WHERE s.site = ?`).all(site))[0] ?? null;
}

export function openBreakers(context: Context, now: number, limit: number): SiteRecord[] {
  const list = context.connection
    .sql(`${SELECT_SITE} WHERE s.breaker_open_until > ? ORDER BY s.breaker_open_until DESC LIMIT ?`)
    .all(now, limit);
  return toSites(context, list);
}

/** Any of the lane's sites. */
export function siteOfLane(context: Context, lane: number): SiteRecord | null {
  return toSites(context, context.connection.sql(`${SELECT_ONE} WHERE s.lane = ? LIMIT 1`).all(lane))[0] ?? null;
}

/** Back-off applies to all sites of the server. */
export function writePoliteness(context: Context, lane: number, politeness: Politeness): void {
  changeSites(context, { lanes: [lane], write: () => storePoliteness(context, lane, politeness) });
}

function storePoliteness({ connection }: Context, lane: number, politeness: Politeness): void {
  connection
    .sql(
      `UPDATE sites SET hold_until = ?, hold_step = ?, breaker_failures = ?, breaker_pages = ?, breaker_open_until = ?,
         breaker_failed_probes = ?, last_failure = ?
       WHERE lane = ?`,
    )
    .run(
      Math.round(politeness.holdUntil),
      politeness.holdStep,
      politeness.breaker.failures,
      politeness.breaker.pages.length === 0 ? null : JSON.stringify(politeness.breaker.pages),
      politeness.breaker.openUntil === null ? null : Math.round(politeness.breaker.openUntil),
      politeness.breaker.failedProbes,
      toJson(politeness.lastFailure ?? null),
      lane,
    );
}

/**
 * As `writePoliteness`, for a sharded site. The longest hold wins, and a success closes the breaker only if it came
 * after the hold: a response that was in flight meanwhile proves nothing. Other owners are notified of changes.
 */
export function mergePoliteness(
  context: Context,
  lane: number,
  { site, politeness }: { site: string; politeness: Politeness },
  now: number,
): void {
  const { connection } = context;
  const write = () => {
    const known = connection.dialect.ask(connection, [{ text: POLITENESS_OF, values: [lane] }]);
    return () => storeMerged(context, known()[0] as PolitenessOfLane | undefined, politeness, now);
  };
  changeSites(context, { lanes: [lane], subject: `politeness of ${site}`, write });
}

const POLITENESS_OF = `SELECT lane, hold_until, hold_step, breaker_failures, breaker_pages, breaker_open_until, breaker_failed_probes,
  last_failure FROM sites WHERE lane = ${PARENT_LANE_OF}`;

type PolitenessOfLane = PolitenessRow & { lane: number };

function storeMerged(context: Context, row: PolitenessOfLane | undefined, politeness: Politeness, now: number): void {
  if (row === undefined) return;
  const before = politenessOf(row);
  const after = mergeStates(before, politeness, now);
  storePoliteness(context, row.lane, after);
  const held = after.holdUntil > now && (before.holdUntil <= now || after.holdUntil - before.holdUntil > SAME_HOLD_MS);
  if (held || after.breaker.openUntil !== before.breaker.openUntil) bumpControl(context);
}

/** Requests refused together return one after the other: one hold. */
const SAME_HOLD_MS = 1000;

function mergeStates(known: Politeness, reported: Politeness, now: number): Politeness {
  const { holdUntil, holdStep } = known.holdUntil > reported.holdUntil ? known : reported;
  const [before, after] = [known.breaker.openUntil ?? 0, reported.breaker.openUntil ?? 0];
  const isKnown = before > now && before > after;
  // A success on one shard does not clear the failure of others while they rest.
  const rests = Math.max(holdUntil, before) > now;
  const lastFailure = reported.lastFailure ?? (rests ? known.lastFailure : null) ?? null;
  return { holdUntil, holdStep, breaker: isKnown ? known.breaker : reported.breaker, lastFailure };
}

/** Site health as reported by the owner of one of its lanes. */
export function writeHealth(context: Context, hold: LaneHold, site: string, health: SiteHealth): void {
  const text = JSON.stringify(health);
  const { connection } = context;
  if (hold.shard === undefined || hold.shard.index === 0) {
    const write = () => void connection.sql("UPDATE sites SET health = ? WHERE site = ?").run(text, site);
    changeSites(context, { sites: [site], write });
  } else connection.sql("UPDATE lanes SET health = ? WHERE id = ?").run(text, hold.laneId);
}

export function writeWaiting(context: Context, lane: number, waiting: Waiting | null): void {
  const text = waiting === null ? null : JSON.stringify(waiting);
  const change = `UPDATE sites SET waiting = ? WHERE lane = ${PARENT_LANE_OF} AND waiting IS DISTINCT FROM ?`;
  changeSites(context, { lanes: [lane], write: () => void context.connection.sql(change).run(text, lane, text) });
}

/** A site that was given up gets fresh probes. */
export function forgetFailedProbes(context: Context, lane: number): void {
  const change = `UPDATE sites SET breaker_failed_probes = 0 WHERE lane = ${PARENT_LANE_OF} AND breaker_failed_probes > 0`;
  changeSites(context, { lanes: [lane], write: () => void context.connection.sql(change).run(lane) });
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

type Lesson = NonNullable<Report["learned"]>;

/** Merges learned strategies of pages into their sites: reads and writes each site once, in order. */
export class LearnedStrategies {
  readonly #context: Context;
  readonly #now: number;
  readonly #lessons = new Map<string, Lesson[]>();
  readonly #sites: readonly string[];
  readonly #known: () => (Row | undefined)[];

  constructor(context: Context, tasks: readonly SettledTask[], now: number) {
    this.#context = context;
    this.#now = now;
    const { connection } = context;
    const sites = new Set(tasks.flatMap(({ report }) => (report?.learned === undefined ? [] : [report.learned.site])));
    this.#sites = [...sites].toSorted();
    this.#known = connection.dialect.ask(
      connection,
      this.#sites.map((site) => ({ text: LEARNED_OF, values: [site] })),
    );
  }

  learn(lesson: Lesson): void {
    const lessons = this.#lessons.get(lesson.site);
    if (lessons === undefined) this.#lessons.set(lesson.site, [lesson]);
    else lessons.push(lesson);
  }

  /** Nearly always there is nothing new, and then no row is locked. */
  write(): void {
    if (this.#lessons.size === 0) return;
    for (const [index, row] of this.#known().entries()) {
      const site = this.#sites[index] as string;
      const lessons = this.#lessons.get(site) ?? [];
      if (afterLessons(learnedIn(row), lessons, this.#now) !== null)
        changeSites(this.#context, {
          sites: [site],
          subject: `lessons of ${site}`,
          write: () => storeLessons(this.#context, site, lessons, this.#now),
        });
    }
  }
}

const LEARNED_OF = "SELECT learned FROM sites WHERE site = ?";

function learnedIn(row: Row | undefined): LearnedStrategy | null {
  return parseJson<LearnedStrategy | null>(row?.["learned"] as string | null | undefined, null);
}

/** Null: nothing new. */
function afterLessons(known: LearnedStrategy | null, lessons: readonly Lesson[], now: number): LearnedStrategy | null {
  let learned: LearnedStrategy | null = null;
  for (const { url, needed, because } of lessons) {
    const before: LearnedStrategy | null = learned ?? known;
    learned = (needed === "browser" ? learnBrowser(before, url, because, now) : learnPlain(before, now)) ?? learned;
  }
  return learned;
}

/** Others may have learned about the site since: it is read again, under a lock. */
function storeLessons({ connection }: Context, site: string, lessons: readonly Lesson[], now: number): () => void {
  const { dialect } = connection;
  const known = dialect.ask(connection, [{ text: `${LEARNED_OF} ${dialect.forUpdate}`, values: [site] }]);
  return () => {
    const learned = afterLessons(learnedIn(known()[0]), lessons, now);
    if (learned !== null)
      connection.sql("UPDATE sites SET learned = ? WHERE site = ?").run(JSON.stringify(learned), site);
  };
}

export function forgetLearned(context: Context, site: string): SiteRecord {
  return context.connection.write(
    () => {
      if (readSite(context, site) === null) throw new OrbError("not_found", `no site named ${site} is known`);
      context.connection.sql("UPDATE sites SET learned = NULL WHERE site = ?").run(site);
      bumpControl(context);
      return readSite(context, site) as SiteRecord;
    },
    { durable: true },
  );
}

import type { Readable } from "node:stream";
import {
  type CrawlOptions,
  crawlOptionsOf,
  type CrawlSnapshot,
  pageRecipeOf,
} from "../../../domain/crawl/crawl-options.ts";
import {
  type CrawlScope,
  compileScope,
  crawlKey,
  SCOPE_LIMITS,
  scopeOptionsOf,
  type ScopeOptions,
} from "../../../domain/crawl/crawl-scope.ts";
import type { GoalPage } from "../../../domain/crawl/goal-score.ts";
import type { TrackingRequest } from "../../../domain/monitor/tracking.ts";
import { scopeHashOf } from "../../../domain/page/page-change.ts";
import { documentOf } from "../../../domain/page/page-options.ts";
import { Recent } from "../../../domain/lane/recent.ts";
import type { Recipe } from "../../../domain/run/recipe.ts";
import type { PlanSpec } from "../../../extract/plan.ts";
import type { PageReader } from "../../../extract/pool.ts";
import { sourceWanted } from "../../../extract/extract-request.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Seal } from "../../../base/seal.ts";
import { NO_TRAPS, type TrapState } from "../../../domain/crawl/traps.ts";
import type { Store } from "../../../store/ports/port.ts";
import { CrawlGoal } from "./crawl-goal.ts";
import { CrawlPause } from "./crawl-pause.ts";
import { CrawlTime } from "./crawl-time.ts";
import { PageChanges } from "../page-changes.ts";
import { PageCopies } from "../page-copies.ts";
import { monitorSpec } from "../../../pages/monitor-spec.ts";
import { type FixtureWriter, RunFixtures } from "../fixtures.ts";
import { RunMonitor } from "../monitor.ts";
import { KnownSites } from "../page-lessons.ts";
import { EvidenceSampler } from "../evidence-sampler.ts";

/** State shared by all pages of a crawl, computed once. */
export interface CrawlRun {
  /** Cache key of its links in the extraction threads. */
  name: string;
  options: CrawlOptions;
  recipe: Recipe;
  /** New addresses of moved starts; they belong to the scope. */
  movedStarts: string[];
  /** Keys of the addresses that the user named. */
  configuredStarts: ReadonlySet<string>;
  scope: CrawlScope;
  /** The scope's options as JSON, for the extraction threads. */
  scopeText: string;
  spec: PlanSpec;
  /** Keys counted by the trap detection. */
  counted: RecentKeys;
  /** Keys of skipped links that were counted. */
  skipped: RecentKeys;
  /** Whether the run's log warns that a pattern cuts off the next pages of a list. */
  pagination: { isReported: boolean };
  /** Keys in the store: no page needs to add them again. */
  kept: RecentKeys;
  /** Content seen so far: a page with new content is no part of a trap. */
  firstPages: FirstPages;
  traps: TrapKeeper;
  time: CrawlTime;
  /** Only of a saved crawl. */
  copies: PageCopies | null;
  /** Only of a saved crawl. */
  changes: PageChanges | null;
  /** Only of a saved crawl with rules. */
  fixtures: RunFixtures | null;
  /** Only of a saved crawl with a monitor. */
  monitor: RunMonitor | null;
  /** Each page is compared with the last time that it was read. */
  tracking: TrackingRequest | undefined;
  /** Which failures keep evidence. */
  shown: EvidenceSampler;
  /** Sites whose setting overrides the crawl's about robots.txt, as its log has reported. */
  overridden: Set<string>;
  pause: CrawlPause;
  /** Null: every link is as good. */
  goal: CrawlGoal | null;
}

export const ABOUT_ARTICLE = ["title", "author", "published_at"];

/** A crawl without a task for this long has probably ended. */
const CACHE_IDLE_MS = 60_000;

interface CrawlRunsDeps {
  store: Store;
  clock: Clock;
  reader: Pick<PageReader, "keep">;
  seal: Seal;
  keepFixture: FixtureWriter;
  openArtifact(hash: string): Promise<Readable>;
}

/** Caches the state of the crawls that this process works on. */
export class CrawlRuns {
  readonly #deps: CrawlRunsDeps;
  readonly sites: KnownSites;
  readonly #runs = new Map<string, { run: Promise<CrawlRun>; usedAt: number }>();
  #age = 0;

  constructor(deps: CrawlRunsDeps) {
    this.#deps = deps;
    this.sites = new KnownSites(deps);
  }

  of(runId: string): Promise<CrawlRun> {
    const now = this.#deps.clock.monotonic();
    let known = this.#runs.get(runId);
    if (known === undefined) {
      for (const [id, { usedAt }] of this.#runs) if (usedAt < now - CACHE_IDLE_MS) this.#runs.delete(id);
      known = { run: this.#read(runId), usedAt: now };
      this.#runs.set(runId, known);
      known.run.catch(() => this.#runs.delete(runId));
    }
    known.usedAt = now;
    return known.run;
  }

  /** The pages are in the store. */
  keep(runId: string, keys: readonly string[]): void {
    void this.#runs.get(runId)?.run.then(
      ({ name, kept }) => {
        this.#deps.reader.keep({ crawl: name, keys });
        for (const key of keys) kept.add(key);
      },
      () => {},
    );
  }

  /** The page was read, and is in the store. */
  read(runId: string, page: GoalPage): void {
    void this.#runs.get(runId)?.run.then(
      ({ goal }) => goal?.written(page),
      () => {},
    );
  }

  /** A page that failed before was fetched. */
  recovered(runId: string, task: number): void {
    void this.#runs.get(runId)?.run.then(
      ({ shown }) => shown.leave(task),
      () => {},
    );
  }

  /** The store may have lost tasks: pages add all of their links again. */
  forget(): void {
    this.#age += 1;
    this.#runs.clear();
  }

  /** Drops the cached state of the run. */
  drop(runId: string): void {
    this.#runs.delete(runId);
  }

  async #read(runId: string): Promise<CrawlRun> {
    const { store, clock } = this.#deps;
    const record = await store.run(runId);
    if (record === null) throw new Error("the run was deleted");
    const options = crawlOptionsOf(record);
    const { monitor, tracking } = record.snapshot as CrawlSnapshot;
    const { urls } = options;
    const movedStarts = [...(record.facts.moved_starts ?? [])];
    const scopeOptions: ScopeOptions = {
      ...scopeOptionsOf(options),
      url: [...urls, ...movedStarts].slice(0, SCOPE_LIMITS.starts),
    };
    const { ok, errors } = compileScope(scopeOptions, { traps: (await store.trapState(runId)) ?? NO_TRAPS });
    if (ok === undefined)
      throw new Error(`the crawl cannot be read: ${errors.map(({ message }) => message).join("; ")}`);
    return {
      name: `${runId} ${this.#age}`,
      options,
      recipe: pageRecipeOf(options),
      movedStarts,
      configuredStarts: new Set(urls.map(crawlKey)),
      scope: ok,
      scopeText: JSON.stringify(scopeOptions),
      spec: { ...specOf(options), ...monitorSpec(monitor, pageRecipeOf(options)) },
      counted: new RecentKeys(),
      skipped: new RecentKeys(),
      pagination: { isReported: record.facts.pagination_cut !== undefined },
      kept: new RecentKeys(),
      firstPages: new FirstPages(),
      traps: new TrapKeeper(ok, clock),
      time: new CrawlTime(this.#deps, record),
      copies: record.jobId === null ? null : new PageCopies(store, record.jobId, options),
      changes:
        record.jobId === null
          ? null
          : new PageChanges(store, record.jobId, options, record.facts.changes !== undefined),
      fixtures: RunFixtures.of(this.#deps, record, pageRecipeOf(options)),
      monitor: RunMonitor.of(
        this.#deps,
        { jobId: record.jobId, scopeHash: scopeHashOf({ ...options }) },
        monitor,
        pageRecipeOf(options),
      ),
      tracking,
      shown: new EvidenceSampler(),
      overridden: new Set(),
      pause: new CrawlPause(clock, options.delay_seconds * 1000),
      goal: CrawlGoal.of(this.#deps, record, options),
    };
  }
}

function specOf(options: CrawlOptions): PlanSpec {
  const { fields, items, schema, article } = options;
  const document = documentOf(pageRecipeOf(options));
  const source = sourceWanted(options);
  const wantsArticle = article ?? (fields === null && source === null);
  const about = {
    links: wantsArticle ? ("urls" as const) : false,
    article: wantsArticle,
    ...(document === null ? {} : { document }),
  };
  // The schema is that of the final records.
  if (source !== null) return { fields, ...about, ...source };
  const spec: PlanSpec = { fields: fields ?? ABOUT_ARTICLE, ...about };
  if (items !== null) spec.items = items;
  if (schema !== null) spec.schema = schema;
  return spec;
}

/** Small state is written often, so that little is lost; large state less often. */
const KEEP_TRAPS_EVERY_MS = 100;
const KEEP_TRAPS_MS_PER_COUNT = 1;

/** Stores the trap counters periodically: after a restart, a trap must not get a new allowance. */
class TrapKeeper {
  readonly #scope: CrawlScope;
  readonly #clock: Clock;
  #nextAt = Number.NEGATIVE_INFINITY;
  #kept = 0;

  constructor(scope: CrawlScope, clock: Clock) {
    this.#scope = scope;
    this.#clock = clock;
  }

  /** State to write with the next outcome; null: unchanged, or just written. */
  toKeep(): TrapState | null {
    const { trapChanges } = this.#scope;
    const now = this.#clock.monotonic();
    if (trapChanges === this.#kept || now < this.#nextAt) return null;
    this.#kept = trapChanges;
    const state = this.#scope.trapState();
    const counts = state.ownKind.length + state.earned.length + state.queries.length + state.shapes.length;
    this.#nextAt = now + Math.max(KEEP_TRAPS_EVERY_MS, counts * KEEP_TRAPS_MS_PER_COUNT);
    return state;
  }
}

const MAX_KEYS = 50_000;

class RecentKeys {
  readonly #keys = new Recent<true>(MAX_KEYS);

  has(key: string): boolean {
    return this.#keys.get(key) === true;
  }

  add(key: string): void {
    this.#keys.set(key, true);
  }
}

/** The first page with each content. A page whose outcome was not written is fetched again and still counts as first. */
class FirstPages {
  readonly #pages = new Recent<number>(MAX_KEYS);

  wasFoundBefore(key: string, page: number): boolean {
    const first = this.#pages.get(key);
    if (first === undefined) this.#pages.set(key, page);
    return first !== undefined && first !== page;
  }
}

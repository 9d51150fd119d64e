/** What attempts teach about a page and its site: the strategy of the next attempts. */
import type { Failure } from "../../domain/run/failure.ts";
import type { Handled, Report } from "../../domain/run/outcome.ts";
import { escalationOf, type PageMemory, type StrategyPlan } from "../../domain/page/strategy-plan.ts";
import { siteOf } from "../../domain/text/url.ts";
import type { Clock } from "../../base/clock.ts";
import type { ClaimedTask, Store } from "../../store/ports/port.ts";
import type { SiteRecord } from "../../store/records/site-records.ts";

/**
 * A crashed browser takes all its pages along, and which of them caused the crash is unknown: it costs no page an
 * attempt, unless the page was open at every crash.
 */
const FREE_CRASHES = 2;

/** Requeues a page whose browser crashed; null: the crash costs it an attempt, or there was none. */
export function freeCrash(task: ClaimedTask, plan: StrategyPlan, what: Failure): Handled | null {
  const crashes = ((task.memory as PageMemory | null)?.crashes ?? 0) + 1;
  if (what.reason !== "browser_crashed" || crashes > FREE_CRASHES) return null;
  const memory: PageMemory = { way: plan.way, evidence: plan.evidence, crashes };
  return { kind: "handed_back", why: what.message, report: { memory } };
}

/** A page that needed a browser keeps using one; a plain page that failed is probed again. */
export function memoryOf({ way, evidence }: StrategyPlan): { memory?: PageMemory } {
  return way === "browser" ? { memory: { way, evidence } } : {};
}

/** After a block, the next attempt escalates to another strategy, if there is one. */
export function escalationAfter(
  { way }: StrategyPlan,
  what: Failure,
): { memory: PageMemory; escalation: NonNullable<Report["escalation"]> } | null {
  const to = escalationOf(way, what);
  if (to === null) return null;
  const because = `${way} met a block: ${what.message}`;
  return {
    memory: { way: to, evidence: { rule: "escalated", because, http_status: what.httpStatus ?? null } },
    escalation: { to, why: what.message },
  };
}

/** What a fetched page has taught about its site; null: nothing new. */
export function lessonOf(url: string, { way, evidence }: StrategyPlan): NonNullable<Report["learned"]> | null {
  const lesson = { site: siteOf(url), url, because: evidence.because };
  if (way === "http") return { ...lesson, needed: "plain" };
  const isNew = way === "browser" && (evidence.rule === "probe" || evidence.rule === "escalated");
  return isNew ? { ...lesson, needed: "browser" } : null;
}

/** Changed site settings apply at once; what other workers learn may be this old. */
const CACHE_MS = 30_000;
/** Of the only process: what its other runs learn may be this old. */
const ALONE_CACHE_MS = 1000;
const MAX_SITES = 1000;

/** Caches site records: a crawl has many pages on few sites. */
export class KnownSites {
  readonly #deps: { store: Store; clock: Clock };
  readonly #known = new Map<string, { record: Promise<SiteRecord | null>; until: number }>();
  /** Where changes are not announced: that of the settings which the records are from. */
  #version = Number.NaN;

  constructor(deps: { store: Store; clock: Clock }) {
    this.#deps = deps;
    // A site setting that was just changed applies to the next attempt.
    if (deps.store.capabilities.notifies)
      deps.store.watch((what) => {
        if (what === "control") this.#known.clear();
      });
  }

  async of(site: string): Promise<SiteRecord | null> {
    const { store, clock } = this.#deps;
    const isAnnounced = store.capabilities.notifies;
    // Reading the version of all settings costs a tenth of reading a site.
    if (!isAnnounced) this.#dropOld(await store.controlVersion());
    const known = this.#known.get(site);
    if (known !== undefined && known.until > clock.monotonic()) return known.record;
    // Concurrent callers share one read.
    const record = store.site(site);
    if (this.#known.size >= MAX_SITES) this.#known.clear();
    this.#known.set(site, { record, until: clock.monotonic() + (isAnnounced ? CACHE_MS : ALONE_CACHE_MS) });
    record.catch(() => this.#known.delete(site));
    return record;
  }

  /** Reads the site again for its next page. */
  drop(site: string): void {
    this.#known.delete(site);
  }

  #dropOld(version: number): void {
    if (version !== this.#version) this.#known.clear();
    this.#version = version;
  }
}

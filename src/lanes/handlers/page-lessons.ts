/** What the attempts at a page teach: the next attempt at it, and whoever gets other pages of its site. */
import type { Failure } from "../../domain/run/failure.ts";
import type { Handled, Report } from "../../domain/run/outcome.ts";
import { escalationOf, type PageMemory, type StrategyPlan } from "../../domain/page/strategy-plan.ts";
import { siteOf } from "../../domain/text/url.ts";
import type { Clock } from "../../base/clock.ts";
import type { ClaimedTask, Store } from "../../store/ports/port.ts";
import type { SiteRecord } from "../../store/records/site-records.ts";

/**
 * A browser takes all its pages along when it dies, and it cannot be told which of them is to blame: none pays an
 * attempt, unless it was there every time.
 */
const FREE_CRASHES = 2;

/** What becomes of a page whose browser died; null: it pays for it, or nothing died. */
export function freeCrash(task: ClaimedTask, plan: StrategyPlan, what: Failure): Handled | null {
  const crashes = ((task.memory as PageMemory | null)?.crashes ?? 0) + 1;
  if (what.reason !== "browser_crashed" || crashes > FREE_CRASHES) return null;
  const memory: PageMemory = { way: plan.way, evidence: plan.evidence, crashes };
  return { kind: "handed_back", why: what.message, report: { memory } };
}

/** What was found to need a browser stays with it; a plain page that failed is probed again. */
export function memoryOf({ way, evidence }: StrategyPlan): { memory?: PageMemory } {
  return way === "browser" ? { memory: { way, evidence } } : {};
}

/** After a block the next attempt climbs to another way, if there is one. */
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

/** What a page that was got has taught about its site; null: nothing that was not known. */
export function lessonOf(url: string, { way, evidence }: StrategyPlan): NonNullable<Report["learned"]> | null {
  const lesson = { site: siteOf(url), url, because: evidence.because };
  if (way === "http") return { ...lesson, needed: "plain" };
  const isNew = way === "browser" && (evidence.rule === "probe" || evidence.rule === "escalated");
  return isNew ? { ...lesson, needed: "browser" } : null;
}

/** What people say of a site is heard at once; what other workers learn of it may wait. */
const BELIEVED_MS = 30_000;
const MOST_SITES = 1000;

/** What is known of sites, read now and then: the pages of a crawl are many, and mostly of the same few sites. */
export class KnownSites {
  readonly #deps: { store: Store; clock: Clock };
  readonly #known = new Map<string, { record: Promise<SiteRecord | null>; until: number }>();

  constructor(deps: { store: Store; clock: Clock }) {
    this.#deps = deps;
    // What somebody has just said of a site holds for what is begun now.
    if (deps.store.capabilities.notifies)
      deps.store.watch((what) => {
        if (what === "control") this.#known.clear();
      });
  }

  async of(site: string): Promise<SiteRecord | null> {
    const { store, clock } = this.#deps;
    // Nothing is saved where asking costs next to nothing, and nobody tells of changes.
    if (!store.capabilities.notifies) return store.site(site);
    const known = this.#known.get(site);
    if (known !== undefined && known.until > clock.monotonic()) return known.record;
    // All who ask meanwhile wait for the same answer.
    const record = store.site(site);
    if (this.#known.size >= MOST_SITES) this.#known.clear();
    this.#known.set(site, { record, until: clock.monotonic() + BELIEVED_MS });
    record.catch(() => this.#known.delete(site));
    return record;
  }
}

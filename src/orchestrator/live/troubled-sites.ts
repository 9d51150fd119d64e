import { isoOrNull } from "../../base/iso.ts";
import { lastFailure } from "../../domain/run/last-failure.ts";
import { type HealthSummary, summaryOf } from "../../domain/site/site-health.ts";
import { type HeldAtSite, heldBySite } from "../../domain/run/waiting.ts";
import { waitingSentence } from "../../domain/run/waiting-sentence.ts";
import type { SiteRecord } from "../../store/records/site-records.ts";
import { rounded, type SiteDeps } from "../sites/site-view.ts";

export const TROUBLES = ["breaker_open", "paused", "held", "failing"] as const;

/** A site with problems. */
export interface TroubledSite {
  site: string;
  trouble: (typeof TROUBLES)[number];
  /** Human-readable. */
  message: string;
  /** Null: no known end. */
  until: string | null;
  /** Share of failures among outcomes of the last ten minutes; null: nothing ended. */
  error_rate: number | null;
  /** Waiting pages. */
  waiting: number;
}

const MOST_OF_A_KIND = 20;
/** A site is failing when this share of at least this many outcomes failed. */
const FAILING = { outcomes: 10, rate: 0.25 };

/** Sites paused by an operator come last: the pause is intended. */
const ORDER: readonly TroubledSite["trouble"][] = ["breaker_open", "failing", "held", "paused"];

/** `busy` are the sites with most work, already loaded. */
export async function troubledSites(
  { store }: Pick<SiteDeps, "store">,
  busy: readonly SiteRecord[],
  now: number,
): Promise<TroubledSite[]> {
  const blocked = await store.openBreakers(now, MOST_OF_A_KIND);
  const paused = await store.sites({ state: "paused", limit: MOST_OF_A_KIND }, now);
  const all = new Map([...blocked, ...paused, ...busy].map((record) => [record.site, record]));
  return [...all.values()]
    .flatMap((record) => toTroubledSite(record, now) ?? [])
    .toSorted((a, b) => ORDER.indexOf(a.trouble) - ORDER.indexOf(b.trouble) || b.waiting - a.waiting)
    .slice(0, MOST_OF_A_KIND);
}

function toTroubledSite(record: SiteRecord, now: number): TroubledSite | null {
  const { counts } = record;
  const health = summaryOf(record.health, now);
  const held = heldBySite(record, counts.running, now);
  const kind = held === null ? (isFailing(health) ? "failing" : null) : kindOf(held);
  if (kind === null) return null;
  const until = held?.until ?? null;
  return {
    site: record.site,
    trouble: kind,
    message:
      held === null
        ? failingWords(health)
        : waitingSentence(held, { last: record.lastFailure ? lastFailure(record.lastFailure) : null }),
    until: isoOrNull(until),
    error_rate: health.errorRate === null ? null : rounded(health.errorRate, 3),
    waiting: counts.pending + counts.queued + counts.retrying,
  };
}

function kindOf({ reason }: HeldAtSite): TroubledSite["trouble"] {
  if (reason === "site_paused") return "paused";
  return reason === "rate_limited" ? "held" : "breaker_open";
}

function isFailing({ good, failed, blocked, errorRate }: HealthSummary): boolean {
  return good + failed + blocked >= FAILING.outcomes && (errorRate ?? 0) >= FAILING.rate;
}

function failingWords({ good, failed, blocked }: HealthSummary): string {
  return `${failed + blocked} of the last ${good + failed + blocked} requests failed`;
}

/** How well a proxy serves, from what uses and checks of it have shown. */
import { isProxyFault } from "../run/classify.ts";
import type { Failure, FailureReason } from "../run/failure.ts";

export const PROXY_STATES = ["unchecked", "usable", "resting", "disabled"] as const;
/**
 * `unchecked`: never tried. `usable`: the last check or use went well. `resting`: it failed, and is left alone until
 * `restUntil`; then one use or check decides. `disabled`: an operator does not want it.
 */
export type ProxyState = (typeof PROXY_STATES)[number];

export interface ProxyHealth {
  state: ProxyState;
  /** 0 to 1: how well it has served, the newest counting most. */
  score: number;
  /** Typical time of an answer through it; null: not measured. */
  latencyMs: number | null;
  restUntil: number;
  restStep: number;
  lastError: string | null;
}

/** What one use or check of a proxy has shown. */
export type ProxyOutcome =
  /** An answer came through it. */
  | { kind: "good"; latencyMs: number | null }
  /** It lets us in; whether anything comes through it was not tried. */
  | { kind: "reached"; latencyMs: number }
  /** An answer came through it, and it was that this address is not wanted at the site. */
  | { kind: "blocked" }
  /** It could not be reached, or did not let us in: its own fault for sure. */
  | { kind: "fault"; why: string }
  /** No answer came; whether the proxy or the site failed is unknown. */
  | { kind: "unsure"; why: string };

/** What a page that was to come through a proxy can show. */
export type PageOutcome = Exclude<ProxyOutcome, { kind: "reached" }>;

/** Nothing is known yet: in the middle, so that one good use already prefers it, and one bad one does not ruin it. */
export const FIRST_SCORE = 0.5;
const SURE_WEIGHT = 0.2;
const UNSURE_WEIGHT = 0.05;
const LATENCY_WEIGHT = 0.2;

const REST_BASE_MS = 30_000;
export const REST_MAX_MS = 3_600_000;

/** How long a proxy that has failed so often in a row is left alone. */
export function restMs(step: number): number {
  return Math.min(REST_MAX_MS, REST_BASE_MS * 2 ** Math.min(step, 20));
}

/** What is known of a proxy after one more use or check. What an operator has switched off stays so. */
export function afterUse(health: ProxyHealth, outcome: ProxyOutcome, now: number): ProxyHealth {
  switch (outcome.kind) {
    case "good":
      return working(health, {
        score: towards(health.score, 1, SURE_WEIGHT),
        latencyMs: smoothed(health.latencyMs, outcome.latencyMs),
      });
    case "reached":
      // If its last use failed, so may the next one: then it rests for longer.
      return working(health, {
        latencyMs: smoothed(health.latencyMs, outcome.latencyMs),
        restStep: health.restStep,
        score: towards(health.score, 1, UNSURE_WEIGHT),
      });
    case "blocked":
      // It works; that one site does not like it is noted for that site.
      return working(health, {});
    case "fault":
      return failed({ ...health, score: towards(health.score, 0, SURE_WEIGHT) }, outcome.why, now);
    case "unsure": {
      const after = { ...health, score: towards(health.score, 0, UNSURE_WEIGHT) };
      // The use that was to decide whether it is back has not shown that it is.
      return onProbation(health, now) ? failed(after, outcome.why, now) : { ...after, lastError: outcome.why };
    }
  }
}

function working(health: ProxyHealth, more: Partial<ProxyHealth>): ProxyHealth {
  const state = health.state === "disabled" ? "disabled" : "usable";
  return { ...health, state, restUntil: 0, restStep: 0, lastError: null, ...more };
}

function failed(health: ProxyHealth, why: string, now: number): ProxyHealth {
  const state = health.state === "disabled" ? "disabled" : "resting";
  // Uses that were under way together fail together: they are one failure.
  if (health.state === "resting" && health.restUntil > now) return { ...health, lastError: why };
  const { restStep } = health;
  return { ...health, state, restUntil: now + restMs(restStep), restStep: restStep + 1, lastError: why };
}

function towards(from: number, to: number, weight: number): number {
  return Math.min(1, Math.max(0, from + (to - from) * weight));
}

function smoothed(known: number | null, measured: number | null): number | null {
  if (measured === null) return known;
  return known === null ? measured : known + (measured - known) * LATENCY_WEIGHT;
}

/** Whether it may be used now. A rest that is longer than any was begun by a clock that has been set back since. */
export function mayBeUsed({ state, restUntil }: ProxyHealth, now: number): boolean {
  if (state === "resting") return restUntil <= now || restUntil > now + REST_MAX_MS;
  return state === "usable" || state === "unchecked";
}

/** Whether the next use decides about it: then it gets one at a time. */
export function onProbation(health: ProxyHealth, now: number): boolean {
  return health.state !== "usable" && mayBeUsed(health, now);
}

/** An answer that takes this long halves a proxy's share. */
const SLOW_MS = 5_000;
const LEAST_WEIGHT = 0.02;

/** Its share of the traffic among others: the better and faster the more, and never nothing. */
export function weightOf({ score, latencyMs }: Pick<ProxyHealth, "score" | "latencyMs">): number {
  const speed = 1 / (1 + (latencyMs ?? 0) / SLOW_MS);
  return Math.max(LEAST_WEIGHT, score * score * speed);
}

export interface SiteRecordOfProxy {
  successes: number;
  failures: number;
  blocks: number;
  /** When it was last used there. */
  at: number;
}

/** The newest count most: beyond this, all that was before is halved. */
export const MOST_REMEMBERED = 40;
/** What nobody has seen again counts half after this time: what keeps an address away from a site ends by itself. */
const HALF_LIFE_MS = 600_000;

/** Its own faults are the same at every site, and say nothing of this one. `null`: it was never used there. */
export function afterUseAtSite(
  known: SiteRecordOfProxy | null,
  outcome: Exclude<ProxyOutcome, { kind: "fault" }>,
  now: number,
): SiteRecordOfProxy {
  const { successes, failures, blocks, at } = known ?? { successes: 0, failures: 0, blocks: 0, at: now };
  const full = successes + failures + blocks >= MOST_REMEMBERED ? 0.5 : 1;
  const kept = full * 0.5 ** (Math.max(0, now - at) / HALF_LIFE_MS);
  return {
    successes: successes * kept + (outcome.kind === "good" ? 1 : 0),
    failures: failures * kept + (outcome.kind === "unsure" ? 1 : 0),
    blocks: blocks * kept + (outcome.kind === "blocked" ? 1 : 0),
    at: now,
  };
}

/** One good answer is assumed of everybody: a single block is bad luck. */
const ASSUMED_GOOD = 1;

/**
 * Until when others are preferred at this site, which turns the proxy away, or answers nothing through it, more often
 * than not; 0: they are not. By then so much is forgotten that the good answer that is assumed weighs more.
 */
export function avoidedAtSiteUntil({ successes, failures, blocks, at }: SiteRecordOfProxy): number {
  const surplus = (blocks + failures - successes) / ASSUMED_GOOD;
  return surplus > 1 ? at + HALF_LIFE_MS * Math.log2(surplus) : 0;
}

const BLOCKS: ReadonlySet<FailureReason> = new Set<FailureReason>([
  "http_forbidden",
  "challenge_page",
  "captcha_page",
  "robots_unreachable",
]);

/** An answer that another address may not get. */
export function isBlockOfAddress({ reason }: Failure): boolean {
  return BLOCKS.has(reason);
}

const UNSURE: ReadonlySet<FailureReason> = new Set<FailureReason>([
  "proxy_refused",
  "proxy_timeout",
  "connection_refused",
  "connection_reset",
  "connection_failed",
  "tls_failed",
  "timeout_connect",
  "timeout_headers",
  "timeout_idle",
  "timeout_total",
  "truncated_body",
]);

/**
 * No answer came through the proxy, or none that robots.txt could be read from: that may be the proxy's doing alone, and
 * says nothing about the site.
 */
export function mayBeOfProxy(what: Failure): boolean {
  if (what.httpStatus !== undefined) return false;
  return isProxyFault(what) || UNSURE.has(what.reason) || what.reason === "robots_unreachable";
}

/** What came of a page says this about the proxy it came through; null: nothing. */
export function shownByPage(what: Failure | null, latencyMs: number | null): PageOutcome | null {
  if (what === null) return { kind: "good", latencyMs };
  if (isProxyFault(what)) return { kind: "fault", why: what.message };
  if (isBlockOfAddress(what)) return { kind: "blocked" };
  if (UNSURE.has(what.reason)) return { kind: "unsure", why: what.message };
  // Whatever the answer was, it came.
  return what.httpStatus === undefined ? null : { kind: "good", latencyMs };
}

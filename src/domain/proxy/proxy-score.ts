/** Health of a proxy, from the outcomes of its uses and checks. */
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
  /** The site answered that it blocks this address. */
  | { kind: "blocked" }
  /** It could not be reached or refused our login: certainly the proxy's fault. */
  | { kind: "fault"; why: string }
  /** No answer came; whether the proxy or the site failed is unknown. */
  | { kind: "unsure"; why: string };

export type PageOutcome = Exclude<ProxyOutcome, { kind: "reached" }>;

/** Score of a new proxy: one good use already prefers it, and one bad use does not ruin it. */
export const FIRST_SCORE = 0.5;
const SURE_WEIGHT = 0.2;
const UNSURE_WEIGHT = 0.05;
const LATENCY_WEIGHT = 0.2;

const REST_BASE_MS = 30_000;
export const REST_MAX_MS = 3_600_000;

/** How long a proxy rests after this many consecutive failures. */
export function restMs(step: number): number {
  return Math.min(REST_MAX_MS, REST_BASE_MS * 2 ** Math.min(step, 20));
}

/** The health after one more use or check. A disabled proxy stays disabled. */
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
      // On probation, an inconclusive use counts as a failure.
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
  // Concurrent uses that fail together count as one failure.
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

/** Whether it may be used now. A rest beyond the maximum means that the clock was set back. */
export function mayBeUsed({ state, restUntil }: ProxyHealth, now: number): boolean {
  if (state === "resting") return restUntil <= now || restUntil > now + REST_MAX_MS;
  return state === "usable" || state === "unchecked";
}

/** Whether the next use decides its state: then it gets one use at a time. */
export function onProbation(health: ProxyHealth, now: number): boolean {
  return health.state !== "usable" && mayBeUsed(health, now);
}

/** An answer that takes this long halves a proxy's share. */
const SLOW_MS = 5_000;
const LEAST_WEIGHT = 0.02;

/** Its share of the traffic: grows with score and speed, never zero. */
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

/** Beyond this many outcomes, earlier ones are halved, so that the newest count most. */
export const MOST_REMEMBERED = 40;
/** Old outcomes decay: blocks of an address end by themselves. */
const HALF_LIFE_MS = 600_000;

/** Without faults of the proxy itself, which say nothing about the site. `null`: never used there. */
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

/** Prior: a single block may be bad luck. */
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

/** Another address may not be blocked. */
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
 * No answer came through the proxy, or robots.txt could not be read through it: this may be the proxy's fault, and says
 * nothing about the site.
 */
export function mayBeOfProxy(what: Failure): boolean {
  if (what.httpStatus !== undefined) return false;
  return isProxyFault(what) || UNSURE.has(what.reason) || what.reason === "robots_unreachable";
}

/** What the outcome of a page says about its proxy; null: nothing. */
export function shownByPage(what: Failure | null, latencyMs: number | null): PageOutcome | null {
  if (what === null) return { kind: "good", latencyMs };
  if (isProxyFault(what)) return { kind: "fault", why: what.message };
  if (isBlockOfAddress(what)) return { kind: "blocked" };
  if (UNSURE.has(what.reason)) return { kind: "unsure", why: what.message };
  // Any HTTP status proves that the proxy works.
  return what.httpStatus === undefined ? null : { kind: "good", latencyMs };
}

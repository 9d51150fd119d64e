/** How well a proxy serves, from what uses and checks of it have shown. */
import { isProxyFault } from "./classify.ts";
import type { Failure, FailureReason } from "./failure.ts";

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
  /** An answer came through it, and it was that this address is not wanted at the site. */
  | { kind: "blocked" }
  /** It could not be reached, or did not let us in: its own fault for sure. */
  | { kind: "fault"; why: string }
  /** No answer came, and whether that was the proxy or the site cannot be told. */
  | { kind: "unsure"; why: string };

/** Nothing is known yet: in the middle, so that one good use already prefers it, and one bad one does not ruin it. */
export const FIRST_SCORE = 0.5;
const SURE_WEIGHT = 0.2;
const UNSURE_WEIGHT = 0.05;
const LATENCY_WEIGHT = 0.2;

const REST_BASE_MS = 30_000;
const REST_MAX_MS = 3_600_000;

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

/** Whether it may be used now. */
export function mayBeUsed({ state, restUntil }: ProxyHealth, now: number): boolean {
  return state === "usable" || state === "unchecked" || (state === "resting" && restUntil <= now);
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
}

export const UNKNOWN_AT_SITE: SiteRecordOfProxy = { successes: 0, failures: 0, blocks: 0 };

/** The newest count most: beyond this, all that was before is halved. */
export const MOST_REMEMBERED = 40;

export function afterUseAtSite(known: SiteRecordOfProxy, outcome: ProxyOutcome): SiteRecordOfProxy {
  const halve = known.successes + known.failures + known.blocks >= MOST_REMEMBERED ? 0.5 : 1;
  return {
    successes: known.successes * halve + (outcome.kind === "good" ? 1 : 0),
    // Its own faults are the same at every site.
    failures: known.failures * halve + (outcome.kind === "unsure" ? 1 : 0),
    blocks: known.blocks * halve + (outcome.kind === "blocked" ? 1 : 0),
  };
}

/** One good answer is assumed of everybody: a single block is bad luck. */
const ASSUMED_GOOD = 1;
const AVOIDED_FROM = 0.5;

/** Whether the site turns this proxy away, or answers nothing through it, so often that others are preferred there. */
export function isAvoidedAtSite({ successes, failures, blocks }: SiteRecordOfProxy): boolean {
  const bad = blocks + failures;
  return bad / (bad + successes + ASSUMED_GOOD) > AVOIDED_FROM;
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
export function shownByPage(what: Failure | null, latencyMs: number | null): ProxyOutcome | null {
  if (what === null) return { kind: "good", latencyMs };
  if (isProxyFault(what)) return { kind: "fault", why: what.message };
  if (isBlockOfAddress(what)) return { kind: "blocked" };
  if (UNSURE.has(what.reason)) return { kind: "unsure", why: what.message };
  // Whatever the answer was, it came.
  return what.httpStatus === undefined ? null : { kind: "good", latencyMs };
}

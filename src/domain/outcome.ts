import type { Random } from "../base/random.ts";
import { type BackoffRule, retryDelay } from "./backoff.ts";
import { dispositionOf } from "./classify.ts";
import { type Failure, type FailureCode, type FailureReason, failure } from "./failure.ts";

/** One line of a task's history, newest last. */
export interface Attempt {
  attempt: number;
  strategy: string;
  proxy: string | null;
  started_at: string;
  duration_ms: number;
  http_status: number | null;
  failure_code: FailureCode | null;
  failure_reason: FailureReason | null;
}

/** A stored file that belongs to a task. */
export interface TaskArtifact {
  hash: string;
  size: number;
  contentType: string | null;
  url: string;
}

/** What a task's handler made of it. */
export type Handled =
  | {
      kind: "completed";
      artifacts: readonly TaskArtifact[];
      results: readonly unknown[];
      detail?: unknown;
      httpStatus?: number;
    }
  | { kind: "skipped"; why: string; httpStatus?: number }
  | { kind: "failed"; failure: Failure }
  /** The page lives on another site now: the task moves to that site's lane, and no attempt is spent. */
  | { kind: "moved"; url: string; redirects: readonly string[]; httpStatus?: number }
  /** The process could not do it (disk full, stopping): someone tries again, and no attempt is spent. */
  | { kind: "handed_back"; why: string };

/** What is to be written for the task. */
export type Verdict =
  | { kind: "completed" }
  | { kind: "skipped" }
  | { kind: "moved" }
  | { kind: "handed_back" }
  | { kind: "rate_wait"; failure: Failure }
  | { kind: "retry"; failure: Failure; delayMs: number }
  | { kind: "failed"; failure: Failure };

export interface RetryRules {
  backoff: BackoffRule;
  maxAttempts: number;
  retryAfterMaxMs: number;
  rateLimitMaxWaits: number;
}

/** Decides what follows from a failure. `tries` counts this attempt, `waits` the rate-limit answers before it. */
export function verdictOf(handled: Handled, tries: number, waits: number, rules: RetryRules, random: Random): Verdict {
  if (handled.kind !== "failed") return { kind: handled.kind };
  const what = handled.failure;
  const disposition = dispositionOf(what);
  // A final answer stays what it is, whatever it says about coming back.
  if (disposition !== "permanent" && (what.retryAfterMs ?? 0) > rules.retryAfterMaxMs) {
    const message = `${what.message}; it asked to wait ${Math.round((what.retryAfterMs ?? 0) / 1000)} s, longer than allowed`;
    return { kind: "failed", failure: failure("retry_after_too_long", message, { httpStatus: what.httpStatus }) };
  }
  switch (disposition) {
    case "permanent":
      return { kind: "failed", failure: what };
    case "rate_limit":
      return waits >= rules.rateLimitMaxWaits
        ? { kind: "failed", failure: what }
        : { kind: "rate_wait", failure: what };
    case "retry":
      if (tries >= rules.maxAttempts) return { kind: "failed", failure: what };
      return { kind: "retry", failure: what, delayMs: retryDelay(rules.backoff, tries, random, what.retryAfterMs) };
  }
}

import type { Random } from "../../base/random.ts";
import { type BackoffRule, retryDelay } from "../lane/backoff.ts";
import { laneOfSite } from "../lane/lane.ts";
import { siteOf } from "../text/url.ts";
import { dispositionOf, isOfExtractor } from "./classify.ts";
import { type Failure, type FailureCode, type FailureReason, failure } from "./failure.ts";
import type { EventLevel, EventType } from "./event-catalogue.ts";
import type { SkipCounts } from "../crawl/crawl-skips.ts";
import type { PageState } from "../page/page-change.ts";
import type { PageCopy } from "../page/page-copy.ts";
import type { JsonValue } from "../lane/queue-item.ts";
import type { RunFacts } from "./run-facts.ts";
import type { TrapState } from "../crawl/traps.ts";

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

/**
 * What a stored file is: what was asked for, what shows why it could not be had, or what servers sent, for an archive. The
 * answer that sent a page to another site stays, whatever becomes of the page there. `items` is what a step of a workflow
 * hands on to the next ones.
 */
export const ARTIFACT_ROLES = ["file", "screenshot", "snapshot", "exchange", "redirect", "items"] as const;
export type ArtifactRole = (typeof ARTIFACT_ROLES)[number];

/** A stored file that belongs to a task. */
export interface TaskArtifact {
  hash: string;
  size: number;
  contentType: string | null;
  url: string;
  /** Absent: the file that was asked for. */
  role?: ArtifactRole;
  /** Where its id is to stand in what the task yields: which record, and the way inside it. */
  into?: readonly [record: number, ...way: (string | number)[]];
}

/** A page that another page leads to, or a sitemap does. */
export interface Discovered {
  key: string;
  url: string;
  lane: string;
  site: string;
  depth: number;
  /** Who does it, when it is not the one that found it. */
  handler?: string;
  /** It is no page itself, but serves to find some: this stands in its task, and it comes before all pages. */
  auxiliary?: JsonValue;
}

/** A line for the run's log. */
export interface RunEvent {
  type: EventType;
  level: EventLevel;
  message: string;
  meta: unknown;
}

/** What an attempt reports beside its outcome; written in the same transaction. */
export interface Report {
  /** What was really used, when that was decided on the way. */
  strategy?: string;
  proxy?: string;
  /** When the try began, if it slept since. */
  startedAt?: number;
  /** Handed to the next attempt of this task. */
  memory?: unknown;
  /** The next attempt goes about it in another way; only true if there is one. */
  escalation?: { to: string; why: string };
  /** Pictures and copies of a page that could not be used. */
  evidence?: readonly TaskArtifact[];
  /** What the page has taught about its site; put together with what is known when it is written. */
  learned?: { site: string; url: string; needed: "plain" | "browser"; because: string };
  /** Pages that this one links to; the store drops those that are known already. */
  discovered?: readonly Discovered[];
  /** Keys of links that only the depth of the crawl keeps out, unless they are known already. */
  tooDeep?: readonly string[];
  /** Of a saved crawl's page: what its next run is to know of it; null: nothing. */
  copy?: PageCopy | null;
  /** Of a saved crawl's page: what it said, and how that compares; null: there is nothing to compare it with. */
  page?: PageState;
  /** Links of the page that the crawl leaves, as far as they were not counted before. */
  skipped?: SkipCounts;
  /** The page was fetched for its links alone. */
  followedOnly?: true;
  /** The server said that the page is as it was: its records are those of before. */
  unchanged?: true;
  /** Of a crawl's page: the site has sent it to a sign-in; what is said of that. */
  signIn?: string;
  /** For the log of a run of many tasks. */
  events?: readonly RunEvent[];
  /** The page that a redirect led to. If another task stands for it already, this one is skipped. */
  landed?: { key: string; url: string };
  /** A SHA-256 of what the page says, in hex: the records of a page that says what another has said name that one. */
  content?: string;
  /** What the crawl has counted so far to recognise traps. */
  traps?: TrapState;
  /** How long a page of this run takes, reported when less time than that is left. */
  pageMs?: number;
  /** Child runs of a step that it does not wait for any more. */
  cancelRuns?: readonly string[];
  /** For the log and the face of a run that consists of this one task. */
  run?: { events: readonly RunEvent[]; facts: RunFacts };
}

/** What a task's handler made of it. */
export type Handled = Outcome & {
  report?: Report;
  /**
   * How long the site took to begin its answer; null: this one was not measured, as in a browser. Absent: whoever did it
   * measures nothing.
   */
  answeredMs?: number | null;
};

type Outcome =
  | {
      kind: "completed";
      artifacts: readonly TaskArtifact[];
      results: readonly unknown[];
      detail?: unknown;
      httpStatus?: number;
    }
  | { kind: "skipped"; why: string; httpStatus?: number }
  | { kind: "failed"; failure: Failure }
  /** Only a person can go on from here: the run waits for one, and no attempt is spent. */
  | { kind: "human"; failure: Failure }
  /** The page lives on another site now: the task moves to that site's lane, and no attempt is spent. */
  | { kind: "moved"; url: string; redirects: readonly string[]; httpStatus?: number }
  /** The process could not do it (disk full, stopping): someone tries again, and no attempt is spent. */
  | {
      kind: "handed_back";
      why: string;
      /** Nobody can do it sooner than this. */
      waitMs?: number;
    };

/** What the store writes for the task. */
export type Verdict =
  | { kind: "completed"; artifacts: readonly TaskArtifact[]; results: readonly unknown[]; detail: unknown }
  | { kind: "skipped"; why: string }
  | { kind: "moved"; url: string; lane: string; site: string; redirects: readonly string[] }
  /** With a time: it is not begun again before. */
  | { kind: "handed_back"; readyAt?: number }
  /** The task waits in the queue, and its run for a person. */
  | { kind: "human"; failure: Failure }
  | { kind: "rate_wait"; failure: Failure }
  | { kind: "retry"; failure: Failure; readyAt: number }
  | { kind: "failed"; failure: Failure };

export interface RetryRules {
  backoff: BackoffRule;
  maxAttempts: number;
  retryAfterMaxMs: number;
  /** null: there is no site to be held, so that being asked for patience is a failure as others are. */
  rateLimitMaxWaits: number | null;
}

/** What a task went through before this attempt. */
interface Past {
  tries: number;
  /** Rate-limit answers. */
  waits: number;
  redirects: readonly string[];
}

/** Decides what follows from an attempt that ends `now`. */
export function verdictOf(handled: Handled, past: Past, rules: RetryRules, random: Random, now: number): Verdict {
  switch (handled.kind) {
    case "completed": {
      const { kind, artifacts, results, detail } = handled;
      return { kind, artifacts, results, detail };
    }
    case "skipped":
      return { kind: "skipped", why: handled.why };
    case "moved": {
      const { kind, url } = handled;
      const site = siteOf(url);
      return { kind, url, site, lane: laneOfSite(site), redirects: [...past.redirects, ...handled.redirects] };
    }
    case "handed_back":
      return { kind: "handed_back", ...(handled.waitMs === undefined ? {} : { readyAt: now + handled.waitMs }) };
    case "human":
      return { kind: "human", failure: handled.failure };
    case "failed":
      return verdictOfFailure(handled.failure, past, rules, random, now);
  }
}

function verdictOfFailure(
  what: Failure,
  { tries, waits }: Past,
  rules: RetryRules,
  random: Random,
  now: number,
): Verdict {
  const disposition = dispositionOf(what);
  // A final answer stays what it is, whatever it says about coming back.
  if (disposition !== "permanent" && (what.retryAfterMs ?? 0) > rules.retryAfterMaxMs) {
    const message = `${what.message}; it asked to wait ${Math.round((what.retryAfterMs ?? 0) / 1000)} s, longer than allowed`;
    const reason = isOfExtractor(what) ? what.reason : "retry_after_too_long";
    return { kind: "failed", failure: failure(reason, message, { httpStatus: what.httpStatus }) };
  }
  switch (disposition) {
    case "permanent":
      return { kind: "failed", failure: what };
    case "rate_limit":
      if (rules.rateLimitMaxWaits === null) return retried(what, tries + 1, rules, random, now);
      return waits >= rules.rateLimitMaxWaits
        ? { kind: "failed", failure: what }
        : { kind: "rate_wait", failure: what };
    case "retry":
      return retried(what, tries + 1, rules, random, now);
  }
}

/** `tries` counts this attempt. */
function retried(what: Failure, tries: number, rules: RetryRules, random: Random, now: number): Verdict {
  if (tries >= rules.maxAttempts) return { kind: "failed", failure: what };
  return { kind: "retry", failure: what, readyAt: now + retryDelay(rules.backoff, tries, random, what.retryAfterMs) };
}

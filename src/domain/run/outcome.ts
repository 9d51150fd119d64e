import type { Random } from "../../base/random.ts";
import { type BackoffRule, retryDelay } from "../lane/backoff.ts";
import { laneOfSite } from "../lane/lane.ts";
import { siteOf } from "../text/url.ts";
import { dispositionOf, isOfExtractor } from "./classify.ts";
import { type Failure, type FailureCode, type FailureReason, failure } from "./failure.ts";
import type { EventLevel, EventType } from "./event-catalogue.ts";
import type { GoalPage } from "../crawl/goal-score.ts";
import type { SkipCounts } from "../crawl/crawl-skips.ts";
import type { PageState } from "../page/page-change.ts";
import type { PageCopy } from "../page/page-copy.ts";
import type { MonitoredPage } from "../monitor/monitored-page.ts";
import type { TrackedPage } from "../monitor/tracking.ts";
import type { KeptPage, PageFixture } from "../page/fixture.ts";
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
 * What a stored file is: the requested file, evidence of a failure, or an exchange for an archive. `redirect` is the
 * response that sent a page to another site; it is kept whatever happens to the page there. `items` is the output of a
 * workflow step.
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
  /** Where its id goes in the results: the record, and the path inside it. */
  into?: readonly [record: number, ...way: (string | number)[]];
}

/** A page found by a link or a sitemap. */
export interface Discovered {
  key: string;
  url: string;
  lane: string;
  site: string;
  depth: number;
  /** How promising it is, from 0 to 1; absent: the crawl has no goal. */
  score?: number;
  /** Absent: the handler that found it. */
  handler?: string;
  /** Payload of a task that is no page but finds some, such as a sitemap; it runs before all pages. */
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
  /** The strategy that was used, if decided during the attempt. */
  strategy?: string;
  proxy?: string;
  /** When the attempt began, if it slept since. */
  startedAt?: number;
  /** Handed to the next attempt of this task. */
  memory?: unknown;
  /** The next attempt, if any, uses another strategy. */
  escalation?: { to: string; why: string };
  /** Screenshots and snapshots of a failed page. */
  evidence?: readonly TaskArtifact[];
  /** What was learned about the site; merged with existing knowledge when written. */
  learned?: { site: string; url: string; needed: "plain" | "browser"; because: string };
  /** Linked pages; the store drops known ones. */
  discovered?: readonly Discovered[];
  /** What a page of a crawl with a goal adds to what the crawl knows. */
  goal?: GoalPage;
  /** Keys of unknown links that only `max_depth` excludes. */
  tooDeep?: readonly string[];
  /** Saved crawls: the copy for the next run; null: none. */
  copy?: PageCopy | null;
  /** Saved jobs: the page for tests of the rules. */
  fixture?: PageFixture;
  /** Saved jobs: the page, kept until the records of the run are compared. */
  keptPage?: KeptPage;
  /** Monitors: the page as it is now, compared when the run has ended. */
  monitored?: MonitoredPage;
  /** The page, to be compared with when it is read in the same way again. */
  tracked?: TrackedPage;
  /** Saved crawls: the page's digest and how it compares with the previous run. */
  page?: PageState;
  /** Skipped links that were not counted before. */
  skipped?: SkipCounts;
  /** The page was fetched for its links only. */
  followedOnly?: true;
  /** The server answered 304: the records are those of the previous run. */
  unchanged?: true;
  /** Warning that the site redirected the page to a sign-in. */
  signIn?: string;
  /** For the log of a run of many tasks. */
  events?: readonly RunEvent[];
  /** The page a redirect led to. If it already has a task, this one is skipped. */
  landed?: { key: string; url: string };
  /** SHA-256 of the content, in hex, to detect duplicates. */
  content?: string;
  /** Trap counters of the crawl. */
  traps?: TrapState;
  /** How long a page of this run takes, reported when less time than that is left. */
  pageMs?: number;
  /** Child runs that the step no longer waits for. */
  cancelRuns?: readonly string[];
  /** Events and facts of a run that consists of this task. */
  run?: { events: readonly RunEvent[]; facts: RunFacts };
}

/** The result of a handler. */
export type Handled = Outcome & {
  report?: Report;
  /**
   * Time to the first byte of the response; null: not measured, as in a browser. Absent: the handler never measures.
   */
  answeredMs?: number | null;
  /** The site refused another request of the task: that counts for the site, and not for the task. */
  refused?: Failure;
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
  /** Needs a person: the run waits, and no attempt is spent. */
  | { kind: "human"; failure: Failure }
  /** The page is on another site: the task moves to that site's lane, and no attempt is spent. */
  | { kind: "moved"; url: string; redirects: readonly string[]; httpStatus?: number }
  /** The process could not run it (disk full, stopping): the task is requeued, and no attempt is spent. */
  | {
      kind: "handed_back";
      why: string;
      /** Delay before the next attempt. */
      waitMs?: number;
    };

/** What the store writes for the task. */
export type Verdict =
  | { kind: "completed"; artifacts: readonly TaskArtifact[]; results: readonly unknown[]; detail: unknown }
  | { kind: "skipped"; why: string }
  | { kind: "moved"; url: string; lane: string; site: string; redirects: readonly string[] }
  /** Not started again before `readyAt`. */
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
  /** Null: no site to hold, so a rate limit is a normal failure. */
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
  // Retry-After does not apply to a final answer.
  if (disposition !== "permanent" && (what.retryAfterMs ?? 0) > rules.retryAfterMaxMs) {
    const message = `${what.message}; it sent a Retry-After of ${Math.round((what.retryAfterMs ?? 0) / 1000)} s, longer than APP_RETRY_AFTER_MAX_SECONDS`;
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

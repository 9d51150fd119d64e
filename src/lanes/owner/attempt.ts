import type { Clock } from "../../base/clock.ts";
import { isoOf } from "../../base/iso.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import { isOfExtractor } from "../../domain/run/classify.ts";
import { type Failure, FetchFailure, failure } from "../../domain/run/failure.ts";
import {
  type Attempt,
  type Handled,
  type Report,
  type RetryRules,
  type Verdict,
  verdictOf,
} from "../../domain/run/outcome.ts";
import { mayBeOfProxy } from "../../domain/proxy/proxy-score.ts";
import type { ClaimedTask, SettledTask } from "../../store/ports/port.ts";
import { type Asleep, Requeue, type HandlerContext, type HandlerLookup } from "../handlers/handler.ts";
import type { StoreBackpressure } from "../limits/store-backpressure.ts";
import type { RetryLog } from "./retry-log.ts";
import { withVerdict } from "./with-verdict.ts";

export interface AttemptDeps {
  clock: Clock;
  random: Random;
  log: Log;
  handlers: HandlerLookup;
  retry: RetryRules;
  backpressure: StoreBackpressure;
  retryLog: RetryLog;
}

export interface AttemptEnd {
  settled: SettledTask;
  /** The effect on the site: a failure, null for a good answer, undefined for none. */
  aboutSite: Failure | null | undefined;
  /** Latency of a good answer; null: not measured, absent: tasks of this kind never are. */
  answeredMs?: number | null;
}

/** The abort reason of a task that is stopped without a result; every other reason requeues it. */
export const TASK_STOPPED = new DOMException("the task was stopped", "AbortError");

/** Runs one attempt and returns the outcome to write. Never throws. */
export async function attemptTask(
  deps: AttemptDeps,
  task: ClaimedTask,
  context: Omit<HandlerContext, "log">,
): Promise<AttemptEnd> {
  const { clock, log } = deps;
  const startedAt = clock.now();
  const begun = clock.monotonic();
  const handler = deps.handlers(task.handler);
  const ended: Handled | Asleep =
    handler === undefined
      ? { kind: "failed", failure: failure("handler_missing", `no handler named ${task.handler} is registered`) }
      : await run(() => handler.run(task, { ...context, log }), context.signal, deps.backpressure);
  // The handler may react to the stop in any way, but a completed task stays completed.
  const isStopped = context.signal.reason === TASK_STOPPED && ended.kind !== "completed";
  const tried = isStopped ? STOPPED : ended;
  if (tried.kind === "asleep")
    return { settled: { task, attempt: null, verdict: { kind: "wait", sleep: tried.sleep } }, aboutSite: undefined };
  const handled = isWithinMoveLimit(tried, task) ? tried : TOO_MANY_MOVES;
  // A task that slept has taken all the time since its start; the clock may have been set in between.
  const sinceMs = handled.report?.startedAt === undefined ? 0 : startedAt - handled.report.startedAt;
  const attempt: Attempt = {
    attempt: task.attempts.length + 1,
    strategy: handled.report?.strategy ?? handler?.strategy ?? "none",
    proxy: handled.report?.proxy ?? null,
    started_at: isoOf(handled.report?.startedAt ?? startedAt),
    duration_ms: Math.round(clock.monotonic() - begun + Math.max(0, sinceMs)),
    http_status: statusOf(handled),
    failure_code: "failure" in handled ? handled.failure.code : null,
    failure_reason: "failure" in handled ? handled.failure.reason : null,
  };
  return settledTask(deps, task, handled, attempt);
}

const STOPPED: Handled = {
  kind: "failed",
  failure: failure("task_stopped", "it was stopped while it ran; retry-failed retries it"),
};

const MAX_MOVES = 20;

const TOO_MANY_MOVES: Handled = {
  kind: "failed",
  failure: failure("too_many_redirects", `the URL redirected from site to site more than ${MAX_MOVES} times`),
};

/** Two sites that redirect a page to each other would do so forever. */
function isWithinMoveLimit(handled: Handled, task: ClaimedTask): boolean {
  return handled.kind !== "moved" || task.redirects.length + handled.redirects.length <= MAX_MOVES;
}

/** Requeues a task that was claimed but not started. */
export function notStarted(task: ClaimedTask): SettledTask {
  return { task, verdict: { kind: "handed_back" }, attempt: null };
}

/** Fails a task without an attempt, because its site has been given up. */
export function givenUp({ handlers }: AttemptDeps, task: ClaimedTask): SettledTask {
  const why = failure("breaker_open", "the site kept failing and was given up; retry-failed retries it");
  const verdict = { kind: "failed", failure: why } as const;
  return { task, verdict, attempt: null, ...withFailureEvent(handlers, task, verdict) };
}

/** Adds the handler's log event of a failed task. */
function withFailureEvent(
  handlers: HandlerLookup,
  task: ClaimedTask,
  verdict: Verdict,
  report?: Report,
): { report?: Report } {
  const event = verdict.kind === "failed" ? handlers(task.handler)?.onFailed?.(task, verdict.failure) : undefined;
  if (event === undefined) return report === undefined ? {} : { report };
  return { report: { ...report, events: [...(report?.events ?? []), event] } };
}

async function run(
  work: () => Promise<Handled | Asleep>,
  signal: AbortSignal,
  backpressure: StoreBackpressure,
): Promise<Handled | Asleep> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) return { kind: "handed_back", why: "stopped" };
    if (error instanceof Requeue) return { kind: "handed_back", why: error.message };
    // A full disk is an outage of the machine, not a failure of the page.
    if (backpressure.report(error)) return { kind: "handed_back", why: messageOf(error) };
    if (error instanceof FetchFailure) return { kind: "failed", failure: error.failure };
    return { kind: "failed", failure: failure("internal", messageOf(error)) };
  }
}

function statusOf(handled: Handled): number | null {
  if ("failure" in handled) return handled.failure.httpStatus ?? null;
  return handled.kind === "handed_back" ? null : (handled.httpStatus ?? null);
}

function aboutSite(handled: Handled): Failure | null | undefined {
  if (handled.kind === "handed_back") return undefined;
  if (handled.refused !== undefined) return handled.refused;
  if (!("failure" in handled)) return null;
  // Bad proxies must not close the site to runs without one.
  if (handled.report?.proxy !== undefined && mayBeOfProxy(handled.failure)) return undefined;
  if (isOfExtractor(handled.failure)) return null;
  // Internal failures and refusals by the address policy say nothing about the site.
  const { code, reason } = handled.failure;
  const ours =
    code === "unknown" || code === "cancelled" || code === "forbidden_target" || reason.startsWith("handler_");
  return ours ? undefined : handled.failure;
}

function settledTask(deps: AttemptDeps, task: ClaimedTask, handled: Handled, attempt: Attempt): AttemptEnd {
  const usual = task.maxAttempts === null ? deps.retry : { ...deps.retry, maxAttempts: task.maxAttempts };
  const rules = deps.handlers(task.handler)?.retryRules?.(usual) ?? usual;
  const now = deps.clock.now();
  const verdict = verdictOf(handled, task, rules, deps.random, now);
  const completed =
    handled.report === undefined ? undefined : withVerdict(handled.report, verdict, task, rules.maxAttempts, now);
  const tried = deps.retryLog.event(task, verdict, rules.maxAttempts, now);
  const report = tried === null ? completed : { ...completed, events: [...(completed?.events ?? []), tried] };
  const settled = { task, attempt, verdict, ...withFailureEvent(deps.handlers, task, verdict, report) };
  if (verdict.kind === "handed_back") return { settled: { ...settled, attempt: null }, aboutSite: undefined };
  // A block that another strategy may get past says nothing about the site yet.
  const escalates = verdict.kind === "retry" && handled.report?.escalation !== undefined;
  const about = escalates || verdict.kind === "human" ? undefined : aboutSite(handled);
  return {
    settled,
    aboutSite: about,
    ...(handled.answeredMs === undefined ? {} : { answeredMs: handled.answeredMs }),
  };
}

import type { Report, RunEvent, Verdict } from "../../domain/run/outcome.ts";
import type { RunFacts } from "../../domain/run/run-facts.ts";
import type { ClaimedTask } from "../../store/ports/port.ts";

/** Adds the verdict to the report of an attempt: only now is it known whether there is a next attempt. */
export function withVerdict(
  report: Report,
  verdict: Verdict,
  task: ClaimedTask,
  maxAttempts: number,
  now: number,
): Report {
  if (report.run === undefined) return report;
  const attempt = task.tries + 1;
  const events = [...report.run.events, ...verdictEvents(report, verdict, { attempt, maxAttempts, now })];
  return { ...report, run: { events, facts: { ...report.run.facts, attempt, ...failureFacts(verdict) } } };
}

function failureFacts(verdict: Verdict): RunFacts {
  if (!("failure" in verdict)) return { failure_code: null, failure_reason: null, error_message: null };
  const { code, reason, message } = verdict.failure;
  return { failure_code: code, failure_reason: reason, error_message: message };
}

function verdictEvents(
  report: Report,
  verdict: Verdict,
  { attempt, maxAttempts, now }: { attempt: number; maxAttempts: number; now: number },
): RunEvent[] {
  if (verdict.kind === "rate_wait") {
    const { code, reason, message } = verdict.failure;
    return [
      {
        type: "task.rate_limited",
        level: "warn",
        message: `Rate limited: ${message}. The site gets no requests for a while; this costs no attempt`,
        meta: { attempt, failure_code: code, failure_reason: reason },
      },
    ];
  }
  if (verdict.kind !== "retry") return [];
  const { code, reason, message } = verdict.failure;
  const { escalation } = report;
  const strategy = escalation?.to ?? report.strategy;
  const delayMs = verdict.readyAt - now;
  const seconds = Math.round(delayMs / 100) / 10;
  const events: RunEvent[] = [
    {
      type: "task.retry_scheduled",
      level: "warn",
      message: `Retry scheduled: attempt ${attempt + 1} of ${maxAttempts} in ${seconds} s, because ${message}`,
      meta: {
        attempt: attempt + 1,
        max_attempts: maxAttempts,
        delay_ms: delayMs,
        failure_code: code,
        failure_reason: reason,
        http_status: verdict.failure.httpStatus ?? null,
        strategy,
      },
    },
  ];
  if (escalation === undefined) return events;
  const escalated: RunEvent = {
    type: "strategy.escalated",
    level: "warn",
    message: `Escalated to ${escalation.to}: ${escalation.why}`,
    meta: { attempt, from: report.strategy, to: escalation.to, failure_code: code, failure_reason: reason },
  };
  return [escalated, ...events];
}

import type { FailureCode, FailureReason } from "../../domain/failure.ts";
import type { Attempt } from "../../domain/outcome.ts";

/**
 * A task's attempts as they are stored: lists of values instead of objects with names. 50 bytes instead of 150 on
 * every task that has ended, and settling writes a third less.
 */
type Packed = [
  attempt: number,
  strategy: string,
  proxy: string | null,
  startedAt: number,
  durationMs: number,
  httpStatus: number | null,
  code: FailureCode | null,
  reason: FailureReason | null,
];

function pack(attempt: Attempt): Packed {
  return [
    attempt.attempt,
    attempt.strategy,
    attempt.proxy,
    Date.parse(attempt.started_at),
    attempt.duration_ms,
    attempt.http_status,
    attempt.failure_code,
    attempt.failure_reason,
  ];
}

function unpack([attempt, strategy, proxy, startedAt, durationMs, httpStatus, code, reason]: Packed): Attempt {
  return {
    attempt,
    strategy,
    proxy,
    started_at: new Date(startedAt).toISOString(),
    duration_ms: durationMs,
    http_status: httpStatus,
    failure_code: code,
    failure_reason: reason,
  };
}

export function packAttempts(before: readonly Attempt[], newest: Attempt | null): string | null {
  if (before.length === 0) return newest === null ? null : JSON.stringify([pack(newest)]);
  return JSON.stringify((newest === null ? before : [...before, newest]).map(pack));
}

export function unpackAttempts(text: string | null): Attempt[] {
  return text === null ? [] : (JSON.parse(text) as Packed[]).map(unpack);
}

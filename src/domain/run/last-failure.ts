/** The last failure of waiting work, and its next attempt. */
import type { Failure, FailureCode, FailureReason } from "./failure.ts";

/** The last failure that put a site on hold; null once it answers again. */
export interface SiteFailure {
  code: FailureCode;
  reason: FailureReason;
  message: string;
  httpStatus: number | null;
}

export function siteFailure({ code, reason, message, httpStatus }: Failure): SiteFailure {
  return { code, reason, message, httpStatus: httpStatus ?? null };
}

/** The last failure as users see it. */
export interface LastFailure {
  failure_code: FailureCode;
  failure_reason: FailureReason;
  message: string;
  http_status: number | null;
  /** The page, or the step's address; null: it is the site's failure, or there is none. */
  url: string | null;
  /** The attempt that comes next, and how many there are; null: no attempt is due. */
  attempt: number | null;
  max_attempts: number | null;
  next_try_at: string | null;
}

/** The attempt after a failure. */
export type NextTry = Pick<LastFailure, "url" | "attempt" | "max_attempts" | "next_try_at">;

const NO_NEXT_TRY: NextTry = { url: null, attempt: null, max_attempts: null, next_try_at: null };

export function lastFailure(
  { code, reason, message, httpStatus }: Failure | SiteFailure,
  next: NextTry = NO_NEXT_TRY,
): LastFailure {
  return {
    failure_code: code,
    failure_reason: reason,
    message,
    http_status: httpStatus ?? null,
    url: next.url,
    attempt: next.attempt,
    max_attempts: next.max_attempts,
    next_try_at: next.next_try_at,
  };
}

/** "attempt 2 of 4"; empty: none is due. */
export function attemptWords({ attempt, max_attempts: most }: Pick<LastFailure, "attempt" | "max_attempts">): string {
  if (attempt === null) return "";
  return most === null ? `attempt ${attempt}` : `attempt ${attempt} of ${most}`;
}

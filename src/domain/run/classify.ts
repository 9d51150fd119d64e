import { type Failure, type FailureReason, failure } from "./failure.ts";

/** What an HTTP status means for the page; null is success. */
export function classifyStatus(status: number, retryAfterMs: number | null): Failure | null {
  if (status >= 200 && status < 300) return null;
  const more = { httpStatus: status, ...(retryAfterMs === null ? {} : { retryAfterMs }) };
  const named = (reason: FailureReason, words: string) =>
    failure(reason, `the server answered ${status} ${words}`, more);
  if (status === 429) return named("http_too_many_requests", "(too many requests)");
  if (status === 503 && retryAfterMs !== null) return named("http_unavailable", "(unavailable, retry later)");
  if (status === 401) return named("http_unauthorized", "(authentication needed)");
  if (status === 403) return named("http_forbidden", "(forbidden)");
  if (status === 404 || status === 410) return named("http_not_found", status === 404 ? "(not found)" : "(gone)");
  if (status >= 500 && status < 600) return named("http_server_error", "(server error)");
  if (status >= 400 && status < 500) return named("http_client_error", "(request refused)");
  return named("http_unexpected", "(unexpected status)");
}

export type Disposition =
  /** Trying again may help; costs an attempt. */
  | "retry"
  /** The answer is final. */
  | "permanent"
  /** The site rate-limits us: it is held, and the page spends no attempt. */
  | "rate_limit";

const PERMANENT: ReadonlySet<FailureReason> = new Set<FailureReason>([
  "http_not_found",
  "http_client_error",
  "http_unexpected",
  "body_too_large",
  "decompression_limit",
  "unsupported_encoding",
  "headers_too_large",
  "too_many_redirects",
  "bad_redirect",
  "not_html",
  "document_encrypted",
  "document_damaged",
  "document_unsupported",
  "document_too_large",
  "document_timeout",
  "needs_ocr",
  "private_address",
  "scheme_not_allowed",
  "url_not_allowed",
  "proxy_forbidden",
  "retry_after_too_long",
  "human_skipped",
  "no_proxies",
  "field_missing",
  "field_invalid",
  "schema_mismatch",
  "extraction_failed",
  "extraction_timeout",
  "action_failed",
  "records_degraded",
  "llm_refused",
  "llm_bad_answer",
  "robots_disallowed",
  "browser_missing",
  "session_unusable",
  "request_invalid",
  "handler_missing",
  "handler_refused",
  "handler_bad_result",
  "step_params",
  "step_bad_result",
  "step_child_cancelled",
  "step_entries_failed",
  "task_stopped",
]);

const RETRYABLE_CLIENT_ERRORS: ReadonlySet<number> = new Set([408, 421, 425, 423]);
const FINAL_SERVER_ERRORS: ReadonlySet<number> = new Set([501, 505, 506, 510]);

export function dispositionOf(what: Failure): Disposition {
  if (what.reason === "http_too_many_requests" || what.reason === "http_unavailable") return "rate_limit";
  if (what.httpStatus !== undefined) {
    if (RETRYABLE_CLIENT_ERRORS.has(what.httpStatus)) return "retry";
    if (FINAL_SERVER_ERRORS.has(what.httpStatus)) return "permanent";
  }
  return PERMANENT.has(what.reason) ? "permanent" : "retry";
}

/** Permanent for the run, but a manual retry may succeed later. */
const MAY_PASS: ReadonlySet<FailureReason> = new Set<FailureReason>([
  "retry_after_too_long",
  "no_proxies",
  "browser_missing",
  "session_unusable",
  // With APP_OCR_COMMAND or APP_OCR_URL, or on a machine that is less busy.
  "needs_ocr",
  "document_timeout",
  "human_skipped",
  "handler_missing",
  "task_stopped",
  "step_child_cancelled",
  "step_entries_failed",
]);

/** A retry would fail again. */
export const HOPELESS_REASONS: readonly FailureReason[] = [...PERMANENT].filter((reason) => !MAY_PASS.has(reason));

/** Whether a manual retry of a permanent failure may succeed. */
export function retryMayHelp(reason: FailureReason): boolean {
  return !HOPELESS_REASONS.includes(reason);
}

const PROXY_FAULTS: ReadonlySet<FailureReason> = new Set<FailureReason>([
  "proxy_unreachable",
  "proxy_auth",
  "proxy_forbidden",
]);

/**
 * Certainly the proxy's fault: another proxy may succeed, and the page spends no attempt. A refused or slow tunnel is not
 * certain: the site behind it may not answer.
 */
export function isProxyFault(what: Failure): boolean {
  return PROXY_FAULTS.has(what.reason);
}

/** The page was fetched; the model that should read it failed. */
export function isOfExtractor({ reason }: Failure): boolean {
  return reason.startsWith("llm_");
}

/** Failures that say something about the site's health rather than about one page. */
const OF_SITE: ReadonlySet<FailureReason> = new Set<FailureReason>([
  "connection_refused",
  "connection_failed",
  "dns_failed",
  "timeout_connect",
  "tls_failed",
]);

/** Whether the failure may be specific to the page: a site that refuses or is unreachable is so for all pages. */
export function mayBeOfPage({ code, reason }: Failure): boolean {
  return code !== "blocked" && code !== "rate_limited" && !OF_SITE.has(reason);
}

export function countsForBreaker(what: Failure): boolean {
  // Without robots.txt no page may be fetched: a site that fails there is down.
  if (what.because !== undefined) return countsForBreaker(failure(what.because, what.message));
  // A slow user handler is not the site's fault.
  if (what.reason === "handler_timeout") return false;
  // The site was not reached.
  if (isProxyFault(what) || what.reason === "proxy_refused" || what.reason === "proxy_timeout") return false;
  return (
    what.code === "timeout" ||
    what.code === "network" ||
    what.code === "blocked" ||
    what.code === "rate_limited" ||
    what.reason === "http_server_error"
  );
}

/** A 503 without Retry-After holds the site as well, though it costs the page an attempt. */
export function holdsSite(what: Failure): boolean {
  return dispositionOf(what) === "rate_limit" || what.httpStatus === 503;
}

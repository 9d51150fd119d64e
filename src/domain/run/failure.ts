/**
 * Why a task did not succeed: a coarse code that programs branch on, and a finer reason for people.
 */
export const FAILURE_CODES = [
  "blocked",
  "rate_limited",
  "timeout",
  "network",
  "bad_response",
  "extraction",
  "forbidden_target",
  "robots",
  "circuit_open",
  "cancelled",
  "unknown",
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

export const FAILURE_REASONS = {
  timeout_connect: "timeout",
  timeout_headers: "timeout",
  timeout_idle: "timeout",
  timeout_total: "timeout",
  dns_failed: "network",
  connection_refused: "network",
  connection_reset: "network",
  connection_failed: "network",
  tls_failed: "network",
  no_proxies: "network",
  proxy_unreachable: "network",
  proxy_auth: "network",
  proxy_refused: "network",
  proxy_timeout: "timeout",
  truncated_body: "bad_response",
  malformed_response: "bad_response",
  headers_too_large: "bad_response",
  body_too_large: "bad_response",
  decompression_limit: "bad_response",
  decompression_failed: "bad_response",
  unsupported_encoding: "bad_response",
  too_many_redirects: "bad_response",
  bad_redirect: "bad_response",
  not_html: "bad_response",
  document_encrypted: "bad_response",
  document_damaged: "bad_response",
  document_unsupported: "bad_response",
  document_too_large: "bad_response",
  document_timeout: "bad_response",
  needs_ocr: "bad_response",
  http_not_found: "bad_response",
  http_client_error: "bad_response",
  http_server_error: "bad_response",
  http_unexpected: "bad_response",
  http_unauthorized: "blocked",
  http_forbidden: "blocked",
  challenge_page: "blocked",
  captcha_page: "blocked",
  empty_shell: "blocked",
  login_page: "blocked",
  human_skipped: "blocked",
  http_too_many_requests: "rate_limited",
  http_unavailable: "rate_limited",
  retry_after_too_long: "rate_limited",
  private_address: "forbidden_target",
  scheme_not_allowed: "forbidden_target",
  url_not_allowed: "forbidden_target",
  proxy_forbidden: "forbidden_target",
  field_missing: "extraction",
  field_invalid: "extraction",
  schema_mismatch: "extraction",
  extraction_failed: "extraction",
  extraction_timeout: "extraction",
  action_failed: "extraction",
  records_degraded: "extraction",
  llm_rate_limited: "extraction",
  llm_unavailable: "extraction",
  llm_timeout: "extraction",
  llm_refused: "extraction",
  llm_bad_answer: "extraction",
  robots_disallowed: "robots",
  robots_unreachable: "robots",
  breaker_open: "circuit_open",
  run_cancelled: "cancelled",
  task_stopped: "cancelled",
  browser_missing: "unknown",
  browser_failed: "unknown",
  browser_crashed: "unknown",
  page_crashed: "unknown",
  session_unusable: "unknown",
  request_invalid: "unknown",
  handler_threw: "unknown",
  handler_refused: "unknown",
  handler_timeout: "timeout",
  handler_out_of_memory: "unknown",
  handler_exited: "unknown",
  handler_missing: "unknown",
  handler_bad_result: "unknown",
  step_timeout: "timeout",
  step_params: "unknown",
  step_bad_result: "unknown",
  step_child_failed: "unknown",
  step_child_cancelled: "cancelled",
  step_entries_failed: "unknown",
  internal: "unknown",
} as const satisfies Record<string, FailureCode>;
export type FailureReason = keyof typeof FAILURE_REASONS;

export interface Failure {
  code: FailureCode;
  reason: FailureReason;
  /** One user-facing sentence. Never contains an address that the guard refused, nor a secret. */
  message: string;
  httpStatus?: number | undefined;
  /** From a Retry-After header, already turned into milliseconds. */
  retryAfterMs?: number | undefined;
  /** Of robots_unreachable: how reading robots.txt failed. */
  because?: FailureReason | undefined;
  /** Of field_missing: the required fields without a value. */
  fields?: readonly string[] | undefined;
}

export function failure(
  reason: FailureReason,
  message: string,
  more: Pick<Failure, "httpStatus" | "retryAfterMs" | "because" | "fields"> = {},
): Failure {
  return { code: FAILURE_REASONS[reason], reason, message, ...more };
}

/** Thrown by everything that fetches; carries the classified failure. */
export class FetchFailure extends Error {
  readonly failure: Failure;

  constructor(
    reason: FailureReason,
    message: string,
    more: { httpStatus?: number; retryAfterMs?: number; because?: FailureReason; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "FetchFailure";
    const { httpStatus, retryAfterMs, because } = more;
    this.failure = failure(reason, message, {
      httpStatus,
      retryAfterMs,
      ...(because === undefined ? {} : { because }),
    });
  }
}

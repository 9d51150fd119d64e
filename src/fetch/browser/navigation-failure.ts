import { messageOf } from "../../base/errors.ts";
import { FetchFailure, type FailureReason } from "../../domain/run/failure.ts";

const REASONS: Record<string, FailureReason> = {
  ERR_NAME_NOT_RESOLVED: "dns_failed",
  ERR_CONNECTION_REFUSED: "connection_refused",
  ERR_CONNECTION_RESET: "connection_reset",
  ERR_CONNECTION_CLOSED: "connection_reset",
  ERR_CONNECTION_ABORTED: "connection_reset",
  ERR_EMPTY_RESPONSE: "connection_reset",
  ERR_SOCKET_NOT_CONNECTED: "connection_reset",
  ERR_CONNECTION_TIMED_OUT: "timeout_connect",
  ERR_TIMED_OUT: "timeout_idle",
  ERR_TOO_MANY_REDIRECTS: "too_many_redirects",
  ERR_UNSAFE_REDIRECT: "bad_redirect",
  ERR_INVALID_REDIRECT: "bad_redirect",
  ERR_INVALID_URL: "url_not_allowed",
  ERR_UNSAFE_PORT: "url_not_allowed",
  ERR_DISALLOWED_URL_SCHEME: "scheme_not_allowed",
  ERR_UNKNOWN_URL_SCHEME: "scheme_not_allowed",
  ERR_INVALID_HTTP_RESPONSE: "malformed_response",
  ERR_INVALID_RESPONSE: "malformed_response",
  ERR_HTTP2_PROTOCOL_ERROR: "malformed_response",
  ERR_INVALID_CHUNKED_ENCODING: "malformed_response",
  ERR_RESPONSE_HEADERS_TOO_BIG: "headers_too_large",
  ERR_RESPONSE_HEADERS_MULTIPLE_CONTENT_LENGTH: "malformed_response",
  ERR_RESPONSE_HEADERS_MULTIPLE_LOCATION: "bad_redirect",
  ERR_RESPONSE_HEADERS_TRUNCATED: "connection_reset",
  ERR_INCOMPLETE_CHUNKED_ENCODING: "truncated_body",
  ERR_CONTENT_LENGTH_MISMATCH: "truncated_body",
  ERR_CONTENT_DECODING_FAILED: "decompression_failed",
  ERR_CONTENT_DECODING_INIT_FAILED: "unsupported_encoding",
};

/** Chromium's code (`ERR_…`) in an error message. */
function browserCode(text: string): string | null {
  return /net::(ERR_[A-Z0-9_]+)/.exec(text)?.[1] ?? null;
}

/** Maps a failed navigation to a failure reason. */
export function navigationFailure(error: unknown, host: string): FetchFailure {
  if (error instanceof FetchFailure) return error;
  const text = messageOf(error);
  if (text.includes("Download is starting"))
    return new FetchFailure("not_html", "the URL leads to a file, not to a page");
  const code = browserCode(text);
  // Without Playwright's message: it has many lines, and repeats the URL, which may contain secrets.
  if (code === null) return new FetchFailure("internal", "the browser could not open the page", { cause: error });
  if (code.startsWith("ERR_CERT_") || code.startsWith("ERR_SSL_") || code.includes("_SSL_"))
    return new FetchFailure("tls_failed", `no secure connection to ${host} (${code})`);
  return new FetchFailure(REASONS[code] ?? "connection_failed", `${host} could not be opened (${code})`);
}

/** Maps a document that broke off to a failure; null: not the site's fault. */
export function brokenDocument(errorText: string): FetchFailure | null {
  const code = browserCode(errorText);
  if (code === null || code === "ERR_ABORTED" || code === "ERR_BLOCKED_BY_CLIENT") return null;
  const reason = REASONS[code];
  if (reason === "decompression_failed" || reason === "unsupported_encoding" || reason === "malformed_response")
    return new FetchFailure(reason, `the page cannot be read (${code})`);
  return new FetchFailure("truncated_body", `the page is incomplete (${code})`);
}

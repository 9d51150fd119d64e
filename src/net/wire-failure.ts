import { systemCode } from "../base/errors.ts";
import { FetchFailure, type FailureReason } from "../domain/run/failure.ts";

/** Replaces ECONNRESET, see `renameResets`. */
export const RESET_CODE = "ORB_RESET";

/**
 * Maps errors of sockets, TLS and undici to failure reasons. Matches codes, not messages, except where undici uses one
 * code for two situations.
 */
export function connectFailure(error: Error, hostname: string): FetchFailure {
  if (error instanceof FetchFailure) return error;
  const code = systemCode(error) ?? "";
  const make = (reason: FailureReason, message: string) => new FetchFailure(reason, message, { cause: error });
  if (code === "ECONNREFUSED") return make("connection_refused", `${hostname} refused the connection`);
  if (code === "ETIMEDOUT" || code === "UND_ERR_CONNECT_TIMEOUT") {
    return make("timeout_connect", `no connection to ${hostname} in time`);
  }
  if (code === "ECONNRESET" || code === "EPIPE")
    return make("connection_reset", `${hostname} closed the connection while it opened`);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return make("dns_failed", `the host name "${hostname}" could not be resolved`);
  if (isTlsCode(code)) return make("tls_failed", `no secure connection to ${hostname} (${code})`);
  return make("connection_failed", `no connection to ${hostname} (${code === "" ? "unknown cause" : code})`);
}

function isTlsCode(code: string): boolean {
  return (
    code === "EPROTO" ||
    code.startsWith("ERR_TLS") ||
    code.startsWith("ERR_SSL") ||
    code.startsWith("ERR_OSSL") ||
    code.startsWith("CERT_") ||
    code.startsWith("UNABLE_TO_") ||
    code.includes("SELF_SIGNED") ||
    code === "HOSTNAME_MISMATCH" ||
    code === "INVALID_CA" ||
    code === "INVALID_PURPOSE"
  );
}

/** A failure after the request was written; `answered`: the response head had arrived. */
export function exchangeFailure(error: Error, answered: boolean): Error {
  if (error instanceof FetchFailure) return error;
  const code = systemCode(error) ?? "";
  const make = (reason: FailureReason, message: string) => new FetchFailure(reason, message, { cause: error });
  if (code === "UND_ERR_HEADERS_OVERFLOW") return make("headers_too_large", "the response headers are too large");
  if (code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") {
    // undici reports this for every parser error once it has seen a Content-Length, even for one in the headers.
    return answered
      ? make("truncated_body", "the body does not have the announced length")
      : make("malformed_response", "the response is not valid HTTP");
  }
  if (error.name === "HTTPParserError") return parserFailure(error, answered);
  if (code === "UND_ERR_SOCKET") {
    if (error.message.startsWith("bad ")) return make("malformed_response", "the server sent an unrequested response");
    return answered
      ? make("truncated_body", "the connection closed in the middle of the body")
      : make("connection_reset", "the connection closed before a response arrived");
  }
  if (code === RESET_CODE || code === "ECONNRESET" || code === "EPIPE") {
    return make(
      "connection_reset",
      answered
        ? "the connection was reset in the middle of the response"
        : "the connection was reset before a response arrived",
    );
  }
  if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED") {
    return make("request_invalid", `the request cannot be sent: ${error.message}`);
  }
  if (code === "ETIMEDOUT") return make("timeout_idle", "the connection timed out");
  if (isTlsCode(code)) return make("tls_failed", `the secure connection failed (${code})`);
  return make("connection_failed", `the connection failed (${code === "" ? "unknown cause" : code})`);
}

/** No cause: the parser's error carries the rest of the response, which must not be stored or logged. */
function parserFailure(error: Error, answered: boolean): FetchFailure {
  // undici leaves the code empty; its message ends with the reason in parentheses. EOF within a message is a truncation,
  // everything else is not HTTP.
  const why = /\(([^()]*)\)$/.exec(error.message)?.[1] ?? "no reason given";
  if (why === "Invalid EOF state" && answered)
    return new FetchFailure("truncated_body", "the connection closed in the middle of the body");
  return new FetchFailure("malformed_response", `the response is not valid HTTP: ${why}`);
}

/** Whether the error means that the server had already closed the kept-alive connection. */
export function isStaleConnection(error: Error): boolean {
  const code = systemCode(error) ?? "";
  if (code === "UND_ERR_SOCKET") return !error.message.startsWith("bad ");
  return code === RESET_CODE || code === "ECONNRESET" || code === "EPIPE";
}

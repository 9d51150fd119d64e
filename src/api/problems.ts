/**
 * All error responses of the API: RFC 9457 problems, each with a stable code. Codes of src/base/errors.ts are used
 * unchanged; the others belong to HTTP.
 */
import {
  ERROR_CATALOGUE,
  type ErrorCode,
  type FieldError,
  isOrbError,
  OrbError,
  type Reaction,
} from "../base/errors.ts";
import { FetchFailure } from "../domain/run/failure.ts";

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  errors?: FieldError[];
  hint?: string;
  /** Of an unexpected error: the log has the details under this id. */
  error_id?: string;
  failure_code?: string;
  failure_reason?: string;
}

interface HttpEntry {
  status: number;
  title: string;
  /** What to do about it. */
  remedy: string;
}

export const HTTP_PROBLEMS = {
  request_malformed: {
    status: 400,
    title: "The request is not valid HTTP.",
    remedy: "Check the request that the client sends.",
  },
  url_malformed: {
    status: 400,
    title: "The URL cannot be decoded.",
    remedy: "Percent-encode each part of the path; % itself is %25.",
  },
  body_malformed: {
    status: 400,
    title: "The body is not valid JSON.",
    remedy: "Send one JSON value in UTF-8, without the keys __proto__ and constructor.prototype.",
  },
  unauthorized: {
    status: 401,
    title: "The request needs a token.",
    remedy:
      "Send `Authorization: Bearer …` with an API key or the value of APP_API_TOKEN, or log in with POST /session.",
  },
  forbidden_origin: {
    status: 403,
    title: "The request comes from another web site.",
    remedy: "Send it from a page of this server, or from a program that sends no Origin header.",
  },
  role_missing: {
    status: 403,
    title: "The role of the key or person does not allow this call.",
    remedy:
      "Use a key with that role; docs/roles.md lists the role of every call. People have the role of their groups (APP_AUTH_ROLES).",
  },
  key_limited: {
    status: 403,
    title: "The key is limited to some jobs, sites or tags.",
    remedy: "Use a key without limits; docs/roles.md lists the calls that keys with limits may make.",
  },
  rate_limited: {
    status: 429,
    title: "The key has made too many requests.",
    remedy: "Wait as long as Retry-After says, or have an admin raise its requests per minute.",
  },
  route_not_found: {
    status: 404,
    title: "There is no such route.",
    remedy: "GET /openapi.json lists every route; /docs shows them.",
  },
  method_not_allowed: {
    status: 405,
    title: "The route does not support this method.",
    remedy: "Use one of the methods in the Allow header.",
  },
  too_many_logins: {
    status: 429,
    title: "Too many wrong tokens.",
    remedy: "Wait as long as Retry-After says, then send the value of APP_API_TOKEN.",
  },
  request_timeout: {
    status: 408,
    title: "The request did not arrive in time.",
    remedy: "Send it again without long pauses, or over a faster connection.",
  },
  body_too_large: {
    status: 413,
    title: "The body is too large.",
    remedy: "Split it into several smaller requests.",
  },
  url_too_long: {
    status: 414,
    title: "The URL is too long.",
    remedy: "Shorten the path or the query.",
  },
  media_type_unsupported: {
    status: 415,
    title: "The body is not declared as JSON.",
    remedy: "Send `Content-Type: application/json`.",
  },
  host_not_allowed: {
    status: 421,
    title: "The server does not accept this Host header.",
    remedy:
      "Use localhost or 127.0.0.1 with the port, or set APP_HOST and APP_API_TOKEN to allow access from other machines.",
  },
  headers_too_large: {
    status: 431,
    title: "The headers are too large.",
    remedy: "Send fewer or shorter headers, or a shorter URL.",
  },
  internal: {
    status: 500,
    title: "Unexpected server error.",
    remedy: "The server's log has the details under error_id.",
  },
  stopping: {
    status: 503,
    title: "The server is stopping.",
    remedy: "Try again when it is back.",
  },
  unready: {
    status: 503,
    title: "A dependency of the server is unavailable.",
    remedy: "`checks` names it; `orb doctor` checks each one.",
  },
} as const satisfies Record<string, HttpEntry>;

type HttpProblemCode = keyof typeof HTTP_PROBLEMS;
export type ProblemCode = ErrorCode | HttpProblemCode;

export const PROBLEM_CODES = [...Object.keys(HTTP_PROBLEMS), ...Object.keys(ERROR_CATALOGUE)] as ProblemCode[];

/** Errors whose status differs from the default of their reaction. */
const STATUS_OF_ERROR: Partial<Record<ErrorCode, number>> = {
  not_found: 404,
  outside_limits: 403,
  illegal_transition: 409,
  recovery_exhausted: 409,
  version_conflict: 409,
  disk_full: 507,
  engine_lost: 503,
  secret_key_wrong: 409,
  forbidden_target: 422,
  fetch_failed: 502,
  handler_failed: 502,
  search_unavailable: 502,
  config_invalid: 503,
  handlers_invalid: 503,
};

const STATUS_OF_REACTION: Readonly<Record<Reaction, number>> = {
  retry: 503,
  wait: 503,
  give_up: 409,
  fix_input: 422,
  stop: 503,
};

const RETRY_AFTER_SECONDS: Partial<Record<Reaction, number>> = { retry: 1, wait: 10, give_up: 1 };

export function statusOf(code: ProblemCode): number {
  if (code in HTTP_PROBLEMS) return HTTP_PROBLEMS[code as HttpProblemCode].status;
  const error = code as ErrorCode;
  return STATUS_OF_ERROR[error] ?? STATUS_OF_REACTION[ERROR_CATALOGUE[error].reaction];
}

/** Thrown by hooks and handlers for problems of HTTP rather than of the product. */
export class ApiProblem extends Error {
  readonly code: HttpProblemCode;
  readonly errors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;
  /** Further members of the response. */
  readonly more: Readonly<Record<string, unknown>>;

  constructor(
    code: HttpProblemCode,
    detail: string,
    options: { errors?: readonly FieldError[]; headers?: Record<string, string>; more?: Record<string, unknown> } = {},
  ) {
    super(detail);
    this.name = "ApiProblem";
    this.code = code;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
    this.more = options.more ?? {};
  }
}

interface ProblemAnswer {
  problem: Problem;
  headers: Record<string, string>;
  /** Unexpected: it is logged. */
  unforeseen: boolean;
}

/** Enough for a reader. */
const MOST_ERRORS = 50;

function typeOf(code: string): string {
  return `urn:orbweaver:problem:${code}`;
}

/** The response to any error. `errorId` identifies it in the log when it is unexpected. */
export function answerTo(error: unknown, errorId: string): ProblemAnswer {
  const known = foreseen(error);
  if (known instanceof ApiProblem) {
    const { status, title, remedy } = HTTP_PROBLEMS[known.code];
    const problem = { ...problemOf(known.code, title, status, known.message, known.errors, remedy), ...known.more };
    return { problem, headers: { ...known.headers }, unforeseen: false };
  }
  if (known instanceof OrbError) {
    const entry = ERROR_CATALOGUE[known.code];
    const status = statusOf(known.code);
    const hint = known.hint ?? entry.remedy;
    const problem = problemOf(known.code, entry.meaning, status, known.message, known.fields, hint);
    if (error instanceof FetchFailure) {
      problem.failure_code = error.failure.code;
      problem.failure_reason = error.failure.reason;
    }
    const seconds = status === 503 ? RETRY_AFTER_SECONDS[entry.reaction] : undefined;
    return { problem, headers: seconds === undefined ? {} : { "retry-after": String(seconds) }, unforeseen: false };
  }
  const { status, title, remedy } = HTTP_PROBLEMS.internal;
  // Its message may contain anything: log it, do not return it.
  const problem = problemOf("internal", title, status, `the request failed; its id is ${errorId}`, [], remedy);
  return { problem: { ...problem, error_id: errorId }, headers: {}, unforeseen: true };
}

function problemOf(
  code: ProblemCode,
  title: string,
  status: number,
  detail: string,
  errors: readonly FieldError[],
  hint: string,
): Problem {
  return {
    type: typeOf(code),
    title,
    status,
    detail,
    code,
    ...(errors.length === 0 ? {} : { errors: errors.slice(0, MOST_ERRORS) }),
    hint,
  };
}

/** Maps the web framework's error codes to ours. */
const FRAMEWORK_ERRORS: Readonly<Record<string, readonly [HttpProblemCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["media_type_unsupported", "the body is not declared as application/json"],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["request_malformed", "the body does not have the declared length"],
  FST_ERR_BAD_URL: ["url_malformed", "a part of the path is not valid percent-encoding"],
  FST_ERR_MAX_PARAM_LENGTH: ["url_too_long", "a part of the path is too long"],
};

function foreseen(error: unknown): ApiProblem | OrbError | undefined {
  if (error instanceof ApiProblem || isOrbError(error)) return error;
  if (error instanceof FetchFailure) {
    const code = error.failure.code === "forbidden_target" ? "forbidden_target" : "fetch_failed";
    return new OrbError(code, error.failure.message);
  }
  const { code = "", statusCode } = error as { code?: string; statusCode?: number };
  const known = FRAMEWORK_ERRORS[code];
  if (known !== undefined) return new ApiProblem(...known);
  // Other client errors of the framework: a body that is not JSON, an aborted connection.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new ApiProblem("request_malformed", "the request cannot be read");
  return undefined;
}

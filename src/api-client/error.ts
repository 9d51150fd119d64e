/** What a call fails with, unless it was aborted: then it fails with the signal's reason. */
import type { Problem } from "./operations.ts";

/** The API's own codes; each keeps its meaning for ever. */
export type ProblemCode = Problem["code"];

/** What the client itself finds out. */
export type ClientCode =
  /** Nobody answered: no connection, or it broke off. */
  | "unreachable"
  /** The call took longer than it was allowed to. */
  | "timed_out"
  /** Somebody else answered: a proxy, or another program at that address. */
  | "not_orbweaver";

export interface FieldError {
  /** `items[0].url`, `query.limit` */
  path: string;
  message: string;
}

interface ErrorFacts {
  code: ProblemCode | ClientCode;
  status: number;
  detail: string;
  errors?: readonly FieldError[];
  hint?: string | undefined;
  problem?: Problem | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

export class OrbweaverError extends Error {
  override readonly name = "OrbweaverError";
  readonly code: ProblemCode | ClientCode;
  /** Of the answer; 0: there was none. */
  readonly status: number;
  readonly detail: string;
  /** The fields that cannot be used, and why. */
  readonly errors: readonly FieldError[];
  /** What to do about it. */
  readonly hint: string | null;
  /** All that the server said. */
  readonly problem: Problem | null;
  /** When the server wants to be asked again. */
  readonly retryAfterMs: number | null;

  constructor(facts: ErrorFacts) {
    super(facts.detail, facts.cause === undefined ? {} : { cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status;
    this.detail = facts.detail;
    this.errors = facts.errors ?? [];
    this.hint = facts.hint ?? null;
    this.problem = facts.problem ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** Whether this is what a call failed with, and with which of these codes. */
export function isOrbweaverError<Code extends OrbweaverError["code"]>(
  error: unknown,
  ...codes: Code[]
): error is OrbweaverError & { code: Code } {
  return error instanceof OrbweaverError && (codes.length === 0 || codes.some((code) => code === error.code));
}

/** What an answer that is no success means. */
export function errorOf(status: number, text: string, retryAfterMs: number | null): OrbweaverError {
  const problem = parse(text);
  const waits = retryAfterMs ?? undefined;
  if (problem === null) {
    const detail = `the server answered ${status}, but it is not Orbweaver`;
    const hint = "Check that the URL is that of orb serve, and that proxies in between pass on the calls.";
    return new OrbweaverError({ code: "not_orbweaver", status, detail, hint, retryAfterMs: waits });
  }
  const { code, detail, errors = [], hint } = problem;
  return new OrbweaverError({ code, status, detail, errors, hint, problem, retryAfterMs: waits });
}

function parse(text: string): Problem | null {
  try {
    const value: unknown = JSON.parse(text);
    const { code, detail } = (value ?? {}) as Partial<Problem>;
    return typeof code === "string" && typeof detail === "string" ? (value as Problem) : null;
  } catch {
    return null;
  }
}

/** What systems call failures, in words. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ConnectionRefused: "the connection was refused",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host name cannot be resolved now",
  UND_ERR_CONNECT_TIMEOUT: "the connection took too long",
  UND_ERR_SOCKET: "the connection was lost",
  ECONNRESET: "the connection was lost",
  EPIPE: "the connection was lost",
};

export function unreachable(address: string, cause: unknown): OrbweaverError {
  const { code, cause: inner } = (cause ?? {}) as { code?: string; cause?: { code?: string } };
  const why = WORDS[inner?.code ?? code ?? ""] ?? "the call failed";
  return new OrbweaverError({
    code: "unreachable",
    status: 0,
    detail: `no answer from ${address}: ${why}`,
    hint: "Is orb serve running there? Check the host and port.",
    cause,
  });
}

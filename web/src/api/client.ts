/** API calls, typed by the OpenAPI description. Failures are `Problem`s that can be shown to the user. */
import { REPEATABLE, ROUTES } from "../../../src/api-client/operations.ts";
import { SubmitOnce } from "../logic/submit-once.ts";
import { noteServerTime } from "../logic/server-time.ts";
import type { Operations } from "./types.ts";

export type OperationName = keyof Operations;
export type Answer<Name extends OperationName> = Operations[Name]["answer"];

/** The inputs of an operation; mandatory ones are required. */
type Needed<Key extends string, Value> = [Value] extends [undefined]
  ? { [K in Key]?: undefined }
  : [object] extends [Value]
    ? { [K in Key]?: Value | undefined }
    : { [K in Key]: Value };

type Address<Name extends OperationName> = Needed<"params", Operations[Name]["params"]> &
  Needed<"query", Operations[Name]["query"]>;

export type Input<Name extends OperationName> = Address<Name> & Needed<"body", Operations[Name]["body"]>;

export interface FieldProblem {
  path: string;
  message: string;
}

/** An error response of the server, or why it could not be reached. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;
  readonly fields: readonly FieldProblem[];

  constructor(problem: { status: number; code: string; message: string; hint?: string; fields?: FieldProblem[] }) {
    super(problem.message);
    this.status = problem.status;
    this.code = problem.code;
    this.hint = problem.hint ?? null;
    this.fields = problem.fields ?? [];
  }
}

let onUnauthorized = () => {};
const waiting = new Set<() => void>();

/** Called when a request is rejected for lack of a token: prompts for the token, then calls `loggedIn`. */
export function whenUnauthorized(listener: () => void): void {
  onUnauthorized = listener;
}

/** Repeats the requests that were rejected meanwhile. */
export function loggedIn(): void {
  for (const goOn of waiting) goOn();
  waiting.clear();
}

function untilLoggedIn(signal: AbortSignal | undefined): Promise<void> {
  onUnauthorized();
  return new Promise((resolve, reject) => {
    waiting.add(resolve);
    signal?.addEventListener(
      "abort",
      () => {
        waiting.delete(resolve);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
}

type Loose = { params?: Record<string, unknown>; query?: Record<string, unknown>; body?: unknown } | undefined;

export interface CallOptions {
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
  /** A raw body that the server parses itself, such as YAML. */
  text?: { type: string; text: string };
}

/** The URL of an operation, for links that leave the page, such as downloads. */
export function addressOf<Name extends OperationName>(name: Name, input?: Address<Name>): string {
  const { params = {}, query = {} } = (input ?? {}) as NonNullable<Loose>;
  const [, template = ""] = ROUTES[name].split(" ");
  const path = template.replace(/\{(\w+)\}/g, (_whole, key: string) => encodeURIComponent(String(params[key])));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "") continue;
    for (const item of Array.isArray(value) ? value : [value]) search.append(key, String(item));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

export async function call<Name extends OperationName>(
  name: Name,
  input?: Input<Name>,
  options: CallOptions = {},
): Promise<Answer<Name>> {
  return (await send(name, input as Loose, options)).data as Answer<Name>;
}

export interface Page<Row> {
  rows: Row[];
  /** Cursor of the next page; null: this is the last. */
  next: string | null;
  /** Total of matches, if the server reports it. */
  total: number | null;
}

type RowOf<Name extends OperationName> = Answer<Name> extends (infer Row)[] ? Row : never;

/** One page of a list; pass `next` as `query.cursor` for the next one. */
export async function callPage<Name extends OperationName>(
  name: Name,
  input?: Input<Name>,
  options: CallOptions = {},
): Promise<Page<RowOf<Name>>> {
  const { data, headers } = await send(name, input as Loose, options);
  const link = /<([^>]*)>;\s*rel="next"/.exec(headers.get("link") ?? "")?.[1];
  const next = link === undefined ? null : new URL(link, location.origin).searchParams.get("cursor");
  const total = headers.get("x-total-count");
  return { rows: data as RowOf<Name>[], next, total: total === null ? null : Number(total) };
}

const DOUBLE_CLICK_MS = 1000;

const submissions = new SubmitOnce({
  newKey: () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-"),
  isUnknown: (error) => !(error instanceof Problem) || error.status === 0 || error.status >= 500,
  later: (work) => setTimeout(work, DOUBLE_CLICK_MS),
});

interface Answered {
  data: unknown;
  headers: Headers;
}

async function send(name: OperationName, input: Loose, options: CallOptions): Promise<Answered> {
  if (!REPEATABLE.has(ROUTES[name])) return exchange(name, input, options);
  return submissions.do(JSON.stringify([name, input, options.text]), (key) =>
    exchange(name, input, { ...options, headers: { ...options.headers, "idempotency-key": key } }),
  );
}

async function exchange(name: OperationName, input: Loose, options: CallOptions): Promise<Answered> {
  const { signal, headers = {}, text: rawBody } = options;
  const [method = ""] = ROUTES[name].split(" ");
  const body = rawBody?.text ?? (input?.body === undefined ? undefined : JSON.stringify(input.body));
  const sentAt = Date.now();
  let response: Response;
  try {
    response = await fetch(addressOf(name, input as never), {
      method: method.toUpperCase(),
      credentials: "same-origin",
      headers: {
        accept: "application/json",
        "orb-client": "dashboard",
        ...(body === undefined ? {} : { "content-type": rawBody?.type ?? "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new Problem({
      status: 0,
      code: "unreachable",
      message: "The server does not answer.",
      hint: "Check that orb is running. This page reconnects by itself.",
    });
  }
  noteServerTime(response.headers.get("date"), sentAt, Date.now());
  const text = await response.text();
  const data: unknown = response.headers.get("content-type")?.includes("json") === true ? JSON.parse(text) : text;
  if (response.status === 401 && name !== "logIn") {
    await untilLoggedIn(signal);
    return exchange(name, input, options);
  }
  if (!response.ok) throw problemOf(response.status, data);
  return { data: response.status === 204 ? null : data, headers: response.headers };
}

function problemOf(status: number, data: unknown): Problem {
  const problem = (typeof data === "object" && data !== null ? data : {}) as {
    code?: string;
    title?: string;
    detail?: string;
    hint?: string;
    errors?: FieldProblem[];
  };
  return new Problem({
    status,
    code: problem.code ?? `http_${status}`,
    message: problem.detail ?? problem.title ?? `The server answered ${status}.`,
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    ...(problem.errors === undefined ? {} : { fields: problem.errors }),
  });
}

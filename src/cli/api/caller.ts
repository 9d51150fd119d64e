/** One way to speak the API, whether it is in this process or behind an address. */
import { ServerProblem } from "./problem.ts";

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ApiCall {
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

export interface ApiAnswer {
  status: number;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  json<T>(): Promise<T>;
  stream: AsyncIterable<Uint8Array>;
}

export interface ApiCaller {
  /** Throws an OrbError for every answer that is not a success. */
  request(method: string, path: string, call?: ApiCall): Promise<ApiAnswer>;
}

/** How a call gets there and the answer comes back; what it means is the caller's business. */
export type Send = (call: {
  method: string;
  /** With the query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
  signal: AbortSignal | undefined;
}) => Promise<{
  status: number;
  headers: Readonly<Record<string, string>>;
  stream: AsyncIterable<Uint8Array>;
}>;

export function createCaller(send: Send): ApiCaller {
  return {
    async request(method, path, call = {}) {
      const body = call.body === undefined ? undefined : JSON.stringify(call.body);
      const answer = await send({
        method,
        path: withQuery(path, call.query ?? {}),
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...call.headers },
        body,
        signal: call.signal,
      });
      const json = async () => JSON.parse(await textOf(answer.stream)) as unknown;
      if (answer.status >= 400) throw await ServerProblem.from(answer.status, () => textOf(answer.stream));
      return { ...answer, json: json as ApiAnswer["json"] };
    },
  };
}

function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

/** The entries of a list, page after page: as many as asked for, or all. `more` says that there are others. */
export async function listOf<T>(
  api: ApiCaller,
  path: string,
  query: Query,
  { limit, all }: { limit: number; all: boolean },
  rowsOf: (answer: unknown) => T[] = (answer) => answer as T[],
): Promise<{ rows: T[]; more: boolean }> {
  const rows: T[] = [];
  let next: string | null = null;
  for (;;) {
    const size = Math.min(all ? LARGEST_PAGE : limit - rows.length, largestPage(path));
    const answer: ApiAnswer = await (next === null
      ? api.request("GET", path, { query: { ...query, limit: size } })
      : api.request("GET", next));
    rows.push(...rowsOf(await answer.json()));
    next = nextOf(answer.headers["link"]);
    if (next === null || (!all && rows.length >= limit))
      return { rows: all ? rows : rows.slice(0, limit), more: !all && (next !== null || rows.length > limit) };
  }
}

/** Everything in a list, page after page as it is wanted, however much there is. */
export async function* allOf<T>(api: ApiCaller, path: string): AsyncGenerator<T> {
  let answer = await api.request("GET", path, { query: { limit: LARGEST_PAGE } });
  for (;;) {
    yield* await answer.json<T[]>();
    const next = nextOf(answer.headers["link"]);
    if (next === null) return;
    answer = await api.request("GET", next);
  }
}

const LARGEST_PAGE = 1000;

function largestPage(path: string): number {
  return /^\/jobs\/[^/]+\/runs$/.test(path) ? 100 : LARGEST_PAGE;
}

function nextOf(link: string | undefined): string | null {
  return /<([^>]+)>;\s*rel="next"/.exec(link ?? "")?.[1] ?? null;
}

/**
 * Speaks the API of an Orbweaver server, from Node, Deno, Bun or a browser: web standards alone.
 *
 * ```ts
 * const client = createClient({ url: "http://127.0.0.1:8000" });
 * const run = await client.runs.start({ target_url: "https://example.com/", fields: { title: "h1" } });
 * await client.waitForRun(run.id, { onProgress: ({ status }) => console.log(status) });
 * for await (const result of client.runs.results(run.id)) console.log(result.data);
 * ```
 */
import type { OpenAnswer } from "./answer.ts";
import type { Groups } from "./groups.ts";
import { NAMES } from "./names.ts";
import {
  BODIES,
  type Crawl,
  PAGED,
  QUERIES,
  type Run,
  type SitesProgress,
  type WorkflowProgress,
} from "./operations.ts";
import { Listing, nextOf, totalOf } from "./paging.ts";
import { type StreamEvent, streamOf, type StreamOptions } from "./stream.ts";
import { type ClientOptions, type LooseInput, Transport } from "./transport.ts";
import {
  type Answer,
  type CallOptions,
  type Input,
  type InputArgs,
  type PagedRoute,
  type Route,
  type Row,
  ROWS_IN,
} from "./types.ts";
import { type LiveEvent, type RunEvent, type StreamData, type StreamRoute } from "./streams.ts";
import { waitForEnd, type WaitOptions } from "./wait.ts";

export type { OpenAnswer } from "./answer.ts";
export { type ClientCode, type FieldError, isOrbweaverError, OrbweaverError, type ProblemCode } from "./error.ts";
export type { Listing, Page } from "./paging.ts";
export type { StreamEvent, StreamOptions } from "./stream.ts";
export type { EventType, LiveEvent, RunEvent, StreamRoute } from "./streams.ts";
export type { ClientOptions, Fetch, FetchInit } from "./transport.ts";
export type { Answer, Body, CallOptions, Input, PagedRoute, Query, Route, Row } from "./types.ts";
export { type EndedStatus, hasEnded, type WaitOptions } from "./wait.ts";
export type * from "./operations.ts";

type Rest<R extends Route> = [...input: InputArgs<R>, options?: CallOptions];

/** What is more than a call: files, live events, and waiting. */
interface More {
  /** Any operation: `client.request("get /runs", { query: { status: "failed" } })`. */
  request<R extends Route>(route: R, ...rest: Rest<R>): Promise<Answer<R>>;
  /** Any list, page after page. */
  list<R extends PagedRoute>(route: R, ...rest: Rest<R>): Listing<Row<R>, Answer<R>>;
  /** An answer as it comes: `client.open("get /jobs/runs/{run_id}/results", { …, query: { format: "csv" } })`. */
  open<R extends Route>(route: R, ...rest: Rest<R>): Promise<OpenAnswer>;
  /** Any stream of live events, with their names and ids. */
  stream<R extends StreamRoute>(
    route: R,
    input?: Pick<Input<R>, "params">,
    options?: StreamOptions,
  ): AsyncGenerator<StreamData<R>, void>;
  /** A stored file. */
  artifact(id: string, options?: CallOptions): Promise<OpenAnswer>;
  /** The events of a run from its beginning, as they come, until it has ended. */
  followRun(id: string, options?: EventStreamOptions): AsyncGenerator<RunEvent, void>;
  /** The events of all runs, from now on. */
  followAll(options?: EventStreamOptions): AsyncGenerator<RunEvent, void>;
  /** How all sites are getting on, whenever it has changed. */
  followSites(options?: StreamOptions): AsyncGenerator<SitesProgress, void>;
  /** Everything that a dashboard shows, as it changes. */
  followLive(options?: StreamOptions): AsyncGenerator<LiveEvent, void>;
  waitForRun(id: string, options?: WaitOptions<Run>): Promise<Run>;
  waitForCrawl(id: string, options?: WaitOptions<Crawl>): Promise<Crawl>;
  waitForWorkflow(id: string, options?: WaitOptions<WorkflowProgress>): Promise<WorkflowProgress>;
}

export type OrbweaverClient = Groups & More & { readonly url: string };

interface EventStreamOptions extends StreamOptions {
  /** Only events of this type, or of several, separated by commas. */
  type?: string;
}

const typeOf = ({ type }: EventStreamOptions = {}) => (type === undefined ? {} : { type });

const RUN_STREAM = "get /jobs/runs/{run_id}/events/stream" satisfies StreamRoute;

export function createClient(options: ClientOptions): OrbweaverClient {
  const transport = new Transport(options);

  const request = async (route: Route, input: object = {}, how: CallOptions = {}) =>
    (await transport.request(route, input, how)).data;

  const list = (route: PagedRoute, input: LooseInput = {}, how: CallOptions = {}) => {
    const key = (ROWS_IN as Record<string, string>)[route];
    const read = async (cursor: string | undefined) => {
      const { data, answer } = await transport.request(route, { ...input, query: { ...input.query, cursor } }, how);
      const rows = (key === undefined ? data : (data as Record<string, unknown>)[key]) as unknown[];
      return { rows, next: nextOf(answer), total: totalOf(answer), answer: data };
    };
    return new Listing<unknown, unknown>(read, input.query?.["cursor"] as string | undefined);
  };

  const open = (route: Route, input: object = {}, how: CallOptions = {}) => transport.open(route, input, how);

  const stream = (route: StreamRoute, input: LooseInput = {}, how: StreamOptions = {}) =>
    streamOf({ open: (call) => transport.open(route, input, call), hasEnd: route === RUN_STREAM }, how);

  const followRun: More["followRun"] = (id, how) =>
    dataOf(stream(RUN_STREAM, { params: { run_id: id }, query: typeOf(how) }, how));

  const wait = <View extends { status: string }>(route: Route, name: string, id: string, how?: WaitOptions<View>) => {
    const look = (signal: AbortSignal) => request(route, { params: { [name]: id } }, { signal }) as Promise<View>;
    const events = (call: CallOptions) => transport.open(RUN_STREAM, { params: { run_id: id } }, call);
    const follow = (signal: AbortSignal) => streamOf({ open: events, hasEnd: true, wasThere: true }, { signal });
    return waitForEnd<View>({ look, follow }, how ?? {});
  };

  const more: More = {
    request: request as More["request"],
    list: list as More["list"],
    open: open as More["open"],
    stream: stream as More["stream"],
    artifact: (id, how) => open("get /artifacts/{artifact_id}", { params: { artifact_id: id } }, how),
    followRun,
    followAll: (how) => dataOf(stream("get /events/stream", { query: typeOf(how) }, how)),
    followSites: (how) => dataOf(stream("get /sites/progress/stream", {}, how)),
    followLive: (how) => stream("get /live/stream", {}, how) as AsyncGenerator<LiveEvent, void>,
    waitForRun: (id, how) => wait("get /jobs/runs/{run_id}", "run_id", id, how),
    waitForCrawl: (id, how) => wait("get /scraping/tasks/{task_id}/status", "task_id", id, how),
    waitForWorkflow: (id, how) => wait("get /workflows/{workflow_id}/progress", "workflow_id", id, how),
  };
  const groups = groupsOf((route, input, how) =>
    PAGED.has(route) ? list(route as PagedRoute, input, how) : request(route, input, how),
  );
  return { url: transport.base, ...more, ...groups };
}

async function* dataOf<Data>(events: AsyncGenerator<StreamEvent, void>): AsyncGenerator<Data, void> {
  for await (const { data } of events) yield data as Data;
}

/** A method for every name. */
function groupsOf(call: (route: Route, input: object, how: CallOptions) => unknown): Groups {
  const methodsOf = (names: Record<string, Route>) =>
    Object.entries(names).map(([name, route]) => [name, (...args: unknown[]) => call(route, ...inputOf(route, args))]);
  const groups = Object.entries(NAMES).map(([group, names]) => [group, Object.fromEntries(methodsOf(names))]);
  return Object.fromEntries(groups) as Groups;
}

/** The ids of the address, then what the operation takes, then how to call. */
function inputOf(route: Route, args: unknown[]): [input: object, how: CallOptions] {
  const names = Array.from(route.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
  const params = Object.fromEntries(names.map((name, at) => [name, args[at]]));
  const rest = args.slice(names.length);
  const takes = BODIES.has(route) ? "body" : QUERIES.has(route) ? "query" : null;
  const payload = takes === null ? undefined : rest.shift();
  const { query, ...how } = (rest[0] ?? {}) as CallOptions & { query?: object };
  const main = takes === null || payload === undefined ? {} : { [takes]: payload };
  return [{ params, ...(query === undefined ? {} : { query }), ...main }, how];
}

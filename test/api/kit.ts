import type { TestContext } from "node:test";
import { Client } from "undici";
import { createClient, type OrbweaverClient } from "../../src/api-client/client.ts";
import type { ApiDeps, ApiSettings, SingleSignOn } from "../../src/api/deps.ts";
import type { Routes } from "../../src/api/routes/registry.ts";
import { type Api, createApi } from "../../src/api/server.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { createLog, type Log } from "../../src/base/log.ts";
import type { PageTools } from "../../src/app/page-tools.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { Board } from "../../src/engine/port.ts";
import { Health, type HealthDeps } from "../../src/orchestrator/health.ts";
import { LiveWatch } from "../../src/orchestrator/live/watch.ts";
import { LiveViews } from "../../src/orchestrator/live-views/live-views.ts";
import type { Reading } from "../../src/orchestrator/reading.ts";
import type { SettledTask, Store } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { pageDeps } from "./page-deps.ts";
import { attempt, candidate, TTL } from "../contract/store/kit.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

export const TOKEN = "a-token-of-good-length-4711";

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The body as JSON. */
  json<T = unknown>(): T;
}

export interface Call {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is text or bytes. */
  body?: unknown;
}

/** A server that listens, over a real store; the engine only listens. */
export interface TestApi {
  api: Api;
  url: string;
  port: number;
  store: Store;
  log: string[];
  /** What the engine was told, in order. */
  woken: (string[] | null)[];
  /** For calls that are as they should be; the others are made by hand, with what follows. */
  client: OrbweaverClient;
  call(call: Call): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Ends everything that is ready in a lane as the function says. */
  work(lane: string, verdict: (key: string) => SettledTask["verdict"]): Promise<void>;
}

export interface TestApiOptions {
  /** Networks that may be asked, as APP_ALLOW_PRIVATE_NETWORKS has it. */
  allow?: string;
  settings?: Partial<ApiSettings>;
  singleSignOn?: SingleSignOn;
  clock?: Clock;
  /** What `GET /ready` looks at, and how long it waits for each. */
  probes?: HealthDeps["probes"];
  probeMs?: number;
  metrics?: readonly Reading[];
  board?: Board;
  /** Further routes, for what no resource does yet. */
  routes?: readonly Routes[];
  store?: (store: Store) => Store;
}

interface Backstage {
  deps: ApiDeps;
  real: Store;
  lines: string[];
  woken: (string[] | null)[];
  close(): Promise<void>;
}

const liveViewSettings = { most: 2, whyNot: null, idleMs: 300_000, totalMs: 1_800_000, navigationMs: 30_000 };

/** What an API works with: a real store in memory, an engine that only listens. */
export function openBackstage(t: TestContext, options: TestApiOptions = {}): Backstage {
  const clock = options.clock ?? systemClock;
  const real = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
  const store = options.store?.(real) ?? real;
  const lines: string[] = [];
  const log: Log = createLog({ level: "debug", pretty: false, write: (line) => void lines.push(line) });
  const woken: (string[] | null)[] = [];
  const shared = {
    ...pageDeps(t, { store, clock, ...(options.allow === undefined ? {} : { allow: options.allow }) }),
    store,
    clock,
    log,
    random: systemRandom,
    search: async () => null,
    wake: async (lanes: string[] | null) => void woken.push(lanes),
  };
  const resources = async () => ({ disk: [], memory: { used_bytes: 1, limit_bytes: null } });
  const deps: ApiDeps = {
    ...shared,
    configuration: [],
    singleSignOn: options.singleSignOn ?? null,
    robotsName: "Orbweaver",
    live: new LiveWatch({ ...shared, resources }),
    settings: {
      version: "1.2.3",
      host: "127.0.0.1",
      port: 0,
      token: null,
      graceMs: 5000,
      maxPerResolver: { crossref: 3 },
      ...options.settings,
    },
    pathOf: (hash) => `/files/${hash}`,
    sendAlert: null,
    notifications: { policy: shared.policy, publicUrl: null, deliverAlerts: false, send: async () => null },
    health: new Health({
      clock,
      log,
      probes: options.probes ?? { database: () => store.probe() },
      probeMs: options.probeMs ?? 5000,
    }),
    metrics: async () => options.metrics ?? [],
    board: options.board ?? null,
    demo: null,
    liveViews: new LiveViews({
      ...shared,
      settings: liveViewSettings,
      browser: async () => ((await shared.pages()) as PageTools).browser,
    }),
    pickProxy: async () => null,
  };
  return { deps, real, lines, woken, close: () => real.close() };
}

export async function openTestApi(t: TestContext, options: TestApiOptions = {}): Promise<TestApi> {
  const { deps, real, lines, woken, close } = openBackstage(t, options);
  const { clock, store } = deps;
  const api = await createApi(deps, options.routes);
  const { url, port } = await api.listen();
  const client = new Client(url, { pipelining: 1 });
  t.after(async () => {
    await client.destroy();
    await api.close();
    await close();
  });
  const call = async ({ method = "GET", path, headers = {}, body }: Call): Promise<Answer> => {
    const raw = typeof body === "string" || Buffer.isBuffer(body) || body === undefined;
    const response = await client.request({
      method: method as "GET",
      path,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      body: raw ? (body ?? null) : JSON.stringify(body),
    });
    const text = await response.body.text();
    return { status: response.statusCode, headers: response.headers, text, json: () => JSON.parse(text) };
  };
  return {
    api,
    client: createClient({
      url,
      retries: 0,
      fetch: async (address, { method, headers, body, signal }) => {
        const path = address.slice(url.length);
        const answer = await client.request({ method: method as "GET", path, headers, body: body ?? null, signal });
        const get = (name: string) => [answer.headers[name] ?? []].flat().join(", ") || null;
        return { status: answer.statusCode, headers: { get }, body: answer.body };
      },
    }),
    url,
    port,
    store,
    log: lines,
    woken,
    call,
    get: (path, headers = {}) => call({ path, headers }),
    send: (method, path, body, headers = {}) => call({ method, path, body, headers }),
    work: async (lane, verdict) => {
      await real.takeEngine(candidate("worker"), TTL);
      const grant = await real.takeLane(lane, "worker", TTL);
      if (grant === null) throw new Error(`${lane} cannot be taken`);
      const claim = await real.claim(grant, { limit: 10_000 }, clock.now());
      const tasks = (claim?.tasks ?? []).map((task) => ({ task, verdict: verdict(task.key), attempt: attempt(1) }));
      await real.settle([{ hold: grant, tasks }], clock.now());
      await real.releaseLane(grant);
    },
  };
}

import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Readable } from "node:stream";
import type { ConfigRow } from "../config/show.ts";
import type { AlertsDeps } from "../orchestrator/alerts.ts";
import type { BoardDeps } from "../orchestrator/board.ts";
import type { ImportDeps } from "../orchestrator/proxies/import.ts";
import type { Health } from "../orchestrator/health.ts";
import type { LiveWatch } from "../orchestrator/live/watch.ts";
import type { PreviewDeps } from "../orchestrator/preview.ts";
import type { CrawlDeps } from "../orchestrator/jobs/deps.ts";
import type { Reading } from "../orchestrator/reading.ts";
import type { RunSiteDeps } from "../orchestrator/runs/sites.ts";

/** Everything the API works with; the composition root hands it in, the API starts nothing by itself. */
export interface ApiDeps extends CrawlDeps, PreviewDeps, RunSiteDeps, AlertsDeps, ImportDeps, BoardDeps {
  log: Log;
  random: Random;
  settings: ApiSettings;
  /** The path of a stored file, or its address in the bucket. */
  pathOf(hash: string): string;
  openArtifact(hash: string): Promise<Readable>;
  /** What `GET /ready` asks. */
  health: Health;
  /** What is set, with secrets masked. */
  configuration: readonly ConfigRow[];
  /** By which name robots.txt speaks to us. */
  robotsName: string;
  /** Feeds dashboards; the composition root starts it. */
  live: LiveWatch;
  /** What `GET /metrics` shows besides the requests; asked on every scrape. */
  metrics(): Promise<readonly Reading[]>;
  /** null: no server, or none that has one. */
  demo: DemoOffer | null;
}

/** A site on this machine, for those who have none at hand. */
export interface DemoOffer {
  /** null: it can be started here. */
  whyNot(): string | null;
  /** null: it does not run. */
  url(): Promise<string | null>;
  /** Starts it unless it runs. */
  open(): Promise<OpenDemo>;
}

export interface OpenDemo {
  url: string;
  /** Whether there is a browser for the pages that need one. */
  browser: boolean;
  /** A crawl of it, as `POST /scraping/async-scrape` takes it. */
  crawl: Record<string, unknown>;
}

export interface ApiSettings {
  version: string;
  host: string;
  /** 0 takes any free one. */
  port: number;
  /** null: no token is asked for, and only loopback may be bound. */
  token: string | null;
  /** How long running requests may go on after `close`. */
  graceMs: number;
  /** The configured limits of concurrency keys, by name. */
  maxPerResolver: Readonly<Record<string, number>>;
  limits?: Partial<ApiLimits>;
}

/** What one client may ask of the server. */
export interface ApiLimits {
  bodyBytes: number;
  /** Of a body that holds the definition or the params of a workflow: those may have lists of 100,000 addresses. */
  workflowBytes: number;
  headerBytes: number;
  urlLength: number;
  /** Nested arrays and objects of a body. */
  bodyDepth: number;
  connections: number;
  /** Of those: without a call on them that was let in, in all and of one address. The oldest is closed for the next. */
  unprovenConnections: number;
  unprovenPerAddress: number;
  /** A body that has come slower than this after `slowBodyMs` is refused. */
  bodyBytesPerSecond: number;
  slowBodyMs: number;
  /** Until a request's headers, and until all of it, must have come. */
  headersMs: number;
  requestMs: number;
  /** A connection without a request is closed after this, one on which nothing moves at all after `silentMs`. */
  keepAliveMs: number;
  silentMs: number;
  /** How often connections are looked at for the limits above. */
  checkMs: number;
  /** Comments that keep an event stream open, and how long a client waits before it comes back. */
  heartbeatMs: number;
  reconnectMs: number;
}

export const DEFAULT_LIMITS: ApiLimits = {
  bodyBytes: 1024 * 1024,
  workflowBytes: 16 * 1024 * 1024,
  headerBytes: 16 * 1024,
  urlLength: 8 * 1024,
  bodyDepth: 100,
  connections: 1024,
  unprovenConnections: 512,
  unprovenPerAddress: 256,
  bodyBytesPerSecond: 256,
  slowBodyMs: 5000,
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 30_000,
  silentMs: 120_000,
  checkMs: 2000,
  heartbeatMs: 15_000,
  reconnectMs: 3000,
};

export function limitsOf({ settings }: Pick<ApiDeps, "settings">): ApiLimits {
  return { ...DEFAULT_LIMITS, ...settings.limits };
}

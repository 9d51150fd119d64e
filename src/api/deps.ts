import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Readable } from "node:stream";
import type { ConfigRow } from "../config/show.ts";
import type { GroupRoles } from "../domain/access/group-roles.ts";
import type { IdentityProvider } from "../domain/access/identity-provider.ts";
import type { AlertsDeps } from "../orchestrator/alerts.ts";
import type { NotificationDeps } from "../orchestrator/notifications/channels.ts";
import type { BoardDeps } from "../orchestrator/board.ts";
import type { ImportDeps } from "../orchestrator/proxies/import.ts";
import type { Health } from "../orchestrator/health.ts";
import type { LiveWatch } from "../orchestrator/live/watch.ts";
import type { PreviewDeps } from "../orchestrator/preview.ts";
import type { CrawlDeps } from "../orchestrator/jobs/deps.ts";
import type { LiveViews } from "../orchestrator/live-views/live-views.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import type { Reading } from "../orchestrator/reading.ts";
import type { SearchServer } from "../orchestrator/search.ts";
import type { RunSiteDeps } from "../orchestrator/runs/sites.ts";

/** Dependencies of the API; the composition root provides them, the API starts nothing by itself. */
export interface ApiDeps
  extends CrawlDeps, PreviewDeps, RunSiteDeps, AlertsDeps, NotificationDeps, ImportDeps, BoardDeps {
  log: Log;
  /** The operator's search server; null: none. */
  search(): Promise<SearchServer | null>;
  random: Random;
  settings: ApiSettings;
  /** Null: people sign in with keys and the token alone. */
  singleSignOn: SingleSignOn | null;
  /** Path of a stored file, or its URL in the bucket. */
  pathOf(hash: string): string;
  openArtifact(hash: string): Promise<Readable>;
  /** Used by `GET /ready`. */
  health: Health;
  /** The configuration, with secrets masked. */
  configuration: readonly ConfigRow[];
  /** The user-agent token that we match in robots.txt. */
  robotsName: string;
  /** Feeds dashboards; the composition root starts it. */
  live: LiveWatch;
  /** Samples for `GET /metrics` besides the request metrics; read on every scrape. */
  metrics(): Promise<readonly Reading[]>;
  /** Null: no server, or the demo is not available. */
  demo: DemoOffer | null;
  /** Pages that people control by hand, in this process. */
  liveViews: LiveViews;
  /** A proxy of the pool for a live view, as a task of the run would get it; null: none is usable. */
  pickProxy(wanted: { site: string; sessionKey: string }): Promise<Upstream | null>;
}

/** Who may sign in elsewhere, and as what. */
export interface SingleSignOn {
  roles: GroupRoles;
  provider: IdentityProvider | null;
  forwarded: ForwardedAuth | null;
}

/** A proxy in front of this server that signs people in. Names of headers are in lower case. */
export interface ForwardedAuth {
  header: string;
  groupsHeader: string | null;
  /** Its addresses, each as address/prefix. */
  proxies: readonly string[];
}

/** A demo site on this machine. */
export interface DemoOffer {
  /** Null: it can be started. */
  whyNot(): string | null;
  /** Null: not running. */
  url(): Promise<string | null>;
  /** Starts it unless it runs. */
  open(): Promise<OpenDemo>;
}

export interface OpenDemo {
  url: string;
  /** Whether a browser is available for pages that need one. */
  browser: boolean;
  /** A crawl of it, as a body of `POST /scraping/async-scrape`. */
  crawl: Record<string, unknown>;
}

export interface ApiSettings {
  version: string;
  host: string;
  /** 0: any free port. */
  port: number;
  /** Null: no authentication, and only loopback may be bound. */
  token: string | null;
  /** The address of this server for people, which it also accepts as its own on loopback. */
  publicUrl?: string | null;
  /** How long running requests may continue after `close`. */
  graceMs: number;
  /** The configured limits of concurrency keys, by name. */
  maxPerResolver: Readonly<Record<string, number>>;
  limits?: Partial<ApiLimits>;
}

/** Limits per client. */
export interface ApiLimits {
  bodyBytes: number;
  /** For bodies with a workflow's definition or params, which may contain lists of 100,000 URLs. */
  workflowBytes: number;
  headerBytes: number;
  urlLength: number;
  /** Maximum nesting of a body. */
  bodyDepth: number;
  connections: number;
  /** Connections without an authenticated call, in all and per address. The oldest is closed for the next. */
  unprovenConnections: number;
  unprovenPerAddress: number;
  /** A body slower than this after `slowBodyMs` is rejected. */
  bodyBytesPerSecond: number;
  slowBodyMs: number;
  /** Timeouts for a request's headers, and for the complete request. */
  headersMs: number;
  requestMs: number;
  /** Timeout of idle connections; `silentMs`: of connections without any traffic. */
  keepAliveMs: number;
  silentMs: number;
  /** How often connections are checked against the limits above. */
  checkMs: number;
  /** Interval of comments that keep an event stream open, and the reconnection delay of clients. */
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

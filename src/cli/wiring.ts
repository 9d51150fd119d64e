import type { Log } from "../base/log.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/options.ts";
import type { CrawlDeps } from "../orchestrator/jobs/deps.ts";
import type { Fetch, OrbweaverClient } from "../api-client/client.ts";
import type { CapturedPage, CaptureOptions } from "./scrape/capture-view.ts";
import type { Terminal } from "./print/output.ts";
import type { Prompt } from "./prompt.ts";

/** What the composition root provides to the commands: they start nothing by themselves. */
export interface Wiring {
  terminal: Terminal;
  /** How the user invokes this program: `orb`, or `./bin/orb` in a clone. */
  readonly program: string;
  loadConfig(): LoadedConfig;
  createLog(config: Config): Log;
  openClient(config: Config): Promise<CliClient>;
  startWorker(config: Config, log: Log, hooks: CliWorkerHooks): Promise<CliWorker>;
  startServer(config: Config, log: Log, options: CliServerOptions): Promise<CliServer>;
  /** The browser for pages that need one; null: none. */
  findBrowserPath(config: Config): Promise<string | null>;
  /** Starts the demo: a server and a site, in their own folder. */
  startDemo(config: Config, log: Log, options: { keep: boolean }): Promise<CliDemo>;
  /** Opens a page in the user's browser; false: no terminal, or no browser. `always`: also without a terminal. */
  showPage(url: string, options: { always: boolean }): Promise<boolean>;
  /** Supervises all processes that the configuration needs; null: another supervisor runs. */
  takeUp(config: Config, log: Log): Promise<CliUp | null>;
  /** Their last known state; null: never started. */
  upState(config: Config): Promise<CliUpState | null>;
  /** Asks the supervisor to stop, and waits. */
  stopUp(config: Config, log: Log): Promise<"stopped" | "nothing runs">;
  /** The API on the configured database, in this process and without a port. */
  openApi(config: Config, log: Log): Promise<CliApi>;
  /** Serves MCP over the standard streams until the client closes them or `signal` aborts. */
  serveMcp(api: OrbweaverClient, log: Log, signal: AbortSignal): Promise<void>;
  /** A worker with a temporary store. */
  startScratch(
    config: Config,
    log: Log,
    options: { sessionId?: string; pool?: boolean; file?: { bytes: Uint8Array; name: string; contentType: null } },
  ): Promise<CliScratch>;
  capture(config: Config, log: Log, url: string, options: CaptureOptions): Promise<CapturedPage>;
  captureHar(text: string): Promise<CapturedPage>;
  /** Opens a visible browser; null: there is no display. `done` closes it. */
  login(config: Config, log: Log, url: string, done: () => Promise<void>): Promise<StorageState | null>;
  migrate(config: Config): Promise<{ from: number; to: number; applied: string[] }>;
  /** Copies the configured SQLite database, which no other process may use, into an empty Postgres schema. */
  copyTo(config: Config, url: string, onProgress: (progress: CliCopyProgress) => void): Promise<CliCopy>;
  /** Checks everything; with a reporter it first fixes what it can. */
  doctor(mend: ((what: string) => void) | null): Promise<DoctorCheck[]>;
  openFile(path: string): AsyncIterable<Uint8Array>;
  /** Throws if the file cannot be written. */
  refuseUnwritable(path: string, format?: string): Promise<void>;
  /** To standard output, or to a file. */
  write(path: string | null, chunks: AsyncIterable<Uint8Array>, format?: string): Promise<void>;
  prompt: Prompt;
  now(): number;
  /** Calls `handler` on SIGINT and SIGTERM until the returned function is called. */
  onSignals(handler: (signal: "SIGINT" | "SIGTERM") => void): () => void;
  /** The same for SIGHUP, unless the program ignores it (`nohup`). */
  onHangUp(handler: () => void): () => void;
  exit(code: number): never;
}

export interface CliClient extends CrawlDeps {
  pathOf(hash: string): string;
  /** The bytes of a stored file. */
  openArtifact(hash: string): Promise<AsyncIterable<Uint8Array>>;
  audit(options: { deep: boolean }): Promise<{ checks: string[]; findings: { check: string; what: string }[] }>;
  close(): Promise<void>;
}

interface CliWorkerHooks {
  /** In a cluster, works only while no dedicated worker runs. */
  standBy?: boolean;
  /** Works only while no dedicated process does. */
  givesWay?: boolean;
  onRole: (role: "engine" | "standby" | "drained" | "stopped") => void;
  onTask: (name: string, what: "started" | "ended", end?: string) => void;
  /** Called when runs have ended. */
  onEnded?: () => void;
}

export interface CliWorker extends CliClient {
  readonly role: "engine" | "standby" | "drained" | "stopped";
  readonly inFlight: number;
  readonly paused: string | null;
  stop(): Promise<void>;
  hurry(): void;
}

export interface CliScratch extends CliWorker {
  readonly sessionId: string | null;
}

export interface CliApi {
  /** Answers calls without a connection. */
  fetch: Fetch;
  engineRuns(): Promise<boolean>;
  work(hooks: Pick<CliWorkerHooks, "onRole" | "givesWay" | "onEnded">): Promise<Pick<CliWorker, "role" | "hurry">>;
  close(): Promise<void>;
}

/** Playwright's storage state. */
export interface StorageState {
  cookies: { name: string; value: string; domain: string; path: string }[];
  origins: { origin: string; localStorage: { name: string; value: string }[] }[];
}

interface CliServerOptions {
  worker: boolean;
  sources: LoadedConfig["sources"];
  onRole: (role: "engine" | "standby" | "drained" | "stopped") => void;
}

export interface CliServer {
  readonly url: string;
  /** Null: it does no work. */
  readonly role: "engine" | "standby" | "drained" | "stopped" | null;
  stop(): Promise<void>;
}

export interface CliDemo {
  /** URL of the server with its dashboard. */
  readonly url: string;
  /** Where it stores its data. */
  readonly folder: string;
  /** The browser for pages that need one; null: none. */
  readonly browser: string | null;
  /** Paths of the site that are empty without a browser. */
  readonly scripted: readonly string[];
  /** Body of `POST /workflows` for the site's gallery. */
  galleryWorkflow(origin: string): unknown;
  /** Stops everything and deletes the folder, unless `keep` is set. */
  stop(): Promise<void>;
}

/** A supervisor and its processes. */
export interface CliUp {
  readonly state: CliUpState;
  start(): Promise<void>;
  stop(): Promise<void>;
  hurry(): void;
}

export interface CliUpState {
  /** Null: no supervisor runs. */
  supervisor: { pid: number } | null;
  /** `program`: not an `orb up`, but a program that has the services for itself. */
  by: "up" | "program";
  startedAt: number;
  url: string | null;
  children: CliUpChild[];
}

export interface CliUpChild {
  name: string;
  kind: string;
  state: string;
  identity: { pid: number } | null;
  port: number | null;
  restarts: number;
  since: number | null;
  health: string | null;
  note: string | null;
}

/** Progress of a copy: of one table, and of all. */
export interface CliCopyProgress {
  table: string;
  rows: number;
  of: number;
  copied: number;
  total: number;
}

export interface CliCopy {
  instance: string;
  schema: string;
  tables: { table: string; rows: number }[];
  rows: number;
  cleanedTexts: number;
  findings: { check: string; what: string }[];
}

/** One check of `orb doctor`. */
export interface DoctorCheck {
  name: string;
  status: "ok" | "warning" | "problem";
  /** What was found. */
  what: string;
  /** The remedy; null: the check passed. */
  fix: string | null;
}

import type { Log } from "../base/log.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/options.ts";
import type { CrawlDeps } from "../orchestrator/jobs/deps.ts";
import type { Fetch, OrbweaverClient } from "../api-client/client.ts";
import type { CapturedPage, CaptureOptions } from "./scrape/capture-view.ts";
import type { Terminal } from "./print/output.ts";
import type { Prompt } from "./prompt.ts";

/** What the composition root hands to the commands: they start nothing by themselves. */
export interface Wiring {
  terminal: Terminal;
  /** How this program is called from where one stands: `orb`, or `./bin/orb` in a clone. */
  readonly program: string;
  loadConfig(): LoadedConfig;
  createLog(config: Config): Log;
  openClient(config: Config): Promise<CliClient>;
  startWorker(config: Config, log: Log, hooks: CliWorkerHooks): Promise<CliWorker>;
  startServer(config: Config, log: Log, options: CliServerOptions): Promise<CliServer>;
  /** The browser for pages that need one; null: there is none. */
  browserThere(config: Config): Promise<string | null>;
  /** A server and a site to try everything out on, in a folder of their own. */
  startDemo(config: Config, log: Log, options: { keep: boolean }): Promise<CliDemo>;
  /** Opens a page in the user's browser; false: no terminal, or no browser. `always`: also without a terminal. */
  showPage(url: string, options: { always: boolean }): Promise<boolean>;
  /** Supervises all processes that the configuration needs; null: another supervisor runs. */
  takeUp(config: Config, log: Log): Promise<CliUp | null>;
  /** What is known of them by now; null: there never were any. */
  upState(config: Config): Promise<CliUpState | null>;
  /** Asks the supervisor to stop, and waits. */
  stopUp(config: Config, log: Log): Promise<"stopped" | "nothing runs">;
  /** The API on the configured database, in this process and without a port. */
  openApi(config: Config, log: Log): Promise<CliApi>;
  /** Answers an agent over the standard streams until it closes them, or `signal` says stop. */
  talkMcp(api: OrbweaverClient, log: Log, signal: AbortSignal): Promise<void>;
  /** A worker on a store that is gone when it stops. */
  startScratch(config: Config, log: Log, options: { sessionId?: string; pool?: boolean }): Promise<CliScratch>;
  capture(config: Config, log: Log, url: string, options: CaptureOptions): Promise<CapturedPage>;
  captureHar(text: string): Promise<CapturedPage>;
  /** Opens a browser that people see; null: there is no display. `done` ends it. */
  login(config: Config, log: Log, url: string, done: () => Promise<void>): Promise<StorageState | null>;
  migrate(config: Config): Promise<{ from: number; to: number; applied: string[] }>;
  /** Copies the configured SQLite database, which no process may use, into an empty schema of Postgres. */
  copyTo(config: Config, url: string, onProgress: (progress: CliCopyProgress) => void): Promise<CliCopy>;
  /** Checks everything; with a reporter it first fixes what it can. */
  doctor(mend: ((what: string) => void) | null): Promise<DoctorCheck[]>;
  openFile(path: string): AsyncIterable<Uint8Array>;
  /** Throws if no file could be written there. */
  refuseUnwritable(path: string, format?: string): Promise<void>;
  /** To standard output, or to a file. */
  write(path: string | null, chunks: AsyncIterable<Uint8Array>, format?: string): Promise<void>;
  prompt: Prompt;
  now(): number;
  /** Calls `handler` on SIGINT and SIGTERM until the returned function is called. */
  onSignals(handler: (signal: "SIGINT" | "SIGTERM") => void): () => void;
  /** The same when the terminal is closed, unless the program was started not to care (`nohup`). */
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
  /** Where many processes may work at once, it does only when no other is there for it. */
  standBy?: boolean;
  /** It works only while no process does that is there for it. */
  givesWay?: boolean;
  onRole: (role: "engine" | "standby" | "drained" | "stopped") => void;
  onTask: (name: string, what: "started" | "ended", end?: string) => void;
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
  /** Calls, answered without a connection. */
  fetch: Fetch;
  engineRuns(): Promise<boolean>;
  work(hooks: Pick<CliWorkerHooks, "onRole" | "givesWay">): Promise<Pick<CliWorker, "role" | "hurry">>;
  close(): Promise<void>;
}

/** As Playwright writes it. */
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
  /** null: it does no work. */
  readonly role: "engine" | "standby" | "drained" | "stopped" | null;
  stop(): Promise<void>;
}

export interface CliDemo {
  /** The server's, with its dashboard. */
  readonly url: string;
  /** Where it keeps what it makes. */
  readonly folder: string;
  /** The browser for pages that need one; null: there is none. */
  readonly browser: string | null;
  /** Paths of the site that are empty without a browser. */
  readonly scripted: readonly string[];
  /** What `POST /workflows` takes for the site's gallery. */
  galleryWorkflow(origin: string): unknown;
  /** Everything ends, and the folder goes unless it was to be kept. */
  stop(): Promise<void>;
}

/** Who looks after processes, and these. */
export interface CliUp {
  readonly state: CliUpState;
  start(): Promise<void>;
  stop(): Promise<void>;
  hurry(): void;
}

export interface CliUpState {
  /** null: no supervisor runs. */
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

/** How far a copy is: of one table, and of all. */
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

/** One thing that `orb doctor` looked at. */
export interface DoctorCheck {
  name: string;
  status: "ok" | "warning" | "problem";
  /** What was found. */
  what: string;
  /** What to do about it; null when all is well. */
  fix: string | null;
}

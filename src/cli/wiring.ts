import type { Log } from "../base/log.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/options.ts";
import type { RunDeps } from "../orchestrator/jobs/deps.ts";
import type { Send } from "./api/caller.ts";
import type { CapturedPage, CaptureOptions } from "./capture-view.ts";
import type { Terminal } from "./output.ts";
import type { Prompt } from "./prompt.ts";

/** What the composition root hands to the commands: they start nothing by themselves. */
export interface Wiring {
  terminal: Terminal;
  loadConfig(): LoadedConfig;
  createLog(config: Config): Log;
  openClient(config: Config): Promise<CliClient>;
  startWorker(config: Config, log: Log, hooks: CliWorkerHooks): Promise<CliWorker>;
  startServer(config: Config, log: Log, options: CliServerOptions): Promise<CliServer>;
  /** All processes that the configuration needs, looked after; null: somebody does already. */
  takeUp(config: Config, log: Log): Promise<CliUp | null>;
  /** What is known of them by now; null: there never were any. */
  upState(config: Config): Promise<CliUpState | null>;
  /** Asks whoever looks after them to stop, and waits. */
  stopUp(config: Config, log: Log): Promise<"stopped" | "nothing runs">;
  /** The API on the configured database, in this process and without a port. */
  openApi(config: Config, log: Log): Promise<CliApi>;
  /** A worker on a store that is gone when it stops. */
  startScratch(config: Config, log: Log, options: { sessionId?: string; pool?: boolean }): Promise<CliScratch>;
  capture(config: Config, log: Log, url: string, options: CaptureOptions): Promise<CapturedPage>;
  captureHar(text: string): Promise<CapturedPage>;
  /** Opens a browser that people see; null: there is no display. `done` ends it. */
  login(config: Config, log: Log, url: string, done: () => Promise<void>): Promise<StorageState | null>;
  migrate(config: Config): Promise<{ from: number; to: number; applied: string[] }>;
  doctor(): Promise<DoctorCheck[]>;
  openFile(path: string): AsyncIterable<Uint8Array>;
  /** Throws if no file could be written there. */
  refuseUnwritable(path: string): Promise<void>;
  /** To standard output, or to a file. */
  write(path: string | null, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  prompt: Prompt;
  now(): number;
  /** Calls `handler` on SIGINT and SIGTERM until the returned function is called. */
  onSignals(handler: (signal: "SIGINT" | "SIGTERM") => void): () => void;
  /** The same when the terminal is closed, unless the program was started not to care (`nohup`). */
  onHangUp(handler: () => void): () => void;
  exit(code: number): never;
}

export interface CliClient extends RunDeps {
  pathOf(hash: string): string;
  audit(options: { deep: boolean }): Promise<{ checks: string[]; findings: { check: string; what: string }[] }>;
  close(): Promise<void>;
}

export interface CliWorkerHooks {
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
  send: Send;
  engineRuns(): Promise<boolean>;
  work(hooks: Pick<CliWorkerHooks, "onRole">): Promise<Pick<CliWorker, "role" | "hurry">>;
  close(): Promise<void>;
}

/** As Playwright writes it. */
export interface StorageState {
  cookies: { name: string; value: string; domain: string; path: string }[];
  origins: { origin: string; localStorage: { name: string; value: string }[] }[];
}

export interface CliServerOptions {
  worker: boolean;
  onRole: (role: "engine" | "standby" | "drained" | "stopped") => void;
}

export interface CliServer {
  readonly url: string;
  /** null: it does no work. */
  readonly role: "engine" | "standby" | "drained" | "stopped" | null;
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
  /** null: nobody looks after them. */
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

/** One thing that `orb doctor` looked at. */
export interface DoctorCheck {
  name: string;
  status: "ok" | "warning" | "problem";
  /** What was found. */
  what: string;
  /** What to do about it; null when all is well. */
  fix: string | null;
}

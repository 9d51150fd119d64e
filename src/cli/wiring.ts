import type { Log } from "../base/log.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/options.ts";
import type { OrchestratorDeps } from "../orchestrator/deps.ts";
import type { Terminal } from "./output.ts";

/** What the composition root hands to the commands: they start nothing by themselves. */
export interface Wiring {
  terminal: Terminal;
  loadConfig(): LoadedConfig;
  createLog(config: Config): Log;
  openClient(config: Config): Promise<CliClient>;
  startWorker(config: Config, log: Log, hooks: CliWorkerHooks): Promise<CliWorker>;
  startServer(config: Config, log: Log, options: CliServerOptions): Promise<CliServer>;
  migrate(config: Config): Promise<{ from: number; to: number; applied: string[] }>;
  doctor(): Promise<DoctorCheck[]>;
  openFile(path: string): AsyncIterable<Uint8Array>;
  now(): number;
  /** Calls `handler` on SIGINT and SIGTERM until the returned function is called. */
  onSignals(handler: (signal: "SIGINT" | "SIGTERM") => void): () => void;
  exit(code: number): never;
}

export interface CliClient extends OrchestratorDeps {
  pathOf(hash: string): string;
  audit(options: { deep: boolean }): Promise<{ checks: string[]; findings: { check: string; what: string }[] }>;
  close(): Promise<void>;
}

export interface CliWorkerHooks {
  onRole: (role: "engine" | "standby" | "stopped") => void;
  onTask: (lane: string, what: "started" | "ended", end?: string) => void;
}

export interface CliWorker extends CliClient {
  readonly role: "engine" | "standby" | "stopped";
  readonly inFlight: number;
  readonly paused: string | null;
  stop(): Promise<void>;
  hurry(): void;
}

export interface CliServerOptions {
  worker: boolean;
  onRole: (role: "engine" | "standby" | "stopped") => void;
}

export interface CliServer {
  readonly url: string;
  /** null: it does no work. */
  readonly role: "engine" | "standby" | "stopped" | null;
  stop(): Promise<void>;
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

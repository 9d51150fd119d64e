import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openClient } from "../../src/app/context.ts";
import type { Gauge } from "../../src/base/gauge.ts";
import { createLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/options.ts";
import { auditAll } from "../../src/orchestrator/audit.ts";
import type { EventView, RunView } from "../../src/orchestrator/runs/view.ts";
import { type RunningServer, startServer } from "../../src/app/server.ts";
import { holdEventsToCatalogue } from "../support/known-events.ts";
import { makeDatabase } from "../support/prepared-database.ts";
import { sharedPageReader } from "../support/shared-page-reader.ts";
import { tempDir } from "../support/temp-dir.ts";
import { CheckedApi } from "./answers.ts";
import { Caller } from "./caller.ts";

/** Waits are short; what is cut off by a limit is only what hangs, however long a busy machine takes for all else. */
const SMALL_TIMES = {
  APP_RETRY_BASE_SECONDS: "0.05",
  APP_RETRY_MAX_SECONDS: "1.5",
  APP_HTTP_TIMEOUT_SECONDS: "60",
  APP_BROWSER_NAV_TIMEOUT_MS: "60000",
  APP_SHUTDOWN_GRACE_SECONDS: "5",
  APP_BREAKER_FAILURES: "1000",
  APP_LOG_LEVEL: "debug",
  APP_PORT: "0",
  APP_MIN_SCHEDULE_SECONDS: "1",
};

/** A busy machine would make the worker do less at once than a test waits for. */
const AT_EASE: Gauge = { read: () => ({ lagMs: 0, memory: 0 }), stop: () => {} };

/** `orb serve` inside this process, in a folder of its own, spoken to over HTTP. Its end is followed by an audit. */
export class TestServer extends Caller implements AsyncDisposable {
  readonly #folder = tempDir();
  readonly #env: Record<string, string>;
  config: Config;
  readonly log: string[] = [];
  #server: RunningServer | null = null;
  #api: CheckedApi | null = null;

  private constructor(env: Record<string, string>) {
    super();
    this.#env = { APP_ALLOW_PRIVATE_NETWORKS: "127.0.0.1/32,127.0.0.2/32", ...SMALL_TIMES, ...env };
    this.config = loadConfig({ env: this.#env, cwd: this.#folder.path }).config;
    if (this.config.database.kind === "sqlite") makeDatabase(this.config.database.path);
  }

  static async open(env: Record<string, string> = {}, options: { worker?: boolean } = {}): Promise<TestServer> {
    const server = new TestServer({ APP_BROWSER_PATH: process.env["ORB_TEST_CHROMIUM"] ?? "", ...env });
    await server.start(options);
    return server;
  }

  get dir(): string {
    return this.#folder.path;
  }

  get api(): CheckedApi {
    assert.ok(this.#api !== null, "the server runs");
    return this.#api;
  }

  /** Starts it, or starts it again; `env` is what the operator has changed in between. */
  async start({ worker = true, env = {} }: { worker?: boolean; env?: Record<string, string> } = {}): Promise<void> {
    this.config = loadConfig({ env: { ...this.#env, ...env }, cwd: this.#folder.path }).config;
    const log = createLog({ level: "debug", pretty: false, write: (line) => void this.log.push(line) });
    const reader = sharedPageReader();
    this.#server = await startServer(this.config, log, { version: "0.0.0-test", worker, gauge: AT_EASE, reader });
    this.#api = await CheckedApi.open(this.#server.url);
  }

  async stop(): Promise<void> {
    await this.#api?.close();
    await this.#server?.stop();
    this.#server = null;
  }

  async audit(): Promise<void> {
    await using client = await openClient(this.config);
    const { findings } = await auditAll(client.store, client.artifacts, { deep: true });
    assert.deepEqual(findings, [], "the audit is clean");
    if (this.config.database.kind === "sqlite") holdEventsToCatalogue(this.config.database.path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.stop();
      await this.audit();
    } finally {
      this.#folder[Symbol.dispose]();
    }
  }

  /** Every byte that this installation keeps, but for the key itself. */
  stored(): { path: string; bytes: Buffer }[] {
    return readdirSync(this.dir, { recursive: true, encoding: "utf8" })
      .map((name) => join(this.dir, name))
      .filter((path) => statSync(path).isFile() && !path.endsWith("secret.key"))
      .map((path) => ({ path, bytes: readFileSync(path) }));
  }
}

/** The beginnings of what a run has told, for comparing with a story. */
export function told(events: readonly EventView[]): string[] {
  return events.map(({ message }) => message.split(/[:,;]/)[0] as string);
}

export type Evidence = { rule: string; because: string; http_status?: number; sign?: string; expires_at?: string };

export function evidenceOf(run: RunView): Evidence {
  assert.ok(run.strategy_evidence !== null, "the run says why");
  return run.strategy_evidence as unknown as Evidence;
}

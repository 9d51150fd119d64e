import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { request } from "undici";
import { openClient } from "../../src/app.ts";
import { createLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/options.ts";
import { auditAll } from "../../src/orchestrator/audit.ts";
import type { JobInput } from "../../src/orchestrator/jobs/input.ts";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { EventView, ResultView, RunView, TaskView } from "../../src/orchestrator/runs/view.ts";
import type { SessionInput, SessionView } from "../../src/orchestrator/sessions.ts";
import { type RunningServer, startServer } from "../../src/serve.ts";
import { tempDir } from "../support/temp-dir.ts";
import { CheckedApi } from "./answers.ts";

/** Longer than anything here takes on a busy machine. */
const PATIENCE_MS = 45_000;

/** Times as in production, divided by two hundred. */
const SMALL_TIMES = {
  APP_RETRY_BASE_SECONDS: "0.05",
  APP_RETRY_MAX_SECONDS: "1.5",
  APP_HTTP_TIMEOUT_SECONDS: "5",
  APP_BROWSER_NAV_TIMEOUT_MS: "15000",
  APP_SHUTDOWN_GRACE_SECONDS: "5",
  APP_BREAKER_FAILURES: "1000",
  APP_LOG_LEVEL: "debug",
  APP_PORT: "0",
};

/** `orb serve` inside this process, in a folder of its own, spoken to over HTTP. Its end is followed by an audit. */
export class Place implements AsyncDisposable {
  readonly #folder = tempDir();
  readonly config: Config;
  readonly log: string[] = [];
  #server: RunningServer | null = null;
  #api: CheckedApi | null = null;

  private constructor(env: Record<string, string>) {
    const all = { APP_ALLOW_PRIVATE_NETWORKS: "127.0.0.1/32,127.0.0.2/32", ...SMALL_TIMES, ...env };
    this.config = loadConfig({ env: all, cwd: this.#folder.path }).config;
  }

  static async open(env: Record<string, string> = {}, options: { worker?: boolean } = {}): Promise<Place> {
    const place = new Place({ APP_BROWSER_PATH: process.env["ORB_TEST_CHROMIUM"] ?? "", ...env });
    await place.start(options);
    return place;
  }

  get dir(): string {
    return this.#folder.path;
  }

  get api(): CheckedApi {
    assert.ok(this.#api !== null, "the server runs");
    return this.#api;
  }

  async start({ worker = true }: { worker?: boolean } = {}): Promise<void> {
    const log = createLog({ level: "debug", pretty: false, write: (line) => void this.log.push(line) });
    this.#server = await startServer(this.config, log, { version: "0.0.0-test", worker });
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
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.stop();
      await this.audit();
    } finally {
      this.#folder[Symbol.dispose]();
    }
  }

  async job(input: JobInput & { target_url: string }): Promise<JobView> {
    const answer = await this.api.post("/jobs", input);
    assert.equal(answer.status, 201, answer.text);
    return answer.json<JobView>();
  }

  async session(input: SessionInput): Promise<SessionView> {
    const answer = await this.api.post("/sessions", input);
    assert.equal(answer.status, 201, answer.text);
    return answer.json<SessionView>();
  }

  /** Starts a run of a saved job, or of a new one. */
  async begin(job: string | (JobInput & { target_url: string })): Promise<RunView> {
    const id = typeof job === "string" ? job : (await this.job(job)).id;
    const answer = await this.api.post(`/jobs/${id}/runs`);
    assert.equal(answer.status, 201, answer.text);
    return answer.json<RunView>();
  }

  /** Runs a job to its end. */
  async run(job: string | (JobInput & { target_url: string })): Promise<RunView> {
    return this.ended((await this.begin(job)).id);
  }

  async show(id: string): Promise<RunView> {
    return (await this.api.get(`/jobs/runs/${id}`)).json<RunView>();
  }

  async events(id: string): Promise<EventView[]> {
    return (await this.api.get(`/jobs/runs/${id}/events?limit=1000`)).json<EventView[]>();
  }

  /** The one task of a page's run. */
  async task(id: string): Promise<TaskView> {
    const tasks = (await this.api.get(`/jobs/runs/${id}/tasks`)).json<TaskView[]>();
    assert.equal(tasks.length, 1);
    return tasks[0] as TaskView;
  }

  async results(id: string): Promise<ResultView[]> {
    return (await this.api.get(`/jobs/runs/${id}/results?limit=200`)).json<ResultView[]>();
  }

  /** Follows the run's events until it has ended. */
  async ended(id: string): Promise<RunView> {
    await this.follow(id, () => false);
    const run = await this.show(id);
    assert.equal(run.progress, 100, `the stream ends with the run: ${JSON.stringify(run)}`);
    return run;
  }

  /** Follows the run's events until one of them says this. */
  async said(id: string, what: RegExp): Promise<EventView> {
    const found = await this.follow(id, ({ message }) => what.test(message));
    assert.ok(found !== null, `the run ended without saying ${what}: ${JSON.stringify(await this.events(id))}`);
    return found;
  }

  /** The first event that is looked for, or null when the run ended without it. */
  async follow(id: string, isIt: (event: EventView) => boolean): Promise<EventView | null> {
    const { body, statusCode } = await request(`${this.api.url}/jobs/runs/${id}/events/stream`, {
      dispatcher: this.api.agent,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    assert.equal(statusCode, 200);
    let text = "";
    try {
      for await (const chunk of body.setEncoding("utf8")) {
        text += String(chunk);
        this.api.answered.push(String(chunk));
        const blocks = text.split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) {
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (!block.includes("event: run_event") || data === undefined) continue;
          const event = JSON.parse(data) as EventView;
          if (isIt(event)) return event;
        }
      }
    } catch (error) {
      const told = JSON.stringify((await this.events(id)).map(({ message }) => message));
      throw new Error(`waited ${PATIENCE_MS} ms in vain for the run: ${told}`, { cause: error });
    } finally {
      body.destroy();
    }
    return null;
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

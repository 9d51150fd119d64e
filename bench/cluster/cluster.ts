import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, request } from "undici";
import { print } from "../support/measure.ts";
import { type RunningService, startPostgres, startRedis } from "../support/services.ts";

const ORB = fileURLToPath(new URL("../../bin/orb", import.meta.url));

export interface ClusterOptions {
  workers: number;
  /** For all of its processes. */
  env?: Record<string, string>;
  /** Where its processes reach Postgres. */
  through?: (url: string) => Promise<string>;
}

/**
 * Postgres and Redis with default durability, an API without a worker, and workers: processes as on separate machines,
 * sharing nothing but the services and a folder of files.
 */
export class BenchCluster implements AsyncDisposable {
  readonly postgres: RunningService;
  readonly redis: RunningService;
  readonly #dir = mkdtempSync(join(tmpdir(), "orb-bench-cluster-"));
  readonly #env: Record<string, string>;
  readonly #children: ChildProcess[] = [];
  readonly #agent = new Agent({ pipelining: 1 });
  #url = "";
  workers = 0;

  private constructor(postgres: RunningService, redis: RunningService, env: Record<string, string>) {
    this.postgres = postgres;
    this.redis = redis;
    this.#env = {
      PATH: process.env["PATH"] ?? "",
      HOME: this.#dir,
      TMPDIR: this.#dir,
      APP_DATABASE_URL: postgres.url,
      APP_REDIS_URL: redis.url,
      APP_ARTIFACTS_URL: join(this.#dir, "files"),
      APP_SECRET_KEY: "a-key-that-all-of-them-have",
      APP_ALLOW_PRIVATE_NETWORKS: "true",
      APP_RESPECT_ROBOTS: "false",
      APP_SHUTDOWN_GRACE_SECONDS: "1",
      ...env,
    };
  }

  static async start({ workers, env = {}, through }: ClusterOptions): Promise<BenchCluster> {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis("everysec")]);
    if (postgres === null || redis === null) {
      await Promise.all([postgres?.stop(), redis?.stop()]);
      throw new Error("PostgreSQL and Redis have to be installed for this benchmark");
    }
    const at = through === undefined ? {} : { APP_DATABASE_URL: await through(postgres.url) };
    const cluster = new BenchCluster(postgres, redis, { ...env, ...at });
    try {
      const said = await cluster.#begin("api", ["serve", "--port", "0", "--no-worker"], /listening on (http:[^"\s]+)/);
      cluster.#url = said[1] ?? "";
      await cluster.addWorkers(workers);
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  async addWorkers(count: number): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `worker-${this.workers + index + 1}`);
    this.workers += count;
    await Promise.all(names.map((name) => this.#begin(name, ["worker"], /working on runs and the queue/)));
  }

  async post<T>(path: string, body?: unknown): Promise<T> {
    return this.#call<T>(path, "POST", body);
  }

  async get<T>(path: string): Promise<T> {
    return this.#call<T>(path, "GET");
  }

  /** Starts a crawl of these sites that only slots and site limits bound; returns its id. */
  async crawl(url: readonly string[], pages: number): Promise<string> {
    const asked = { url, max_pages: pages, max_depth: 2, max_concurrent_articles: 10_000, use_sitemap: false };
    return (await this.post<{ task_id: string }>("/scraping/async-scrape", asked)).task_id;
  }

  async #call<T>(path: string, method: "GET" | "POST", body?: unknown): Promise<T> {
    const answer = await request(this.#url + path, {
      method,
      dispatcher: this.#agent,
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    if (answer.statusCode >= 300)
      throw new Error(`${method} ${path}: ${answer.statusCode} ${await answer.body.text()}`);
    return (await answer.body.json()) as T;
  }

  /** Starts a process of the product; resolves when its output matches `ready`. */
  #begin(name: string, args: readonly string[], ready: RegExp): Promise<RegExpExecArray> {
    const child = spawn(process.execPath, [ORB, ...args], {
      cwd: this.#dir,
      // Identifies the worker to the sites.
      env: { ...this.#env, APP_DATA_DIR: join(this.#dir, name), APP_USER_AGENT: `Orbweaver (${name})` },
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#children.push(child);
    let said = "";
    return new Promise((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`orb ${args.join(" ")} ended with ${code}:\n${said}`)));
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        // Afterwards only warnings and errors are printed, even between the figures.
        if (said === "ready") return void (/"level":"(warn|error)"/.test(text) && process.stderr.write(text));
        said += text;
        const found = ready.exec(said);
        if (found === null) return;
        said = "ready";
        resolve(found);
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.close();
    await Promise.all(this.#children.map(ended));
    await Promise.all([this.postgres.stop(), this.redis.stop()]);
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Warns the reader: on a busy machine the figures are unreliable. */
export function printLoad(when = "before"): void {
  print(`load of the machine ${when}: ${loadavg()[0]?.toFixed(1)}`);
}

/** What a million pages are crawled with: one process on SQLite, or an API and two workers on Postgres and Redis. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { treeMegabytes } from "../crawl/process.ts";
import { type RunningService, startPostgres, startRedis } from "../support/services.ts";

const ORB = fileURLToPath(new URL("../../bin/orb", import.meta.url));
const ENV = { APP_ALLOW_PRIVATE_NETWORKS: "true", APP_MAX_PER_HOST: "32", APP_MAX_WORKERS: "64" };

interface Started {
  child: ChildProcess;
  /** What its output matched. */
  found: RegExpExecArray;
}

/** A process of the product, once its output matches `ready`. */
function begin(args: readonly string[], cwd: string, env: Record<string, string>, ready: RegExp): Promise<Started> {
  const child = spawn(process.execPath, [ORB, ...args], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: cwd, ...ENV, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  process.once("exit", () => child.kill("SIGKILL"));
  let text: string | null = "";
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`orb ${args.join(" ")} ended with ${code}: ${text}`)));
    child.stderr!.setEncoding("utf8").on("data", (part: string) => {
      if (text === null) return;
      text += part;
      const found = ready.exec(text);
      if (found === null) return;
      text = null;
      resolve({ child, found });
    });
  });
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await exited;
}

export interface Deployment {
  name: string;
  url(): string;
  /** Kills all processes that crawl, as `kill -9`. */
  kill(): Promise<void>;
  /** Starts them again. */
  restart(): Promise<void>;
  /** Of each process that crawls or answers, always in the same order. */
  megabytes(): number[];
  /** Ends the processes as a user would, then measures. */
  databaseBytes(): Promise<number>;
  stop(): Promise<void>;
}

const LISTENING = /listening on (http:\/\/[^"\s]+)/;

export async function onSqlite(): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), "orb-bench-million-"));
  const serve = () => begin(["serve", "--port", "0"], folder, {}, LISTENING);
  let server = await serve();
  return {
    name: "SQLite, one process",
    url: () => server.found[1]!,
    kill: () => end(server.child, "SIGKILL"),
    restart: async () => void (server = await serve()),
    megabytes: () => [treeMegabytes(server.child.pid!, "VmRSS")],
    databaseBytes: async () => {
      await end(server.child, "SIGTERM");
      return statSync(join(folder, "data", "orb.db")).size;
    },
    stop: async () => {
      await end(server.child, "SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const WORKERS = 2;

/** Null: Postgres or Redis are not installed. */
export async function onPostgres(): Promise<Deployment | null> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis("everysec")]);
  if (postgres === null || redis === null) {
    await Promise.all([postgres?.stop(), redis?.stop()]);
    return null;
  }
  return new Cluster(postgres, redis).started();
}

class Cluster implements Deployment {
  readonly name = `Postgres and Redis, ${WORKERS} workers`;
  readonly #folder = mkdtempSync(join(tmpdir(), "orb-bench-million-"));
  readonly #postgres: RunningService;
  readonly #redis: RunningService;
  #api: Started | null = null;
  #workers: Started[] = [];

  constructor(postgres: RunningService, redis: RunningService) {
    this.#postgres = postgres;
    this.#redis = redis;
  }

  async started(): Promise<this> {
    // The first process migrates the database.
    this.#api = await this.#begin("api", ["serve", "--port", "0", "--no-worker"], LISTENING);
    for (let index = 0; index < WORKERS; index += 1) this.#workers.push(await this.#worker(index));
    return this;
  }

  #begin(name: string, args: readonly string[], ready: RegExp): Promise<Started> {
    const env = {
      APP_DATABASE_URL: this.#postgres.url,
      APP_REDIS_URL: this.#redis.url,
      APP_ARTIFACTS_URL: join(this.#folder, "files"),
      APP_SECRET_KEY: "a-key-that-all-of-them-have",
      APP_DATA_DIR: join(this.#folder, name),
    };
    return begin(args, this.#folder, env, ready);
  }

  #worker(index: number): Promise<Started> {
    return this.#begin(`worker-${index}`, ["worker"], /working on runs and the queue/);
  }

  url(): string {
    return this.#api!.found[1]!;
  }

  async kill(): Promise<void> {
    await Promise.all(this.#workers.map(({ child }) => end(child, "SIGKILL")));
  }

  async restart(): Promise<void> {
    this.#workers = await Promise.all(this.#workers.map((_, index) => this.#worker(index)));
  }

  megabytes(): number[] {
    return [this.#api!, ...this.#workers].map(({ child }) => treeMegabytes(child.pid!, "VmRSS"));
  }

  async databaseBytes(): Promise<number> {
    const client = new pg.Client({ connectionString: this.#postgres.url });
    await client.connect();
    try {
      const { rows } = await client.query("SELECT pg_database_size(current_database()) AS size");
      return Number((rows[0] as { size: string }).size);
    } finally {
      await client.end();
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#workers, this.#api!].map(({ child }) => end(child, "SIGKILL")));
    await Promise.all([this.#postgres.stop(), this.#redis.stop()]);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

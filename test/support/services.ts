import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { postgres } from "../../src/supervisor/services/postgres.ts";
import { redis } from "../../src/supervisor/services/redis.ts";
import type { ServiceKind } from "../../src/supervisor/services/service-kind.ts";
import { postgresUser, requirePostgres } from "../../src/supervisor/services/programs.ts";
import { root } from "./source.ts";
import { tempDir } from "./temp-dir.ts";
import { FULL } from "./gate.ts";
import { PATIENCE_MS } from "./patience.ts";

const PASSWORD = "test";
const MOST_PORTS = 3;
const CONFLICT = /ERROR:\s+(deadlock detected|could not serialize)/g;
/** Power cuts are not tested; a kill of the process loses nothing that it has handed to the system. */
const QUICK: Record<string, readonly string[]> = {
  postgres: ["-c", "fsync=off", "-c", "full_page_writes=off"],
  redis: ["--appendfsync", "no"],
};

/** A Redis or a Postgres of a test's own: on a port and in a folder of its own, gone at the end of the block. */
export class TestService implements AsyncDisposable {
  readonly #kind: ServiceKind;
  readonly #dir = tempDir();
  readonly #args: readonly string[];
  readonly port: number;
  readonly url: string;
  #child: ChildProcess | null = null;
  #exited: Promise<void> = Promise.resolve();
  readonly #endWithUs = () => void this.#child?.kill("SIGKILL");

  private constructor(kind: ServiceKind, port: number, args: readonly string[]) {
    this.#kind = kind;
    this.port = port;
    this.#args = args;
    this.url = kind.urlOf({ port, password: PASSWORD });
    // Postgres runs as another user when the tests run as root.
    chmodSync(this.#dir.path, 0o711);
    process.on("exit", this.#endWithUs);
  }

  static async begin(kind: ServiceKind, args: readonly string[]): Promise<TestService> {
    for (let attempt = 1; ; attempt += 1) {
      const service = new TestService(kind, await somePort(), args);
      try {
        await service.start();
        return service;
      } catch (error) {
        await service[Symbol.asyncDispose]();
        // Between the look for a free port and its use, another test may have taken it.
        if (attempt === MOST_PORTS || !/address already in use/i.test(String(error))) throw error;
      }
    }
  }

  /** The main process; others of it are its children. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Begins it, again on the port and with the data of the last time; resolves when it answers. */
  async start(): Promise<void> {
    const place = {
      folder: this.#dir.path,
      host: "127.0.0.1",
      port: this.port,
      password: PASSWORD,
      last: null,
    };
    const data = this.#kind === postgres ? join(place.folder, "data") : null;
    const fresh = data !== null && !existsSync(data);
    if (fresh) copyMade(data);
    const program = await this.#kind.prepare(place, AbortSignal.timeout(PATIENCE_MS));
    if (fresh) keepMade(data);
    const log = openSync(this.#log, "a");
    const child = spawn(program.file, [...program.args, ...(QUICK[this.#kind.name] ?? []), ...this.#args], {
      cwd: program.cwd,
      env: program.env,
      stdio: ["ignore", log, log],
      ...program.user,
    });
    closeSync(log);
    this.#child = child;
    let over = false;
    this.#exited = new Promise((resolve) => {
      const end = () => {
        over = true;
        resolve();
      };
      child.once("exit", end);
      child.once("error", end);
    });
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        await this.#kind.check(this.url, 2000);
        return;
      } catch (error) {
        if (over || performance.now() > deadline)
          throw new Error(`${this.#kind.name} does not start: ${readFileSync(this.#log, "utf8")}`, { cause: error });
      }
      await wait(20);
    }
  }

  /** Ends it with a signal (Postgres: SIGINT is fast, SIGQUIT is immediate) and waits until it is gone; its data stays. */
  async stop(signal: NodeJS.Signals = this.#kind.atOnce): Promise<void> {
    this.#child?.kill(signal);
    await this.#exited;
    this.#child = null;
  }

  /** Nothing of it moves, and its connections stay open. */
  freeze(): void {
    this.#child?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child?.kill("SIGCONT");
  }

  /** Transactions of all processes that Postgres ended because of others; the store repeats them. */
  #reportConflicts(): void {
    if (this.#kind !== postgres || !existsSync(this.#log)) return;
    const conflicts = readFileSync(this.#log, "utf8").match(CONFLICT)?.length ?? 0;
    if (FULL || conflicts > 0) process.stdout.write(`  Postgres: deadlocks and serialization failures ${conflicts}\n`);
  }

  get #log(): string {
    return join(this.#dir.path, "log");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.thaw();
    await this.stop();
    this.#reportConflicts();
    process.off("exit", this.#endWithUs);
    this.#dir[Symbol.dispose]();
  }
}

/** Making the files of a Postgres takes a second of the processor: they are made once by each version, and copied. */
function madeFiles(): string {
  return join(root, "node_modules", ".cache", "postgres", requirePostgres(null).replaceAll(/\W+/g, "-"));
}

function copyMade(data: string): void {
  const owner = statSync(madeFiles(), { throwIfNoEntry: false })?.uid;
  // A checkout that was copied has the files of whoever copied it, and Postgres refuses those of others.
  if (owner === undefined || owner !== (postgresUser()?.uid ?? process.getuid?.())) return;
  try {
    execFileSync("cp", ["-a", madeFiles(), data], { stdio: "ignore" });
  } catch {
    // Another user's: it makes its own.
    rmSync(data, { recursive: true, force: true });
  }
}

/** Nothing runs on them yet. */
function keepMade(data: string): void {
  const created = madeFiles();
  if (existsSync(created)) return;
  const own = `${created}-${process.pid}`;
  try {
    mkdirSync(dirname(created), { recursive: true });
    execFileSync("cp", ["-a", data, own], { stdio: "ignore" });
    renameSync(own, created);
  } catch {
    // Another test was faster, or it may not be written there: the next one makes them anew.
    rmSync(own, { recursive: true, force: true });
  }
}

/** `args` are further words for redis-server, such as `--maxmemory-policy`. */
export function startRedis(args: readonly string[] = []): Promise<TestService> {
  return TestService.begin(redis, args);
}

/** `args` are further words for postgres, such as `-c max_connections=20`. Its one role is the owner of its database. */
export function startPostgres(args: readonly string[] = []): Promise<TestService> {
  return TestService.begin(postgres, args);
}

/**
 * A port at which nobody listens, now and later: it is none of those that the system hands out to whoever asks for any, so
 * that it can be used, left and used again, or stay closed.
 */
export async function somePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once("error", () => resolve(false));
      server.listen({ host: "0.0.0.0", port }, () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

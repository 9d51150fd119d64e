import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { artifactPath } from "../../src/artifacts/layout.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { QueueItemDetail, QueueItemView } from "../../src/orchestrator/queue/items.ts";
import type { QueueStats } from "../../src/orchestrator/queue/stats.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { builtBefore, root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";
import { PATIENCE_MS } from "../support/patience.ts";

/** Warnings about the machine, which may be busy with other tests. */
export const OF_THE_MACHINE = /^warning: concurrency reduced:[^\n]*\n/gm;

export { FULL } from "../support/gate.ts";

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A running `orb` process. */
export class OrbProcess {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly args: readonly string[];
  stdout = "";
  stderr = "";
  #over: Ended | null = null;
  readonly #listeners = new Set<() => void>();

  constructor(
    args: readonly string[],
    options: { cwd: string; env: Record<string, string>; input?: string; through?: readonly string[]; orb?: string },
  ) {
    this.args = args;
    // The runtime itself, not the launcher: signals must reach the process that does the work.
    const orb = options.orb ?? join(root, "bin", "orb");
    const [command = "", ...words] = [...(options.through ?? []), process.execPath, orb, ...args];
    this.#child = spawn(command, words, {
      cwd: options.cwd,
      env: options.env,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child.stdin?.on("error", () => {});
    this.#child.stdin?.end(options.input ?? "");
    for (const name of ["stdout", "stderr"] as const) {
      this.#child[name]?.setEncoding("utf8").on("data", (text: string) => {
        this[name] += text;
        this.#tell();
      });
    }
    this.ended = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("close", (code, signal) => {
        this.#over = { code, signal, stdout: this.stdout, stderr: this.stderr.replaceAll(OF_THE_MACHINE, "") };
        this.#tell();
        resolve(this.#over);
      });
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Signals it again and again until it has ended: repetitions within a second count as one. */
  async pressed(signal: NodeJS.Signals): Promise<Ended> {
    // Once it has stopped, it only exits: Node handles no signals then.
    const press = () => this.stderr.includes('"message":"stopped"') || this.kill(signal);
    const presses = setInterval(press, 200);
    try {
      return await this.end();
    } finally {
      clearInterval(presses);
    }
  }

  /** Like `| head`: closes the pipes of its output. */
  closeOutput(name: "stdout" | "stderr"): void {
    this.#child[name]?.destroy();
  }

  async killed(): Promise<Ended> {
    this.kill("SIGKILL");
    return this.ended;
  }

  /** Resolves when the text appears on standard error. */
  said(text: string, timeoutMs = PATIENCE_MS): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (how: () => void) => {
        clearTimeout(timer);
        this.#listeners.delete(look);
        how();
      };
      const fail = (why: string) => reject(new Error(`${why} "${text}": orb ${this.args.join(" ")}\n${this.story()}`));
      const look = () => {
        if (this.stderr.includes(text)) finish(resolve);
        else if (this.#over !== null) finish(() => fail("it ended without saying"));
      };
      const timer = setTimeout(() => finish(() => fail(`it did not say within ${timeoutMs} ms`)), timeoutMs);
      this.#listeners.add(look);
      look();
    });
  }

  /** When it logged this, if it did. */
  loggedAt(text: string): number | null {
    const line = this.stderr.split("\n").find((candidate) => candidate.startsWith("{") && candidate.includes(text));
    return line === undefined ? null : Date.parse((JSON.parse(line) as { time: string }).time);
  }

  /** Resolves when it has ended by itself. */
  async end(timeoutMs = PATIENCE_MS): Promise<Ended> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`it did not end within ${timeoutMs} ms: orb ${this.args.join(" ")}\n${this.story()}`)),
        timeoutMs,
      );
    });
    try {
      return await Promise.race([this.ended, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  story(): string {
    return `--- stdout\n${this.stdout.slice(-2000)}--- stderr\n${this.stderr.slice(-4000)}---`;
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

export interface StoredItem {
  artifact_id: string;
  state: string;
  tries: number;
  attempts: number;
  failure: string | null;
  files: { hash: string; size: number; path: string }[];
  results: unknown[];
}

/** An installation in a folder of its own. At the end its processes are gone, and so is the folder. */
export class Orb implements AsyncDisposable {
  readonly #folder = tempDir();
  readonly #processes = new Set<OrbProcess>();
  readonly env: Record<string, string>;

  constructor(env: Record<string, string> = {}) {
    this.env = {
      APP_MIN_SCHEDULE_SECONDS: "1",
      PATH: process.env["PATH"] ?? "",
      ...builtBefore,
      HOME: this.#folder.path,
      TMPDIR: this.#folder.path,
      APP_ALLOW_PRIVATE_NETWORKS: "true",
      APP_RETRY_BASE_SECONDS: "0.05",
      APP_RETRY_MAX_SECONDS: "0.2",
      ...env,
    };
  }

  get dir(): string {
    return this.#folder.path;
  }

  get dataDir(): string {
    return this.env["APP_DATA_DIR"] ?? join(this.dir, "data");
  }

  get database(): string {
    return this.env["APP_DATABASE_URL"]?.slice("sqlite:".length) ?? join(this.dir, "data", "orb.db");
  }

  /** Writes a file into the installation's folder. */
  file(name: string, content: string | Buffer): string {
    const path = join(this.dir, name);
    writeFileSync(path, content);
    return path;
  }

  /** `through` is a command that runs another, such as `unshare`. */
  start(
    args: readonly string[],
    options: { env?: Record<string, string>; input?: string; through?: readonly string[] } = {},
  ): OrbProcess {
    const child = new OrbProcess(args, {
      cwd: this.dir,
      env: { ...this.env, ...options.env },
      ...(options.through === undefined ? {} : { through: options.through }),
      ...(options.input === undefined ? {} : { input: options.input }),
    });
    this.#processes.add(child);
    void child.ended.then(() => this.#processes.delete(child));
    return child;
  }

  run(args: readonly string[], options: { env?: Record<string, string>; input?: string } = {}): Promise<Ended> {
    return this.start(args, options).end();
  }

  /** Runs a command in this process, while others may run in theirs. */
  async #aside(args: readonly string[]): Promise<string> {
    // Loaded only when needed: most of the program.
    const { runHere } = await import("../cli/here.ts");
    const { code, stdout, stderr } = await runHere(this, [...args, "--json"]);
    assert.equal(code, 0, `orb ${args.join(" ")}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Runs a command that must succeed and returns its `--json` output. */
  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.#aside(args)) as T;
  }

  import(items: readonly object[]): Promise<{ lines: number; added: number; existing: number; bad: number }> {
    const file = this.file("import.jsonl", items.map((item) => `${JSON.stringify(item)}\n`).join(""));
    return this.json("queue", "import", file);
  }

  stats(): Promise<QueueStats> {
    return this.json("queue", "stats");
  }

  show(artifactId: string): Promise<QueueItemDetail> {
    return this.json("queue", "show", artifactId);
  }

  list(...args: string[]): Promise<QueueItemView[]> {
    return this.json("queue", "list", "--limit", "1000000", ...args);
  }

  /** Every invariant holds, and every stored file has the content it had. */
  async audit(): Promise<void> {
    assert.equal((await this.json<{ clean: boolean }>("audit", "--deep")).clean, true);
  }

  /** The engine's socket. */
  async engineAddress(): Promise<string> {
    const store = openSqliteStore({ path: this.database, clock: systemClock });
    try {
      const holder = await store.engineHolder();
      assert.ok(holder !== null, "there is an engine");
      return holder.address;
    } finally {
      await store.close();
    }
  }

  /** All items with their files, straight from the store: asking for thousands one by one would take minutes. */
  async items(): Promise<Map<string, StoredItem>> {
    const store = openSqliteStore({ path: this.database, clock: systemClock });
    try {
      const run = await store.runByAlias("queue");
      assert.ok(run !== null, "there is a queue");
      const items = new Map<string, StoredItem>();
      for (const task of await store.tasks(run.id, { limit: 1_000_000 })) {
        const files = await store.artifactsOf(task.id);
        assert.ok(!items.has(task.key), `${task.key} is there twice`);
        items.set(task.key, {
          artifact_id: task.key,
          state: task.state,
          tries: task.tries,
          attempts: task.attempts.length,
          failure: task.failure?.reason ?? null,
          files: files.map(({ hash, size }) => ({ hash, size, path: this.pathOf(hash) })),
          results: await store.resultsOf(task.id),
        });
      }
      return items;
    } finally {
      await store.close();
    }
  }

  pathOf(hash: string): string {
    return join(this.dataDir, "artifacts", artifactPath(hash));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#processes].map((child) => child.killed()));
    this.#folder[Symbol.dispose]();
  }
}

/** The item is done, and its one file holds exactly this. */
export function assertStored(item: StoredItem | undefined, body: string | Buffer, name: string): void {
  assert.ok(item !== undefined, `${name} is lost`);
  assert.equal(item.state, "completed", `${name}: ${JSON.stringify(item)}`);
  assert.equal(item.files.length, 1, `${name} has one file: ${JSON.stringify(item)}`);
  const [file] = item.files;
  assert.equal(file?.hash, createHash("sha256").update(body).digest("hex"), `${name} has the right content`);
  assert.ok(existsSync(file.path), `${name}: ${file.path} is there`);
  assert.deepEqual(readFileSync(file.path), Buffer.from(body), name);
}

/** Polls `look` until it returns a value, where there is no event to wait for. */
export async function until<T>(
  look: () => T | undefined | false | null | Promise<T | undefined | false | null>,
  what: string,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false && value !== null) return value;
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The figures a test saw, for the reader of the log. */
export function report(name: string, figures: Record<string, number | string>): void {
  const text = Object.entries(figures)
    .map(([key, value]) => `${key} ${value}`)
    .join(", ");
  process.stderr.write(`  ${name}: ${text}\n`);
}

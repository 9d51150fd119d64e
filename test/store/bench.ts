import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/base/clock.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { StoreHarness } from "../contract/store/kit.ts";
import { makeDatabase } from "../support/prepared-database.ts";

export { FULL } from "../support/gate.ts";

/** A folder that is gone when the test is. */
export async function tempFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "orb-store-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export function handClock(): { times: { wall: number; mono: number }; clock: Clock } {
  const times = { wall: Date.parse("2030-01-01T00:00:00Z"), mono: 1_000_000 };
  return {
    times,
    clock: { now: () => times.wall, monotonic: () => times.mono, after: () => ({ cancel: () => {} }) },
  };
}

export async function sqliteHarness(): Promise<StoreHarness & { path: string; clockOfStore: Clock }> {
  const folder = await tempFolder();
  const path = join(folder.path, "orb.db");
  makeDatabase(path);
  const { times, clock } = handClock();
  const opened: Store[] = [];
  return {
    path,
    clockOfStore: clock,
    clock: times,
    async open() {
      const store = openSqliteStore({ path, clock });
      opened.push(store);
      return store;
    },
    async close() {
      for (const store of opened) await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Another process that works on a database; it speaks in lines. */
export class Child implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly #lines: string[] = [];
  readonly #waiting: (() => void)[] = [];
  #errors = "";
  #ended = false;

  constructor(script: string, ...args: string[]) {
    const file = new URL(`./children/${script}.ts`, import.meta.url).pathname;
    this.process = spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "pipe"] });
    // A child that was killed takes no more words.
    this.process.stdin?.on("error", () => {});
    this.process.stderr?.on("data", (text: Buffer) => (this.#errors += text.toString()));
    let rest = "";
    this.process.stdout?.on("data", (text: Buffer) => {
      const parts = (rest + text.toString()).split("\n");
      rest = parts.pop() ?? "";
      this.#lines.push(...parts);
      this.#wake();
    });
    this.process.on("close", () => {
      this.#ended = true;
      this.#wake();
    });
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** The next line it says; null when it has ended. */
  async line(): Promise<string | null> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) return line;
      if (this.#ended) return null;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  say(word: string): void {
    this.process.stdin?.write(`${word}\n`);
  }

  /** Waits for its end; throws what it complained about. */
  async end(): Promise<void> {
    if (!this.#ended) await once(this.process, "close");
    if (this.process.exitCode !== 0) throw new Error(`the child failed: ${this.#errors}`);
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    if (!this.#ended) await once(this.process, "close");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

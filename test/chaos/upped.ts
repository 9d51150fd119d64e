import assert from "node:assert/strict";
import { chmodSync, readFileSync, realpathSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { isProvenAlive, processesIn, type ProcessIdentity } from "../../src/base/machine.ts";
import type { UpState } from "../../src/supervisor/processes/state-file.ts";
import { isAlive, treeOf } from "../fetch/browser/processes.ts";
import { type Ended, Orb, type OrbProcess, type StoredItem, until } from "./orb.ts";

interface Line {
  time: string;
  message: string;
  child?: string;
  pid?: number;
}

/** The output of `orb up --status --json`. */
export interface Told {
  running: boolean;
  pid: number | null;
  url: string | null;
  processes: { name: string; state: string; pid: number | null; port: number | null; restarts: number }[];
}

/** `orb up` in its own folder. On disposal everything it ever started is gone, services included. */
export class Upped implements AsyncDisposable {
  readonly orb: Orb;
  process: OrbProcess;
  /** All processes that were ever supervised here. */
  readonly #seen = new Map<string, ProcessIdentity>();

  private constructor(orb: Orb, process: OrbProcess) {
    this.orb = orb;
    this.process = process;
  }

  /** `sqlite`: also when it runs a Postgres. */
  static async start(env: Record<string, string> = {}, { sqlite = false } = {}): Promise<Upped> {
    const orb = new Orb({ APP_PORT: "0", APP_SHUTDOWN_GRACE_SECONDS: "5", ...env });
    if (sqlite) orb.env["APP_DATABASE_URL"] = `sqlite:${orb.database}`;
    // Postgres runs as another user when the tests run as root.
    chmodSync(orb.dir, 0o711);
    const upped = new Upped(orb, orb.start(["up"]));
    try {
      await upped.process.said("all processes started");
    } catch (error) {
      await upped[Symbol.asyncDispose]();
      throw error;
    }
    upped.state();
    return upped;
  }

  /** The next `orb up`, after the last one ended. */
  async again(env: Record<string, string> = {}): Promise<void> {
    assert.ok(!this.process.alive, "one after the other");
    this.process = this.orb.start(["up"], { env });
    await this.process.said("all processes started");
    this.state();
  }

  /** The current state file. */
  state(): UpState {
    const state = JSON.parse(readFileSync(join(this.orb.dataDir, "up", "state.json"), "utf8")) as UpState;
    for (const { identity } of state.children)
      if (identity !== null) this.#seen.set(`${identity.pid} ${identity.pidStart}`, identity);
    return state;
  }

  pid(name: string): number {
    const pid = this.state().children.find((child) => child.name === name)?.identity?.pid;
    assert.ok(pid !== undefined, `${name} runs: ${this.process.story()}`);
    return pid;
  }

  get url(): string {
    return this.state().url ?? "";
  }

  /** What the supervisor has logged. */
  lines(): Line[] {
    return this.process.stderr.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Line] : []));
  }

  /** Resolves when another process than this one has come up under that name; gives its pid. */
  replaced(name: string, pid: number): Promise<number> {
    return until(
      () => this.lines().findLast((line) => line.message === `${name} is up` && line.pid !== pid)?.pid,
      `another ${name} than ${pid} is up: ${this.process.story()}`,
    );
  }

  /** Stops it and asserts that nothing is left. */
  async stopped(): Promise<Ended> {
    const family = treeOf(this.process.pid).map(({ pid }) => pid);
    // Others may have taken our ports meanwhile: processes are identified by what they are.
    const open = this.state().children.flatMap(({ kind, port }) =>
      kind === "api" || kind === "worker" ? (port ?? []) : [],
    );
    this.process.kill("SIGTERM");
    const ended = await this.process.end();
    await until(() => !family.some(isAlive), "it leaves no process behind");
    await until(() => this.left().length === 0, "no service is left");
    for (const port of open) await until(async () => !(await listens(port)), `nobody listens on ${port}`);
    return ended;
  }

  /** Our live processes. */
  left(): number[] {
    const services = (["redis", "postgres"] as const).flatMap((name) => {
      const data = join(realpathSync(this.orb.dir), "data", "services", name, "data");
      return processesIn(data, name === "redis" ? "redis-server" : "postgres").map(({ pid }) => pid);
    });
    const own = [...this.#seen.values()].filter(isProvenAlive).map(({ pid }) => pid);
    return [...new Set([...services, ...own])];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.alive) this.process.kill("SIGTERM");
    const patience = setTimeout(() => this.process.kill("SIGKILL"), 20_000);
    await this.process.ended;
    clearTimeout(patience);
    for (const pid of this.left()) process.kill(pid, "SIGKILL");
    await until(() => this.left().length === 0, "what was left is gone");
    await this.orb[Symbol.asyncDispose]();
  }
}

export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port });
    socket.on("error", () => resolve(false));
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

export function isDone(items: Map<string, StoredItem>, count: number): boolean {
  return [...items.values()].filter(({ state }) => state === "completed").length === count;
}

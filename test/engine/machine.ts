import { join } from "node:path";
import type { TestContext } from "node:test";
import { createLog } from "../../src/base/log.ts";
import { seededRandom } from "../../src/base/random.ts";
import { EmbeddedEngine } from "../../src/engine/embedded/engine.ts";
import type { Link, Watch } from "../../src/engine/embedded/link.ts";
import type { EngineRole } from "../../src/engine/port.ts";
import type { NewTask, Store } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { candidate, newTask } from "../contract/store/kit.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { tempDir } from "../support/temp-dir.ts";
import { ScriptedHost } from "./kit.ts";

export const TTL = 60_000;
export const BEAT = 15_000;
export const GRACE = 30_000;

interface Listener {
  onPoke: (lanes: string[] | null) => void;
  watchers: Set<() => void>;
}

/** One process on the machine, and what can befall it. */
export interface FakeProcess {
  pid: number;
  engine: EmbeddedEngine;
  host: ScriptedHost;
  roles: EngineRole[];
  /** Calls of the store by name. */
  calls: Map<string, number>;
  /** The store fails with this from now on; null: it works again. */
  storeFails(error: Error | null): void;
  /** kill -9: nothing it does has an effect any more, and its socket closes. */
  kill(): void;
  /** SIGSTOP: nothing moves, its socket stays. */
  freeze(): void;
  wake(): void;
}

/** One machine with one database file, on which processes are started, killed and frozen under a fake clock. */
export class Machine {
  readonly clock = new FakeClock();
  readonly #listeners = new Map<string, Listener>();
  readonly #alive = new Set<number>();
  readonly #path: string;
  readonly #t: TestContext;
  /** The file as a process sees it that is not an engine. */
  readonly client: Store;
  linksBroken = false;
  /** What its engines have logged. */
  readonly said: string[] = [];

  constructor(t: TestContext) {
    const dir = tempDir();
    this.#t = t;
    t.after(() => dir[Symbol.dispose]());
    this.#path = join(dir.path, "orb.db");
    this.client = this.#open();
  }

  #open(): Store {
    const store = openSqliteStore({ path: this.#path, clock: this.clock });
    this.#t.after(() => store.close());
    return store;
  }

  /** Work for a lane, written by a process that is not the engine; returns the run. */
  async submit(lane: string, keys: readonly string[], store = this.client, more: Partial<NewTask> = {}) {
    const run = await store.openRun({ kind: "queue", alias: "queue", maxAttempts: 3, snapshot: {} }, this.clock.now());
    await store.enqueue(
      run.id,
      keys.map((key) => newTask(key, { lane, ...more })),
      this.clock.now(),
    );
    return run;
  }

  poke(address: string, lanes: string[] | null): void {
    this.#listeners.get(address)?.onPoke(lanes);
  }

  /** Another process takes the engine, rightly or not. */
  async usurp(): Promise<void> {
    this.#alive.add(1);
    const holder = await this.client.engineHolder();
    await this.client.takeEngine(candidate("usurper"), TTL, holder?.id);
  }

  async boot(options: { maxActiveLanes?: number } = {}): Promise<FakeProcess> {
    const pid = this.#alive.size + 100;
    this.#alive.add(pid);
    const calls = new Map<string, number>();
    const roles: EngineRole[] = [];
    const host = new ScriptedHost();
    let fault: Error | null = null;
    let dead = false;
    let frozen: Promise<void> | null = null;
    let thaw = () => {};
    const store = new Proxy(this.#open(), {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          calls.set(String(name), (calls.get(String(name)) ?? 0) + 1);
          if (frozen !== null) await frozen;
          if (dead) return new Promise<never>(() => {});
          if (fault !== null) throw fault;
          return (value as (...all: unknown[]) => Promise<unknown>).apply(target, args);
        };
      },
    });
    const address = `socket-of-${pid}`;
    const engine = new EmbeddedEngine({
      store,
      host,
      clock: this.clock,
      random: seededRandom(pid),
      log: createLog({
        level: "info",
        pretty: false,
        write: (line) => this.said.push((JSON.parse(line) as { message: string }).message),
      }),
      identity: { boot: "boot-1", pid, pidStart: "1" },
      mayBeAlive: (holder) => this.#alive.has(holder.pid),
      link: this.#link(address),
      watch: (other) => this.#watch(other),
      leaseTtlMs: TTL,
      heartbeatMs: BEAT,
      graceMs: GRACE,
      maxActiveLanes: options.maxActiveLanes ?? 8,
      onRole: (role) => roles.push(role),
    });
    await engine.start();
    await this.clock.advance(0);
    return {
      pid,
      engine,
      host,
      roles,
      calls,
      storeFails: (error) => (fault = error),
      kill: () => {
        dead = true;
        this.#alive.delete(pid);
        this.#close(address);
      },
      freeze: () => {
        frozen = new Promise((resolve) => (thaw = resolve));
      },
      wake: () => {
        frozen = null;
        thaw();
      },
    };
  }

  #link(address: string): Link {
    return {
      address,
      listen: async (onPoke) => {
        if (this.linksBroken) throw new Error("no sockets here");
        this.#listeners.set(address, { onPoke, watchers: new Set() });
      },
      close: async () => this.#close(address),
    };
  }

  #close(address: string): void {
    const listener = this.#listeners.get(address);
    this.#listeners.delete(address);
    for (const resolve of listener?.watchers ?? []) resolve();
  }

  #watch(address: string): Watch {
    const listener = this.#listeners.get(address);
    if (listener === undefined) return { closed: Promise.resolve(), stop: () => {} };
    let stop = () => {};
    const closed = new Promise<void>((resolve) => {
      listener.watchers.add(resolve);
      stop = () => listener.watchers.delete(resolve);
    });
    return { closed, stop };
  }
}

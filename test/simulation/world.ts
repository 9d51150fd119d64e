import { STORE_ACCESS } from "../../src/store/ports/access.ts";
import type { Clock } from "../../src/base/clock.ts";
import type { Random } from "../../src/base/random.ts";
import type { EngineHolder } from "../../src/store/records/engine-records.ts";
import type { Store } from "../../src/store/ports/port.ts";
import type { Link, Watch } from "../../src/engine/embedded/link.ts";
import { Agenda, type Due } from "./agenda.ts";

interface Event extends Due {
  process: SimProcess | null;
  fn: () => void;
  cancelled: boolean;
}

/** A process of the simulated machine: it can be killed between any two steps, or frozen and woken. */
export interface SimProcess {
  pid: number;
  alive: boolean;
  frozenUntil: number;
  /** How often it changed the store. */
  writes: number;
  clock: Clock;
  onDeath: (() => void)[];
}

/** A heartbeat writes, and changes nothing that others look for. */
const changes = (method: string) =>
  method !== "heartbeat" && STORE_ACCESS[method as keyof typeof STORE_ACCESS] !== "read";

const NEVER = new Promise<never>(() => {});

/** One machine with its own time: nothing in it waits for real time, and the seed decides everything. */
export class World {
  time = 1_000_000;
  wallOffset = 1_700_000_000_000;
  readonly random: Random;
  readonly processes: SimProcess[] = [];
  readonly #agenda = new Agenda<Event>();
  readonly #listeners = new Map<string, { process: SimProcess; onPoke: (lanes: string[] | null) => void }>();
  #order = 0;
  #writes = 0;
  steps = 0;

  constructor(random: Random) {
    this.random = random;
  }

  chance(probability: number): boolean {
    return this.random.next() < probability;
  }

  schedule(delay: number, fn: () => void, process: SimProcess | null = null): Event {
    const event = { at: this.time + Math.max(0, delay), order: this.#order++, process, fn, cancelled: false };
    this.#agenda.push(event);
    return event;
  }

  spawn(): SimProcess {
    const process: SimProcess = {
      pid: this.processes.length + 1,
      alive: true,
      frozenUntil: 0,
      writes: 0,
      onDeath: [],
      clock: this.clock(null),
    };
    process.clock = this.clock(process);
    this.processes.push(process);
    return process;
  }

  clock(process: SimProcess | null): Clock {
    return {
      now: () => Math.floor(this.time + this.wallOffset),
      monotonic: () => this.time,
      after: (ms, fn) => {
        const event = this.schedule(Math.min(ms, 2 ** 31), fn, process);
        return { cancel: () => (event.cancelled = true) };
      },
    };
  }

  kill(process: SimProcess): void {
    if (!process.alive) return;
    process.alive = false;
    for (const [address, listener] of this.#listeners)
      if (listener.process === process) this.#listeners.delete(address);
    for (const fn of process.onDeath) fn();
  }

  freeze(process: SimProcess, ms: number): void {
    process.frozenUntil = this.time + ms;
  }

  isFrozen(process: SimProcess): boolean {
    return process.frozenUntil > this.time;
  }

  mayBeAlive(holder: EngineHolder): boolean {
    return this.processes[holder.pid - 1]?.alive ?? false;
  }

  /** Runs until `done` or until nothing is left to happen. */
  async run(done: () => boolean, limits: { until: number; steps: number }): Promise<void> {
    while (!done()) {
      const event = this.#agenda.pop();
      if (event === undefined) throw new Error("nothing is left to happen, and the work is not done");
      if (event.cancelled || event.process?.alive === false) continue;
      if (event.process !== null && event.process.frozenUntil > event.at) {
        event.at = event.process.frozenUntil;
        event.order = this.#order++;
        this.#agenda.push(event);
        continue;
      }
      this.time = Math.max(this.time, event.at);
      if (this.time > limits.until) throw new Error("the work was not done in time");
      if (++this.steps > limits.steps) throw new Error("too many steps: something spins");
      event.fn();
      // Everything that follows without waiting for time happens before the next event.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /**
   * The store as one process sees it. A dead process gets no answer and changes nothing; `crash` may kill it before
   * or after any call, which is where a real process is killed as far as the store can tell.
   */
  storeFor(process: SimProcess, store: Store, crash: () => "before" | "after" | null): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== "function") return value;
        if (name === "foreignVersion") {
          return async () => {
            if (!process.alive) return NEVER;
            return this.#writes - process.writes;
          };
        }
        return async (...args: unknown[]) => {
          if (!process.alive) return NEVER;
          if (this.isFrozen(process)) await this.thaw(process);
          const fate = crash();
          if (fate === "before") this.kill(process);
          if (!process.alive) return NEVER;
          if (changes(String(name))) {
            this.#writes += 1;
            process.writes += 1;
          }
          const result = await (value as (...all: unknown[]) => Promise<unknown>).apply(target, args);
          if (fate === "after") this.kill(process);
          return process.alive ? result : NEVER;
        };
      },
    });
  }

  /** Somebody who is no process of this world wrote to the store. */
  wroteElsewhere(): void {
    this.#writes += 1;
  }

  thaw(process: SimProcess): Promise<void> {
    return new Promise((resolve) => this.schedule(process.frozenUntil - this.time, resolve, process));
  }

  linkFor(process: SimProcess): Link {
    const address = `sim/${process.pid}`;
    return {
      address,
      listen: async (onPoke) => {
        this.#listeners.set(address, { process, onPoke });
      },
      close: async () => {
        this.#listeners.delete(address);
      },
    };
  }

  poke(address: string, lanes: string[] | null): void {
    const listener = this.#listeners.get(address);
    if (listener !== undefined) this.schedule(1, () => listener.onPoke(lanes), listener.process);
  }

  watchFor(process: SimProcess, address: string): Watch {
    const holder = this.#listeners.get(address)?.process;
    const closed = new Promise<void>((resolve) => {
      const wake = () => void this.schedule(1, resolve, process);
      if (holder === undefined) wake();
      else holder.onDeath.push(wake);
    });
    return { closed, stop: () => {} };
  }
}

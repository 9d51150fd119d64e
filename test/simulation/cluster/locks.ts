import type { Timeline } from "./timeline.ts";

export type LockMode = "shared" | "alone";

/** Who holds locks and waits for them: a transaction. */
export interface Locker {
  name: string;
}

interface Waiter {
  locker: Locker;
  mode: LockMode;
  granted: () => void;
  over: boolean;
}

interface Lock {
  holders: Map<Locker, LockMode>;
  line: Waiter[];
}

/** The locks of the server: whoever comes first goes first, and who waits too long is told so. */
export class Locks {
  readonly #timeline: Timeline;
  readonly #locks = new Map<string, Lock>();
  readonly #held = new Map<Locker, Set<string>>();
  readonly #waits = new Map<Locker, { name: string; waiter: Waiter }>();
  /** Circles of transactions that wait for each other. */
  readonly deadlocks: string[] = [];
  waits = 0;
  timeouts = 0;
  longestWaitMs = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  holds(locker: Locker, name: string, mode: LockMode = "alone"): boolean {
    const held = this.#locks.get(name)?.holders.get(locker);
    return held === "alone" || (held !== undefined && mode === "shared");
  }

  isFree(name: string): boolean {
    return (this.#locks.get(name)?.holders.size ?? 0) === 0;
  }

  /** Takes it alone if nobody has it and nobody waits for it. */
  tryTake(locker: Locker, name: string): boolean {
    const lock = this.#of(name);
    const isFree = this.holds(locker, name) || (lock.line.length === 0 && isCompatible(lock, "alone"));
    if (isFree) this.#grant(locker, name, lock, "alone");
    return isFree;
  }

  take(
    locker: Locker,
    name: string,
    mode: LockMode,
    granted: () => void,
    timedOut: () => void,
    timeoutMs: number,
  ): void {
    if (this.holds(locker, name, mode)) return granted();
    const lock = this.#of(name);
    if (lock.line.length === 0 && isCompatible(lock, mode)) {
      this.#grant(locker, name, lock, mode);
      return granted();
    }
    this.waits += 1;
    const since = this.#timeline.now();
    const waiter: Waiter = {
      locker,
      mode,
      over: false,
      granted: () => {
        this.longestWaitMs = Math.max(this.longestWaitMs, this.#timeline.now() - since);
        granted();
      },
    };
    lock.line.push(waiter);
    this.#waits.set(locker, { name, waiter });
    this.#findCircle(locker);
    this.#timeline.at(timeoutMs, null, () => {
      if (waiter.over) return;
      this.timeouts += 1;
      this.#leaveLine(locker);
      timedOut();
    });
  }

  /** At the end of a transaction, however it ends. */
  release(locker: Locker): void {
    this.#leaveLine(locker);
    const names = this.#held.get(locker) ?? new Set();
    this.#held.delete(locker);
    for (const name of names) this.#of(name).holders.delete(locker);
    for (const name of names) this.#serve(name);
  }

  #of(name: string): Lock {
    let lock = this.#locks.get(name);
    if (lock === undefined) this.#locks.set(name, (lock = { holders: new Map(), line: [] }));
    return lock;
  }

  #grant(locker: Locker, name: string, lock: Lock, mode: LockMode): void {
    lock.holders.set(locker, mode);
    const held = this.#held.get(locker) ?? new Set();
    this.#held.set(locker, held.add(name));
  }

  #leaveLine(locker: Locker): void {
    const waits = this.#waits.get(locker);
    if (waits === undefined) return;
    waits.waiter.over = true;
    this.#waits.delete(locker);
    const lock = this.#of(waits.name);
    lock.line = lock.line.filter((one) => one !== waits.waiter);
    this.#serve(waits.name);
  }

  #serve(name: string): void {
    const lock = this.#of(name);
    for (let [next] = lock.line; next !== undefined && isCompatible(lock, next.mode); [next] = lock.line) {
      lock.line.shift();
      next.over = true;
      this.#waits.delete(next.locker);
      this.#grant(next.locker, name, lock, next.mode);
      next.granted();
    }
  }

  /** From whoever waits to whom it waits for: those that hold the lock, and those before it in line. */
  #findCircle(from: Locker): void {
    const path: Locker[] = [];
    const seen = new Set<Locker>();
    const visit = (locker: Locker): boolean => {
      if (locker === from && path.length > 0) return true;
      if (seen.has(locker)) return false;
      seen.add(locker);
      const waits = this.#waits.get(locker);
      if (waits === undefined) return false;
      path.push(locker);
      const { holders, line } = this.#of(waits.name);
      const before = line.slice(0, line.indexOf(waits.waiter)).map((one) => one.locker);
      for (const other of [...holders.keys(), ...before]) if (other !== locker && visit(other)) return true;
      path.pop();
      return false;
    };
    if (visit(from))
      this.deadlocks.push(path.map((one) => `${one.name} waits for ${this.#waits.get(one)?.name}`).join(", "));
  }
}

function isCompatible({ holders }: Lock, mode: LockMode): boolean {
  return holders.size === 0 || (mode === "shared" && [...holders.values()].every((held) => held === "shared"));
}

import assert from "node:assert/strict";
import type { Clock, Timer } from "../../src/base/clock.ts";

interface Waiting {
  at: number;
  order: number;
  fn: () => void;
}

/** Everything that follows without waiting for time has happened. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Time stands still until a test moves it. The wall and the monotonic clock can be set apart. */
export class FakeClock implements Clock {
  wall = 1_900_000_000_000;
  mono = 1_000_000;
  readonly #waiting = new Set<Waiting>();
  #order = 0;

  now(): number {
    return this.wall;
  }

  monotonic(): number {
    return this.mono;
  }

  after(ms: number, fn: () => void): Timer {
    const entry = { at: this.mono + Math.max(0, ms), order: (this.#order += 1), fn };
    this.#waiting.add(entry);
    return { cancel: () => this.#waiting.delete(entry) };
  }

  /** Timers that have not fired. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Lets time pass; every timer that becomes due fires in its turn, with all that follows from it. */
  async advance(ms: number): Promise<void> {
    const end = this.mono + ms;
    await settled();
    for (let next = this.#next(end); next !== null; next = this.#next(end)) await this.#fire(next);
    this.#set(end);
    await settled();
  }

  /** Lets time pass from timer to timer until the condition holds; fails when it does not within `limitMs`. */
  async until(condition: () => boolean, limitMs = 600_000): Promise<void> {
    const end = this.mono + limitMs;
    await settled();
    while (!condition()) {
      const next = this.#next(end);
      assert.ok(next !== null, `nothing happens within ${limitMs} ms that makes it true: ${condition}`);
      await this.#fire(next);
    }
  }

  /** The wall clock alone is set, as by an operator. */
  jump(ms: number): void {
    this.wall += ms;
  }

  #set(mono: number): void {
    this.wall += mono - this.mono;
    this.mono = mono;
  }

  #next(end: number): Waiting | null {
    let first: Waiting | null = null;
    for (const entry of this.#waiting) {
      if (entry.at > end) continue;
      if (first === null || entry.at < first.at || (entry.at === first.at && entry.order < first.order)) first = entry;
    }
    return first;
  }

  async #fire(entry: Waiting): Promise<void> {
    this.#waiting.delete(entry);
    this.#set(Math.max(this.mono, entry.at));
    entry.fn();
    await settled();
  }
}

/**
 * Counts by name in bounded memory (Misra–Gries): when there is no room for another name, all counts are lowered together
 * until one is free. A count is never too high, and too low by at most (total count) / (capacity + 1). Summaries can be
 * merged, with the same bound.
 */
import { createHash } from "node:crypto";

export type CountPairs = readonly (readonly [name: string, count: number])[];

/** Longer names are stored as prefix and hash, so that a hostile site cannot fill the store. */
const MAX_NAME_LENGTH = 160;

export class BoundedCounts {
  readonly #capacity: number;
  readonly #counts = new Map<string, number>();

  constructor(capacity: number, pairs: CountPairs = []) {
    this.#capacity = capacity;
    this.merge(pairs);
  }

  get size(): number {
    return this.#counts.size;
  }

  get(name: string): number {
    return this.#counts.get(shortened(name)) ?? 0;
  }

  add(name: string, amount = 1): void {
    if (!(amount > 0)) return;
    const key = shortened(name);
    const counted = this.#counts.get(key);
    if (counted !== undefined || this.#counts.size < this.#capacity) {
      this.#counts.set(key, (counted ?? 0) + amount);
      return;
    }
    let least = amount;
    for (const count of this.#counts.values()) least = Math.min(least, count);
    this.#lower(least);
    if (amount > least) this.#counts.set(key, amount - least);
  }

  merge(pairs: CountPairs): void {
    for (const [name, amount] of pairs) {
      const key = shortened(name);
      if (amount > 0) this.#counts.set(key, (this.#counts.get(key) ?? 0) + amount);
    }
    if (this.#counts.size <= this.#capacity) return;
    const descending = [...this.#counts.values()].sort((a, b) => b - a);
    this.#lower(descending[this.#capacity] as number);
  }

  #lower(amount: number): void {
    for (const [key, count] of this.#counts) {
      if (count > amount) this.#counts.set(key, count - amount);
      else this.#counts.delete(key);
    }
  }

  pairs(): CountPairs {
    return [...this.#counts];
  }
}

function shortened(name: string): string {
  if (name.length <= MAX_NAME_LENGTH) return name;
  return `${name.slice(0, MAX_NAME_LENGTH - 33)}#${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
}

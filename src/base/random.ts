import { randomUUID } from "node:crypto";

/** The only source of randomness; a seed makes a run repeatable. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  uuid(): string;
}

export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => randomUUID(),
};

/** mulberry32: small, fast and good enough for schedules. Not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const hex = (digits: number) => Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join("");
  return {
    next,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
  };
}

export function integerBelow(random: Random, limit: number): number {
  return Math.floor(random.next() * limit);
}

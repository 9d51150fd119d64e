/** The faults of each path: deterministic for a seed, so that they are known in advance. */
export interface FaultRates {
  seed: number;
  /** Per thousand paths; a path has at most one of these faults. */
  serverError: number;
  notFound: number;
  loop: number;
  slow: number;
  /** The first request gets 429 with Retry-After: 1. */
  rateLimited: number;
  slowMs: number;
  /** Delay of every response. */
  everyMs: number;
}

export type Fault = "serverError" | "notFound" | "loop" | "slow" | "rateLimited";

export const NO_FAULTS: FaultRates = {
  seed: 1,
  serverError: 0,
  notFound: 0,
  loop: 0,
  slow: 0,
  rateLimited: 0,
  slowMs: 300,
  everyMs: 0,
};
export const USUAL_FAULTS: FaultRates = {
  ...NO_FAULTS,
  serverError: 20,
  notFound: 10,
  loop: 10,
  slow: 100,
  rateLimited: 10,
};

const KINDS: readonly Fault[] = ["serverError", "notFound", "loop", "slow", "rateLimited"];

/** FNV-1a with mixed bits: paths that differ in a digit must not get neighbouring numbers. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Ignores the query. */
export function faultOf(path: string, rates: FaultRates): Fault | null {
  let place = hashOf(`${rates.seed} ${path}`) % 1000;
  for (const kind of KINDS) {
    if (place < rates[kind]) return kind;
    place -= rates[kind];
  }
  return null;
}

/** A permanently failing path. */
export const isBroken = (path: string, rates: FaultRates) =>
  ["serverError", "notFound", "loop"].includes(faultOf(path.split("?")[0]!, rates) ?? "");

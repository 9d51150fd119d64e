/** What follows from the graph of a workflow. Steps stand after those they depend on, so one pass in order is enough. */

export interface GraphStep {
  /** Indices of earlier steps. */
  readonly dependencies: readonly number[];
}

/** Says of two steps whether the first depends on the second, directly or through others. */
export function dependenceOf(steps: readonly GraphStep[]): (step: number, other: number) => boolean {
  // A bit for each pair: a thousand steps that all depend on each other have half a million of them.
  const words = Math.ceil(steps.length / 32);
  const bits = new Uint32Array(steps.length * words);
  for (const [step, { dependencies }] of steps.entries()) {
    for (const dependency of dependencies) {
      for (let word = 0; word < words; word += 1) {
        bits[step * words + word] = (bits[step * words + word] ?? 0) | (bits[dependency * words + word] ?? 0);
      }
      const index = step * words + (dependency >> 5);
      bits[index] = (bits[index] ?? 0) | (1 << (dependency & 31));
    }
  }
  return (step, other) => (((bits[step * words + (other >> 5)] ?? 0) >>> (other & 31)) & 1) === 1;
}

/** What each step weighs in the whole: its estimate, at least 1; without one the mean of the others', or 1. */
export function weightsOf(estimates: readonly (number | null)[]): number[] {
  const known = estimates.flatMap((estimate) => (estimate === null ? [] : Math.max(1, estimate)));
  const mean = known.length === 0 ? 1 : known.reduce((sum, weight) => sum + weight, 0) / known.length;
  return estimates.map((estimate) => (estimate === null ? mean : Math.max(1, estimate)));
}

export interface TimedStep extends GraphStep {
  readonly ended: boolean;
  /** Seconds that it took before, newest first. */
  readonly history: readonly number[];
  /** Seconds, as the definition says. */
  readonly estimate: number | null;
  /** Seconds since it began; null: it has not. */
  readonly elapsed: number | null;
  /** How much of it is done, 0 to 1. */
  readonly share: number;
}

/**
 * Seconds until the last open step ends, when each begins as soon as those before it have ended. null: nothing is known
 * of how long any of them takes.
 */
export function secondsLeft(steps: readonly TimedStep[]): number | null {
  const expected = steps.map(({ history, estimate }) => (history.length > 0 ? median(history) : estimate));
  const known = expected.filter((seconds) => seconds !== null);
  if (known.length === 0 && steps.some((step) => !step.ended && remaining(step, null) === null)) return null;
  const mean = known.length === 0 ? 0 : known.reduce((sum, seconds) => sum + seconds, 0) / known.length;
  const ends: number[] = [];
  for (const [index, step] of steps.entries()) {
    const begins = Math.max(0, ...step.dependencies.map((dependency) => ends[dependency] ?? 0));
    ends.push(step.ended ? 0 : begins + (remaining(step, expected[index] ?? mean) ?? mean));
  }
  return Math.max(0, ...ends);
}

/** Less than this says little about the rest. */
const TELLING_SHARE = 0.05;

function remaining({ elapsed, share }: TimedStep, expected: number | null): number | null {
  if (elapsed === null) return expected;
  // A step's own progress is more reliable than its history.
  if (share >= TELLING_SHARE) return (elapsed * (1 - clamp(share))) / clamp(share);
  return expected === null ? null : Math.max(0, expected - elapsed);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}

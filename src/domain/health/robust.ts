/** Robust statistics: one odd run in the history must not move them. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** Small samples underestimate the spread (Croux and Rousseeuw, 1992). */
const SMALL_SAMPLE = [1, 1, 1.196, 1.495, 1.363, 1.206, 1.2, 1.14, 1.129, 1.107];

/** The median absolute deviation, scaled to the standard deviation of normal values. */
export function spread(values: readonly number[], middle: number = median(values)): number {
  if (values.length < 2) return 0;
  const size = values.length;
  const correction = SMALL_SAMPLE[size] ?? size / (size - 0.8);
  return 1.4826 * correction * median(values.map((value) => Math.abs(value - middle)));
}

/** A share of a run: `count` of `total` records. */
export interface Share {
  count: number;
  total: number;
}

const shareOf = ({ count, total }: Share) => (total === 0 ? 0 : count / total);

/** Day-to-day drift that is always allowed, as a part of the standard deviation of one record. */
const DRIFT = 0.02;
/** How many runs the binomial noise weighs against the spread that the history shows. */
const PRIOR_RUNS = 3;
/** The newest runs, which the level is taken from: a slow drift is followed. */
const RECENT_RUNS = 5;
/** Below so many missing values in a run, the spread of the history says little. */
const MIN_MISSING = 5;

/**
 * How many standard deviations the share is below its history, newest first: below the median of all of it and of its
 * newest runs. The noise is binomial for the number of records; less where the history shows less (the same records
 * come back), more where it shows more (drift).
 */
export function dropScore(now: Share, history: readonly Share[]): { score: number; before: number; now: number } {
  const shares = history.map(shareOf);
  const all = median(shares);
  const recent = median(shares.slice(0, RECENT_RUNS));
  const share = shareOf(now);
  const before = Math.min(all, recent);
  const result = { before, now: share };
  if (now.total === 0 || share >= before) return { ...result, score: 0 };
  const missing = missingShare(history, before);
  const ofOne = missing * (1 - missing);
  const sampling = (run: Share, reference: readonly Share[]) => {
    const records = reference.reduce((sum, { total }) => sum + total, 0);
    return ofOne / Math.max(1, run.total) + (1.57 * ofOne) / Math.max(1, records);
  };
  const steps = predictions(history);
  const seen =
    spread(
      steps.map(({ error }) => error),
      0,
    ) ** 2;
  const binomial = steps.reduce((sum, { run, reference }) => sum + sampling(run, reference), 0) / steps.length;
  const isTold = missing * median(history.map(({ total }) => total)) >= MIN_MISSING;
  const ratio = isTold ? (PRIOR_RUNS + steps.length * Math.min(1, seen / binomial)) / (PRIOR_RUNS + steps.length) : 1;
  const drift = Math.max(0, seen - binomial) * (1 + 6 / steps.length) + DRIFT ** 2 * ofOne;
  const variance = ratio * sampling(now, history.slice(0, RECENT_RUNS)) + drift;
  const overdispersion = variance / (ofOne / now.total);
  return { ...result, score: deviance(now, 1 - missing) / Math.sqrt(overdispersion) };
}

/** How far each run of the history was off, had it been foretold by the runs before it. */
function predictions(history: readonly Share[]): { run: Share; reference: readonly Share[]; error: number }[] {
  return history.slice(0, -1).map((run, index) => {
    const reference = history.slice(index + 1, index + 1 + RECENT_RUNS);
    return { run, reference, error: shareOf(run) - median(reference.map(shareOf)) };
  });
}

/** The expected share without the value: never 0, since a history has an end. Runs that are far off do not count. */
function missingShare(history: readonly Share[], before: number): number {
  const kept = history
    .toSorted((a, b) => shareOf(b) - shareOf(a))
    .slice(0, history.length - Math.floor(history.length / 10));
  const records = kept.reduce((sum, { total }) => sum + total, 0);
  const missing = kept.reduce((sum, { total, count }) => sum + total - count, 0);
  return Math.min(0.999, Math.max(1 - before, (missing + 0.5) / (records + 1)));
}

/** Signed root of the binomial likelihood ratio: right for a few missing values, too, where a normal tail is not. */
function deviance({ count, total }: Share, expected: number): number {
  const part = (seen: number, mean: number) => (seen === 0 ? 0 : seen * Math.log(seen / mean));
  return Math.sqrt(Math.max(0, 2 * (part(count, total * expected) + part(total - count, total * (1 - expected)))));
}

/** How many standard deviations a value is away from its history; `noise`: of one run, at least. */
export function shiftScore(now: number, history: readonly number[], noise: number): number {
  const seen = spread(history);
  return Math.abs(now - median(history)) / Math.hypot(noise, seen * (1 + 3 / history.length));
}

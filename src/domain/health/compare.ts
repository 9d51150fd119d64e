import { type FieldProfile, fieldOf, type HealthProfile, lostOf, type ValueExample } from "./profile.ts";
import { dropScore, median, shiftScore } from "./robust.ts";
import type { ValueClass } from "./value-class.ts";

/** In the order in which they are reported: the first one that changed names the reason. */
export const HEALTH_METRICS = [
  "records",
  "records_per_page",
  "missing",
  "coverage",
  "class",
  "distinct",
  "range",
  "length",
  "digits",
] as const;
export type HealthMetric = (typeof HEALTH_METRICS)[number];

/** One per field: why its values are not what they were. */
export interface DegradedReason {
  /** null: about the run as a whole. */
  field: string | null;
  metric: HealthMetric;
  /** The median of the baseline, and the value of this run. */
  before: number;
  now: number;
  /** Of metric `class`: the class whose share this is. */
  class?: ValueClass;
  /** Other metrics of the field that changed as well. */
  also?: HealthMetric[];
  /** Values of this run. */
  examples?: string[];
  /** Pages of this run: without the field if it is empty more often, else those of the values. */
  pages?: string[];
}

/** So many earlier runs are compared with, … */
export const BASELINE_RUNS = 20;
/** … and below this number nothing is compared. */
export const MIN_BASELINE_RUNS = 3;
/** A field that none of so many records has is probably never filled. */
const MIN_NEVER_FILLED = 20;
/** Runs and histories with fewer records say too little. */
const MIN_RECORDS = 10;
const MIN_BASELINE_RECORDS = 30;

/** Standard deviations; chosen by simulation, see docs/data-quality.md. */
const SIGNIFICANT = 3.4;
/** Of medians, lengths and the like, whose noise is less known. */
const CLEARLY = 8;
/** A short history knows its own noise badly. */
const strictness = (runs: number) => 1 + 1 / runs;

/** Runs that read fewer pages that gave records before say too little about them. */
const MIN_KNOWN_PAGES = 10;

/** The least changes that are reported, however significant. */
const LEAST_DROP = { missing: 0.1, coverage: 0.05, class: 0.2, distinct: 0.3 } as const;
const LEAST_DIGITS = 0.3;
const LEAST_FACTOR = { records: 2, records_per_page: 2, length: 2, range: 3 } as const;

interface Change {
  metric: HealthMetric;
  before: number;
  now: number;
  class?: ValueClass;
}

/**
 * What got worse compared with earlier runs of the same rules, newest first. Empty: nothing, or too little is known. A
 * partial run has fewer records for reasons that its status tells.
 */
export function degradedReasons(
  now: HealthProfile,
  history: readonly HealthProfile[],
  { isPartial = false }: { isPartial?: boolean } = {},
): DegradedReason[] {
  const baseline = history.slice(0, BASELINE_RUNS);
  if (baseline.length < MIN_BASELINE_RUNS) return [];
  const ofRun = [...(isPartial ? [] : fewerRecords(now, baseline)), ...fewerPerPage(now, baseline)];
  const reasons = ofRun.length === 0 ? [] : [reasonOf(null, ofRun)];
  const records = baseline.reduce((sum, profile) => sum + profile.records, 0);
  if (records < MIN_BASELINE_RECORDS) return reasons;
  const names = new Set(baseline.flatMap(({ fields }) => Object.keys(fields)));
  for (const name of names) {
    const changes = [...lostPages(name, now, baseline), ...fieldChanges(name, now, baseline)];
    if (changes.length > 0) reasons.push(reasonOf(name, changes, examplesOf(now, name)));
  }
  return reasons;
}

/** Lost pages first: they are the clearest sign. */
function examplesOf(now: HealthProfile, name: string): ValueExample[] {
  const lost = lostOf(now, name)?.examples ?? [];
  return [...lost.map((url) => ({ url, value: null })), ...(fieldOf(now, name)?.examples ?? [])];
}

function reasonOf(
  field: string | null,
  changes: readonly Change[],
  examples: readonly ValueExample[] = [],
): DegradedReason {
  const [first, ...others] = changes.toSorted(
    (a, b) => HEALTH_METRICS.indexOf(a.metric) - HEALTH_METRICS.indexOf(b.metric),
  );
  const values = examples.map(({ value }) => value).filter((value) => value !== null);
  const isEmptier = first!.metric === "coverage" || first!.metric === "missing";
  const shown = examples.filter(({ value, url }) => url !== null && (value === null) === isEmptier);
  const pages = [...new Set(shown.map(({ url }) => url!))];
  return {
    field,
    ...first!,
    ...(others.length === 0 ? {} : { also: others.map(({ metric }) => metric) }),
    ...(values.length === 0 ? {} : { examples: values }),
    ...(pages.length === 0 ? {} : { pages }),
  };
}

function fewerRecords(now: HealthProfile, baseline: readonly HealthProfile[]): Change[] {
  const before = baseline.map(({ records }) => records);
  if (median(before) < MIN_RECORDS) return [];
  return fewer("records", now.records, before);
}

const perPage = ({ records, pages }: HealthProfile) => (pages === 0 ? 0 : records / pages);
const MIN_PAGES = 5;

function fewerPerPage(now: HealthProfile, baseline: readonly HealthProfile[]): Change[] {
  // Without records there are no pages with records either.
  if (now.pages < MIN_PAGES || median(baseline.map(({ pages }) => pages)) < MIN_PAGES) return [];
  return fewer("records_per_page", perPage(now), baseline.map(perPage));
}

function fewer(metric: "records" | "records_per_page", now: number, history: readonly number[]): Change[] {
  const before = median(history);
  const isLess = now * LEAST_FACTOR[metric] <= before;
  return isLess && isShifted(now, history, 0.08) ? [{ metric, before, now }] : [];
}

/** On a logarithmic scale: twice and half are the same distance. */
function isShifted(now: number, history: readonly number[], noise: number): boolean {
  const log = (value: number) => Math.log(value + 1e-3);
  return shiftScore(log(now), history.map(log), noise) >= CLEARLY * strictness(history.length);
}

function fieldChanges(name: string, now: HealthProfile, baseline: readonly HealthProfile[]): Change[] {
  if (now.records < MIN_RECORDS) return [];
  const field = fieldOf(now, name);
  const counted = (run: HealthProfile): Counted => ({ count: fieldOf(run, name)?.filled ?? 0, total: run.records });
  const coverage = drop("coverage", counted(now), baseline.map(counted));
  const before = baseline.map((run) => fieldOf(run, name)).filter((one) => one !== null && one.filled >= MIN_RECORDS);
  if (field === null || field.filled < MIN_RECORDS || before.length < MIN_BASELINE_RUNS) return coverage;
  const known = before as FieldProfile[];
  return [...coverage, ...otherClass(field, known), ...fewerDistinct(field, known), ...otherSizes(field, known)];
}

/** Pages that gave records before, and fail now for lack of the field. Runs that did not count them say nothing. */
function lostPages(name: string, now: HealthProfile, baseline: readonly HealthProfile[]): Change[] {
  const counted = (run: HealthProfile): Counted[] => {
    const field = lostOf(run, name);
    const pages = run.lost?.pages ?? 0;
    return field === null || pages < MIN_KNOWN_PAGES ? [] : [{ count: pages - field.pages, total: pages }];
  };
  const [current] = counted(now);
  if (current === undefined || current.count === current.total) return [];
  const [change] = drop("missing", current, baseline.flatMap(counted));
  if (change === undefined) return [];
  return [{ ...change, before: rounded(1 - change.before), now: rounded(1 - change.now) }];
}

interface Counted {
  count: number;
  total: number;
}

function drop(
  metric: "missing" | "coverage" | "class",
  now: Counted,
  history: readonly Counted[],
  about?: ValueClass,
): Change[] {
  const runs = history.filter(({ total }) => total > 0);
  if (runs.length < MIN_BASELINE_RUNS) return [];
  const { score, before, now: share } = dropScore(now, runs);
  if (before - share < LEAST_DROP[metric] || score < SIGNIFICANT * strictness(runs.length)) return [];
  return [{ metric, before: rounded(before), now: rounded(share), ...(about === undefined ? {} : { class: about }) }];
}

const rounded = (value: number) => Math.round(value * 1e4) / 1e4;

/** Prices that are texts now: the share of the class that most values had. */
function otherClass(now: FieldProfile, history: readonly FieldProfile[]): Change[] {
  const names = new Set(history.flatMap(({ classes }) => Object.keys(classes) as ValueClass[]));
  const shareOf = (field: FieldProfile, name: ValueClass) => field.classes[name] ?? 0;
  const shares = [...names].map((name) => ({ name, share: median(history.map((run) => shareOf(run, name))) }));
  const most = shares.toSorted((a, b) => b.share - a.share)[0];
  if (most === undefined) return [];
  const counted = (field: FieldProfile) => ({
    count: Math.round(shareOf(field, most.name) * field.filled),
    total: field.filled,
  });
  return drop("class", counted(now), history.map(counted), most.name);
}

/** The same value on every page. Depends on the number of values, so only runs of similar size are compared. */
function fewerDistinct(now: FieldProfile, history: readonly FieldProfile[]): Change[] {
  const similar = history.filter(({ filled }) => filled <= 2 * now.filled && now.filled <= 2 * filled);
  if (similar.length < MIN_BASELINE_RUNS) return [];
  const share = ({ distinct, filled }: FieldProfile) => distinct / filled;
  const before = median(similar.map(share));
  const isLess = before - share(now) >= LEAST_DROP.distinct;
  const score = shiftScore(share(now), similar.map(share), 0.02);
  if (!isLess || score < CLEARLY * strictness(similar.length)) return [];
  return [{ metric: "distinct", before: rounded(before), now: rounded(share(now)) }];
}

function otherSizes(now: FieldProfile, history: readonly FieldProfile[]): Change[] {
  const lengths = history.map(({ length }) => length.median);
  const changes: Change[] = [];
  // The error of a median of so many values.
  const error = (1.25 * now.length.spread) / Math.max(1, now.length.median) / Math.sqrt(now.filled);
  if (isFactor("length", now.length.median, lengths, 0.06 + error))
    changes.push({ metric: "length", before: median(lengths), now: now.length.median });
  const ranges = history.map(({ range }) => range).filter((range) => range !== null && range.count >= MIN_RECORDS);
  const medians = ranges.map((range) => range!.median);
  const isCounted = now.range !== null && now.range.count >= MIN_RECORDS && medians.length >= MIN_BASELINE_RUNS;
  if (isCounted && isFactor("range", now.range!.median, medians, 0.12 + 1.5 / Math.sqrt(now.range!.count)))
    changes.push({ metric: "range", before: median(medians), now: now.range!.median });
  const digits = history.map((run) => run.digits);
  const isOther = Math.abs(now.digits - median(digits)) >= LEAST_DIGITS;
  if (isOther && shiftScore(now.digits, digits, 0.02) >= CLEARLY * strictness(digits.length))
    changes.push({ metric: "digits", before: rounded(median(digits)), now: rounded(now.digits) });
  return changes;
}

function isFactor(metric: "length" | "range", now: number, history: readonly number[], noise: number): boolean {
  const before = median(history);
  // Not of amounts that may be negative: they have no factor.
  if (before <= 0 || now < 0) return false;
  const factor = now === 0 ? Number.POSITIVE_INFINITY : Math.max(now / before, before / now);
  return factor >= LEAST_FACTOR[metric] && isShifted(now, history, noise);
}

/** Fields that no record of a run with enough records has. A hint: on a first run nothing else can be said. */
export function neverFilled({ records, fields }: HealthProfile): string[] {
  if (records < MIN_NEVER_FILLED) return [];
  return Object.keys(fields).filter((name) => fields[name]!.filled === 0);
}

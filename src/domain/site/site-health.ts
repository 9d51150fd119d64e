/**
 * Recent health of a site: outcomes of its requests per minute, and their latency. Plain data in the site's row, so that
 * the next owner continues with it.
 */
import type { Failure } from "../run/failure.ts";

export interface SiteHealth {
  /** Oldest first; minutes in which nothing ended are left out. */
  slots: readonly HealthSlot[];
  lastSuccessAt: number | null;
}

interface HealthSlot {
  /** When the first outcome of its minute came. */
  since: number;
  good: number;
  failed: number;
  /** Blocked or rate limited. */
  blocked: number;
  /** Good answers by the time they took: how many fell into each step of the scale. */
  times: Readonly<Record<string, number>>;
}

export type SiteOutcome = "good" | "failed" | "blocked";

export interface HealthSummary {
  good: number;
  failed: number;
  blocked: number;
  /** Of all outcomes, those that were not good: 0 to 1; null without any. */
  errorRate: number | null;
  /** Null: no answer was measured, as in a browser. */
  p50Ms: number | null;
  p95Ms: number | null;
  /** Good pages a second in the last minute or two. */
  perSecond: number;
}

const SLOT_MS = 60_000;
const SLOTS = 10;

/** So much does a step of the scale differ from the next one: what is read from it is at most 5 % off. */
const STEP = 1.1;
/** Nothing that is waited for takes longer. */
const LONGEST_MS = 3_600_000;

export const NO_HEALTH: SiteHealth = { slots: [], lastSuccessAt: null };

/** What a failure says of the site. */
export function outcomeOf(failure: Failure | null): SiteOutcome {
  if (failure === null) return "good";
  return failure.code === "blocked" || failure.code === "rate_limited" ? "blocked" : "failed";
}

/** Counts what comes of the requests of one site. */
export class HealthMeter {
  #slots: OpenSlot[];
  #lastSuccessAt: number | null;

  constructor(before: SiteHealth | null = null) {
    this.#slots = (before ?? NO_HEALTH).slots.map(opened);
    this.#lastSuccessAt = before?.lastSuccessAt ?? null;
  }

  /** `ms` is how long a good answer took; null: not measured. */
  add(outcome: SiteOutcome, ms: number | null, now: number): void {
    const slot = this.#slot(now);
    slot[outcome] += 1;
    if (outcome !== "good") return;
    this.#lastSuccessAt = now;
    if (ms === null) return;
    const step = stepOf(ms);
    slot.times.set(step, (slot.times.get(step) ?? 0) + 1);
  }

  /** Good answers of this minute and the two before. */
  goodOfLate(now: number): number {
    let good = 0;
    for (const slot of this.#slots) {
      const age = minuteOf(now) - minuteOf(slot.since);
      if (age >= 0 && age <= 2) good += slot.good;
    }
    return good;
  }

  read(now: number): SiteHealth {
    const slots = this.#slots.filter((slot) => isRecent(slot, now));
    return {
      slots: slots.map((slot) => ({ ...slot, times: Object.fromEntries(slot.times) })),
      lastSuccessAt: this.#lastSuccessAt,
    };
  }

  #slot(now: number): OpenSlot {
    const last = this.#slots.at(-1);
    if (last !== undefined && minuteOf(last.since) === minuteOf(now)) return last;
    // Drops slots in the future, written before the clock was set back.
    this.#slots = this.#slots.filter((slot) => isRecent(slot, now));
    const slot: OpenSlot = { since: now, good: 0, failed: 0, blocked: 0, times: new Map() };
    this.#slots.push(slot);
    return slot;
  }
}

type OpenSlot = Omit<HealthSlot, "times"> & { times: Map<number, number> };

function opened(slot: HealthSlot): OpenSlot {
  return { ...slot, times: new Map(Object.entries(slot.times).map(([step, count]) => [Number(step), count])) };
}

const minuteOf = (time: number) => Math.floor(time / SLOT_MS);

function isRecent({ since }: Pick<HealthSlot, "since">, now: number): boolean {
  const age = minuteOf(now) - minuteOf(since);
  return age >= 0 && age < SLOTS;
}

/** Merges the counts of two owners or of several sites. */
export function mergeHealth(a: SiteHealth, b: SiteHealth): SiteHealth {
  const slots = new Map(a.slots.map((slot) => [minuteOf(slot.since), slot]));
  for (const slot of b.slots) {
    const minute = minuteOf(slot.since);
    const other = slots.get(minute);
    slots.set(minute, other === undefined ? slot : mergeSlots(other, slot));
  }
  const times = [a.lastSuccessAt, b.lastSuccessAt].filter((time) => time !== null);
  return {
    slots: [...slots.values()].toSorted((one, other) => one.since - other.since),
    lastSuccessAt: times.length === 0 ? null : Math.max(...times),
  };
}

function mergeSlots(a: HealthSlot, b: HealthSlot): HealthSlot {
  return {
    since: Math.min(a.since, b.since),
    good: a.good + b.good,
    failed: a.failed + b.failed,
    blocked: a.blocked + b.blocked,
    times: mergeTimes([a, b]),
  };
}

function mergeTimes(slots: readonly HealthSlot[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { times } of slots)
    for (const [step, count] of Object.entries(times)) sums[step] = (sums[step] ?? 0) + count;
  return sums;
}

/** Summary of the last ten minutes. */
export function summaryOf(health: SiteHealth | null, now: number): HealthSummary {
  const slots = (health ?? NO_HEALTH).slots.filter((slot) => isRecent(slot, now));
  const sum = (what: SiteOutcome) => slots.reduce((total, slot) => total + slot[what], 0);
  const [good, failed, blocked] = [sum("good"), sum("failed"), sum("blocked")];
  const all = good + failed + blocked;
  const times = mergeTimes(slots);
  return {
    good,
    failed,
    blocked,
    errorRate: all === 0 ? null : (failed + blocked) / all,
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    perSecond: rateOf(slots, now),
  };
}

/** Includes the previous minute, because the current one may have just begun. */
function rateOf(slots: readonly HealthSlot[], now: number): number {
  const recent = slots.filter(({ since }) => minuteOf(now) - minuteOf(since) <= 1);
  const [first] = recent;
  if (first === undefined) return 0;
  const good = recent.reduce((total, slot) => total + slot.good, 0);
  return (good * 1000) / Math.max(1000, now - first.since);
}

function percentile(times: Readonly<Record<string, number>>, part: number): number | null {
  const steps = Object.entries(times)
    .map(([step, count]) => ({ step: Number(step), count }))
    .toSorted((a, b) => a.step - b.step);
  const rank = part * steps.reduce((total, { count }) => total + count, 0);
  let seen = 0;
  for (const { step, count } of steps) {
    seen += count;
    if (seen >= rank) return middleOf(step);
  }
  return null;
}

/** Up to a millisecond is step 0; each step is a tenth longer than the one before. */
function stepOf(ms: number): number {
  return ms > 1 ? Math.ceil(Math.log(Math.min(ms, LONGEST_MS)) / Math.log(STEP)) : 0;
}

function middleOf(step: number): number {
  return step === 0 ? 1 : Math.round((STEP ** step * 2) / (STEP + 1));
}

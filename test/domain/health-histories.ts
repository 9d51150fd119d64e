/** Simulated histories of jobs: a catalogue whose records come back from run to run, and rules that break. */
import { type Random, seededRandom } from "../../src/base/random.ts";
import { degradedReasons } from "../../src/domain/health/compare.ts";
import type { FieldProfile, HealthProfile, LostPages } from "../../src/domain/health/profile.ts";

const between = (random: Random, least: number, most: number) => least + random.next() * (most - least);
const logBetween = (random: Random, least: number, most: number) =>
  Math.exp(between(random, Math.log(least), Math.log(most)));

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

/** Exact for few, a rounded normal for many. */
export function binomial(random: Random, total: number, share: number): number {
  if (total * Math.min(share, 1 - share) > 60) {
    const drawn = Math.round(total * share + normal(random) * Math.sqrt(total * share * (1 - share)));
    return Math.min(total, Math.max(0, drawn));
  }
  let count = 0;
  for (let index = 0; index < total; index += 1) if (random.next() < share) count += 1;
  return count;
}

interface SimulatedField {
  name: string;
  /** The share among new records, which drifts from day to day. */
  share: number;
  drift: number;
  filled: number;
  price: number;
}

/** A job: how many records it has, how many of them are new in each run, and its fields. */
export class SimulatedJob {
  readonly #random: Random;
  readonly #own: Random;
  #records: number;
  /** 1: every run sees other records. */
  readonly #churn: number;
  readonly fields: SimulatedField[];
  /** Of the pages that gave records, so many lack the required field in the next run: sold-out items and the like. */
  readonly #selling: number;
  readonly #limit: { chance: number; onlyChanged: boolean };

  constructor(random: Random, size: { least: number; most: number }) {
    this.#random = random;
    this.#records = Math.round(logBetween(random, size.least, size.most));
    this.#churn = random.next() < 0.1 ? 1 : between(random, 0.01, 0.3);
    // Drawn apart: the other figures stay those of the same seed.
    const own = seededRandom(this.#records + Math.round(1e6 * this.#churn));
    this.#selling = own.next() < 0.3 ? 0 : logBetween(own, 0.0005, 0.03);
    this.#limit = { chance: own.next() < 0.3 ? 0.3 : 0, onlyChanged: own.next() < 0.3 };
    this.#own = own;
    this.fields = Array.from({ length: 3 + Math.floor(random.next() * 8) }, (_, index) => {
      const share = random.next() < 0.4 ? between(random, 0.98, 1) : between(random, 0.3, 1);
      const drift = random.next() < 0.5 ? 0 : between(random, 0, 0.01);
      return {
        name: `field${index}`,
        share,
        drift,
        filled: binomial(random, this.#records, share),
        price: logBetween(random, 1, 1000),
      };
    });
  }

  get records(): number {
    return this.#records;
  }

  /** The next run. `broken`: of this field, a part of the values that it would have is lost. */
  run(broken?: { field: SimulatedField; drop: number; lost?: number }): HealthProfile {
    const random = this.#random;
    const before = this.#records;
    // Some records vanish, others are new: the number drifts by a few percent.
    const kept = binomial(random, before, 1 - this.#churn);
    this.#records = Math.max(20, Math.round(before * Math.exp(0.02 * normal(random))));
    const added = Math.max(0, this.#records - kept);
    const fields: Record<string, FieldProfile> = {};
    for (const field of this.fields) {
      const span = Math.min(field.share, 1 - field.share);
      field.share = Math.min(1, Math.max(0.02, field.share + field.drift * Math.sqrt(4 * span) * normal(random)));
      const gone = Math.min(field.filled, binomial(random, before - kept, field.filled / before));
      const filled = Math.min(kept, field.filled - gone) + binomial(random, added, field.share);
      field.filled = Math.min(this.#records, filled);
      const lost = broken?.field === field ? broken.drop * this.#records : 0;
      fields[field.name] = this.#profile(field, Math.max(0, Math.round(field.filled - lost)));
    }
    const pages = Math.ceil(this.#records / 10);
    const profile = { version: 1, records: this.#records, pages, fields, fields_left_out: 0 } as const;
    return { ...profile, lost: this.#lost(pages, broken?.lost ?? 0) };
  }

  /**
   * Runs that a limit cuts off read a part of the known pages; with `only_changed` most of them give no record. Lists
   * whose pages fail when one of their items is sold out fail in clusters.
   */
  #lost(pages: number, broken: number): LostPages {
    const own = this.#own;
    const reached = own.next() < this.#limit.chance ? Math.ceil(pages * between(own, 0.05, 1)) : pages;
    const known = Math.max(1, this.#limit.onlyChanged ? reached * 3 : reached);
    const share = Math.min(1, this.#selling * Math.exp(0.3 * normal(own)));
    const failed = Math.max(binomial(own, known, share), Math.round(known * broken));
    return { pages: known, fields: failed === 0 ? {} : { field0: { pages: failed, examples: [] } } };
  }

  /** Values of a quiet field: some noise in everything. */
  #profile({ price }: SimulatedField, filled: number): FieldProfile {
    const random = this.#random;
    const text = filled === 0 ? 0 : binomial(random, filled, 0.03) / filled;
    return {
      filled,
      distinct: Math.round(filled * between(random, 0.88, 0.92)),
      exact: true,
      types: { string: 1 },
      classes: { price: 1 - text, text },
      length: { median: Math.round(between(random, 5, 7)), spread: 2 },
      digits: between(random, 0.55, 0.6),
      range: {
        count: filled,
        min: 1,
        median: price * Math.exp((0.9 * normal(random)) / Math.sqrt(Math.max(1, filled))),
        max: price * 9,
      },
      examples: [],
    };
  }
}

/** The runs of jobs that nothing happens to: how many of them are reported all the same. */
export function quiet(seed: number, jobs: number, runsEach = 40): { runs: number; alarms: number } {
  const random = seededRandom(seed);
  const found = { runs: 0, alarms: 0 };
  for (let index = 0; index < jobs; index += 1) {
    const job = new SimulatedJob(random, { least: 20, most: 5000 });
    const history: HealthProfile[] = [];
    for (let run = 0; run < runsEach; run += 1) {
      const now = job.run();
      const reasons = degradedReasons(now, history);
      found.runs += 1;
      if (reasons.length > 0) found.alarms += 1;
      if (reasons.length === 0) history.unshift(now);
      history.length = Math.min(history.length, 20);
    }
  }
  return found;
}

/** Histories that end with a run in which a field loses at least ten points: in how many this run is reported. */
export function drops(
  seed: number,
  histories: number,
  { least, most: largest = 5000, exactly }: { least: number; most?: number; exactly: boolean },
) {
  const random = seededRandom(seed);
  const found = { histories: 0, reported: 0 };
  while (found.histories < histories) {
    const job = new SimulatedJob(random, { least, most: largest });
    const runs = 3 + Math.floor(random.next() * 25);
    const history: HealthProfile[] = [];
    for (let run = 0; run < runs; run += 1) {
      const now = job.run();
      history.unshift(now);
      history.length = Math.min(history.length, 20);
    }
    const field = job.fields[Math.floor(random.next() * job.fields.length)]!;
    if (history.length < 3) continue;
    const most = Math.max(0.1, field.filled / job.records);
    const drop = exactly ? 0.1 : between(random, 0.1, most);
    found.histories += 1;
    if (degradedReasons(job.run({ field, drop }), history).some((reason) => reason.field === field.name))
      found.reported += 1;
  }
  return found;
}

/** Histories that end with a run whose rule of a required field breaks on at least half of the pages. */
export function brokenPages(seed: number, histories: number): { histories: number; reported: number } {
  const random = seededRandom(seed);
  const found = { histories, reported: 0 };
  for (let index = 0; index < histories; index += 1) {
    const job = new SimulatedJob(random, { least: 500, most: 5000 });
    const history: HealthProfile[] = [];
    for (let run = 0; run < 4 + Math.floor(random.next() * 20); run += 1) history.unshift(job.run());
    const lost = between(random, 0.5, 1);
    const reasons = degradedReasons(job.run({ field: job.fields[0]!, drop: 0, lost }), history);
    if (reasons.some(({ field, metric }) => field === "field0" && metric === "missing")) found.reported += 1;
  }
  return found;
}

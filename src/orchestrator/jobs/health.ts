/** Health of the records of a job's runs, field by field. */
import { isoOf, isoOrNull } from "../../base/iso.ts";
import type { RepairState } from "../../domain/health/repair.ts";
import { BASELINE_RUNS, type DegradedReason, MIN_BASELINE_RUNS, neverFilled } from "../../domain/health/compare.ts";
import { coverageOf, fieldOf, type HealthProfile, type ValueExample } from "../../domain/health/profile.ts";
import { median } from "../../domain/health/robust.ts";
import { DEFAULT_ON_DEGRADED, type OnDegraded } from "../../domain/health/on-degraded.ts";
import type { ValueClass } from "../../domain/health/value-class.ts";
import type { HealthRecord } from "../../store/ports/health-port.ts";
import type { JobDeps } from "./deps.ts";
import { requireJob } from "./manage.ts";

/** Figures of a field in one run; without values all but the coverage are null. */
interface FieldFigures {
  coverage: number;
  distinct: number | null;
  /** The class that most values have, and their share. */
  class: ValueClass | null;
  class_share: number | null;
  length: number | null;
  digits: number | null;
  min: number | null;
  median: number | null;
  max: number | null;
}

interface JobHealthView {
  job_id: string;
  on_degraded: OnDegraded;
  /** How many runs the next one is compared with; nothing is compared below `needed`. */
  baseline: { runs: number; needed: number };
  /** State of the newest repair proposal; null: there is none. */
  repair: RepairState | null;
  /** Newest first. */
  runs: HealthRunView[];
  fields: HealthFieldView[];
}

interface HealthRunView {
  run_id: string;
  ended_at: string;
  records: number;
  pages: number;
  records_per_page: number | null;
  /** How many earlier runs it was compared with. */
  compared_with: number;
  degraded: DegradedReason[] | null;
  in_baseline: boolean;
  accepted_at: string | null;
}

interface HealthFieldView {
  name: string;
  /** `never_filled`: no record of the newest run has it, and nothing is known to compare with. */
  hint: "never_filled" | null;
  /** Medians of the runs that the next one is compared with; null: too few. */
  baseline: { coverage: number; distinct: number | null; length: number | null; median: number | null } | null;
  /** By run, in the order of `runs`. */
  values: (FieldFigures & {
    run_id: string;
    verdict: "good" | "degraded" | "unknown";
    /** Only of a field that was asked for. */
    examples: ValueExample[];
  })[];
}

/** Degraded runs may stand between those of the baseline. */
const READ_RUNS = 100;

interface HealthRequest {
  /** How many runs, newest first. */
  runs: number;
  /** Only this field, with examples. */
  field?: string;
}

export async function showJobHealth(
  deps: JobDeps,
  jobId: string,
  { runs: limit, field }: HealthRequest,
): Promise<JobHealthView> {
  const job = await requireJob(deps, jobId);
  const records = await deps.store.runHealth(jobId, { limit: READ_RUNS });
  const repair = await deps.store.repair(jobId);
  const [newest] = records;
  const baseline = records
    .filter(({ isBaseline, rules }) => isBaseline && rules === newest?.rules)
    .slice(0, BASELINE_RUNS);
  const shown = records.slice(0, limit);
  const names = new Set(shown.flatMap(({ profile }) => Object.keys(profile.fields)));
  return {
    job_id: jobId,
    on_degraded: job.onDegraded ?? DEFAULT_ON_DEGRADED,
    baseline: { runs: baseline.length, needed: MIN_BASELINE_RUNS },
    repair: repair?.state ?? null,
    runs: shown.map(toRunView),
    fields: [...names]
      .filter((name) => field === undefined || name === field)
      .map((name) => toFieldView(name, shown, baseline, field !== undefined)),
  };
}

/** The newest runs are degraded, and that is right: later ones are compared with them. */
export async function acceptJobHealth(deps: JobDeps, jobId: string, request: HealthRequest): Promise<JobHealthView> {
  await deps.store.acceptHealth(jobId, deps.clock.now());
  return showJobHealth(deps, jobId, request);
}

const rounded = (value: number) => Math.round(value * 1e4) / 1e4;

function toRunView({ runId, endedAt, profile, ...health }: HealthRecord): HealthRunView {
  const { records, pages } = profile;
  return {
    run_id: runId,
    ended_at: isoOf(endedAt),
    records,
    pages,
    records_per_page: pages === 0 ? null : rounded(records / pages),
    compared_with: health.comparedWith,
    degraded: health.reasons,
    in_baseline: health.isBaseline,
    accepted_at: isoOrNull(health.acceptedAt),
  };
}

function toFieldView(
  name: string,
  shown: readonly HealthRecord[],
  baseline: readonly HealthRecord[],
  withExamples: boolean,
): HealthFieldView {
  const [newest] = shown;
  const isUnknown = baseline.every(({ profile }) => (fieldOf(profile, name)?.filled ?? 0) === 0);
  const hint = newest !== undefined && isUnknown && neverFilled(newest.profile).includes(name) ? "never_filled" : null;
  return {
    name,
    hint,
    baseline: baseline.length < MIN_BASELINE_RUNS ? null : mediansOf(name, baseline),
    values: shown.map(({ runId, profile, reasons, comparedWith }) => {
      const isDegraded = reasons?.some(({ field }) => field === name) === true;
      const otherwise = comparedWith < MIN_BASELINE_RUNS ? "unknown" : "good";
      return {
        run_id: runId,
        verdict: isDegraded ? "degraded" : otherwise,
        ...figuresOf(name, profile),
        examples: withExamples ? (fieldOf(profile, name)?.examples ?? []) : [],
      };
    }),
  };
}

function mediansOf(name: string, baseline: readonly HealthRecord[]): HealthFieldView["baseline"] {
  const figures = baseline.map(({ profile }) => figuresOf(name, profile));
  const middle = (values: readonly (number | null)[]) => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? null : rounded(median(known));
  };
  return {
    coverage: rounded(median(figures.map(({ coverage }) => coverage))),
    distinct: middle(figures.map(({ distinct }) => distinct)),
    length: middle(figures.map(({ length }) => length)),
    median: middle(figures.map((one) => one.median)),
  };
}

function figuresOf(name: string, profile: HealthProfile): FieldFigures {
  const field = fieldOf(profile, name);
  const coverage = rounded(coverageOf(profile, name));
  if (field === null || field.filled === 0) {
    const none = { distinct: null, class: null, class_share: null, length: null, digits: null };
    return { coverage, ...none, min: null, median: null, max: null };
  }
  const classes = Object.entries(field.classes) as [ValueClass, number][];
  const [most] = classes.toSorted(([, a], [, b]) => b - a);
  return {
    coverage,
    distinct: rounded(field.distinct / field.filled),
    class: most?.[0] ?? null,
    class_share: most === undefined ? null : rounded(most[1]),
    length: field.length.median,
    digits: rounded(field.digits),
    min: field.range?.min ?? null,
    median: field.range?.median ?? null,
    max: field.range?.max ?? null,
  };
}

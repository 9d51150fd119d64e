import type { JobHealth } from "../../api/types.ts";

type Run = JobHealth["runs"][number];
type Field = JobHealth["fields"][number];
export type FieldValue = Field["values"][number];

/** One square of the heat map. */
export interface HeatCell {
  runId: string;
  coverage: number;
  verdict: FieldValue["verdict"];
}

/** Runs from the oldest to the newest, as time is read. */
export function columnsOf({ runs }: JobHealth): Run[] {
  return runs.toReversed();
}

export function cellsOf({ values }: Field): HeatCell[] {
  return values.map(({ run_id: runId, coverage, verdict }) => ({ runId, coverage, verdict })).toReversed();
}

/** What is looked at first: a field of which the newest run is worse, else the first. */
export function firstField({ fields }: JobHealth): string | null {
  const worse = fields.find(({ values }) => values[0]?.verdict === "degraded");
  return (worse ?? fields[0])?.name ?? null;
}

/** The newest run that the field is degraded in; else the newest. */
export function firstRun({ runs, fields }: JobHealth, field: string | null): string | null {
  const values = fields.find(({ name }) => name === field)?.values ?? [];
  return values.find(({ verdict }) => verdict === "degraded")?.run_id ?? runs[0]?.run_id ?? null;
}

/** The run to compare `runId` with: the newest good one before it, else any other good one. */
export function goodRunFor({ runs, fields }: JobHealth, field: string, runId: string): string | null {
  const values = fields.find(({ name }) => name === field)?.values ?? [];
  const isGood = (run: Run) => {
    const value = values.find(({ run_id }) => run_id === run.run_id);
    return run.run_id !== runId && run.degraded === null && (value?.coverage ?? 0) > 0;
  };
  const at = runs.findIndex(({ run_id }) => run_id === runId);
  return (runs.slice(at + 1).find(isGood) ?? runs.find(isGood))?.run_id ?? null;
}

/** What can be accepted: the newest runs, as far as they are degraded. */
export function acceptable({ runs }: JobHealth): number {
  const good = runs.findIndex(({ degraded, accepted_at }) => degraded === null || accepted_at !== null);
  return good === -1 ? runs.length : good;
}

interface MetricRow {
  name: string;
  before: string;
  now: string;
}

const number = (value: number | null) => (value === null ? "–" : String(Math.round(value * 100) / 100));

/** The figures of a field in two runs. */
export function metricRows(
  before: FieldValue | undefined,
  now: FieldValue | undefined,
  percent: (part: number) => string,
): MetricRow[] {
  const share = (value: number | null | undefined) => (value === null || value === undefined ? "–" : percent(value));
  const looks = (value: FieldValue | undefined) =>
    value?.class === null || value === undefined ? "–" : `${value.class} (${share(value.class_share)})`;
  const range = (value: FieldValue | undefined) =>
    value === undefined || value.median === null
      ? "–"
      : `${number(value.median)} (${number(value.min)} to ${number(value.max)})`;
  const rows: MetricRow[] = [
    { name: "Filled in", before: share(before?.coverage), now: share(now?.coverage) },
    { name: "Distinct values", before: share(before?.distinct), now: share(now?.distinct) },
    { name: "Looks like", before: looks(before), now: looks(now) },
    { name: "Median length", before: number(before?.length ?? null), now: number(now?.length ?? null) },
    { name: "Median value", before: range(before), now: range(now) },
  ];
  return rows.filter((row) => row.before !== "–" || row.now !== "–");
}

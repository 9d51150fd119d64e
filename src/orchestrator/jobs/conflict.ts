/** Rejects a change of a job that was modified since it was read, and returns the current values. */
import { isDeepStrictEqual } from "node:util";
import { type FieldError, OrbError } from "../../base/errors.ts";
import { isoOf } from "../../base/iso.ts";
import { withoutSecrets } from "../../domain/text/sealed-text.ts";
import type { JobRecord } from "../../store/records/job-records.ts";
import { jobVersion } from "../../store/versions.ts";
import type { JobInput } from "./input.ts";

/** Not shown, or not comparable as stored. */
const NOT_SHOWN: ReadonlySet<string> = new Set(["headers", "cookies", "proxy", "kind", "version"]);
const LONGEST = 200;

/** `present` is the job as input. */
export function refuseStaleJob(job: JobRecord, present: JobInput, change: JobInput, version: string | undefined): void {
  const now = jobVersion(job);
  if (version === undefined || version === now) return;
  const at = isoOf(job.updatedAt);
  const fields = differences(withoutSecrets(present), change);
  const what =
    fields.length === 0 ? "" : `; the job now has other values in ${fields.map(({ path }) => path).join(", ")}`;
  throw new OrbError("version_conflict", `the job was changed at ${at}, after you read it${what}`, {
    fields: [...fields, { path: "version", message: `is ${now} now` }],
  });
}

function differences(present: JobInput, { crawl, workflow, ...change }: JobInput): FieldError[] {
  return [
    ...inPart(present as Values, change as Values, ""),
    ...inPart((present.crawl ?? {}) as Values, (crawl ?? {}) as Values, "crawl."),
    ...inPart((present.workflow ?? {}) as Values, (workflow ?? {}) as Values, "workflow."),
  ];
}

type Values = Readonly<Record<string, unknown>>;

function inPart(present: Values, change: Values, under: string): FieldError[] {
  return Object.entries(change)
    .filter(([key, value]) => !NOT_SHOWN.has(key) && value !== undefined && !isSame(present[key], value))
    .map(([key]) => ({ path: `${under}${key}`, message: `is now ${shown(present[key])}` }));
}

/** Missing values count as their defaults. */
function isSame(present: unknown, requested: unknown): boolean {
  return isDeepStrictEqual(plain(present), plain(requested));
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

function shown(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

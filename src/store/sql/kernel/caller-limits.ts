/** The limits of the caller's key, as SQL: what is outside of them does not exist for it. */
import { callersLimits } from "../../../domain/access/caller.ts";
import { siteOf } from "../../../domain/text/url.ts";
import { OrbError } from "../../../base/errors.ts";
import { type Context, rows } from "./context.ts";

interface Condition {
  text: string;
  values: string[];
}

const EVERYTHING: Condition = { text: "", values: [] };
const IN_LIST = "IN (SELECT value FROM json_each(?))";
const TAGGED = `EXISTS (SELECT 1 FROM json_each(j.tags) AS tag WHERE tag.value ${IN_LIST})`;

/** ` AND …` for a statement on `jobs`; empty without limits. */
export function ofVisibleJobs(): Condition {
  const limits = callersLimits();
  if (limits === null) return EVERYTHING;
  const found: Condition = { text: "", values: [] };
  if (limits.jobs !== null) add(found, `jobs.id ${IN_LIST}`, limits.jobs);
  if (limits.sites !== null) add(found, `jobs.site ${IN_LIST}`, limits.sites);
  if (limits.tags !== null)
    add(found, `jobs.n IN (SELECT j.n FROM jobs j WHERE j.n = jobs.n AND ${TAGGED})`, limits.tags);
  return found;
}

/** ` AND …` for a statement on `runs`, or on its alias. A run that a workflow started is visible if the workflow is. */
export function ofVisibleRuns(table = "runs"): Condition {
  const limits = callersLimits();
  if (limits === null) return EVERYTHING;
  const found: Condition = { text: "", values: [] };
  if (limits.jobs !== null) add(found, `o.job ${IN_LIST}`, limits.jobs);
  if (limits.sites !== null) add(found, `o.site ${IN_LIST}`, limits.sites);
  if (limits.tags !== null) add(found, `o.job IN (SELECT j.id FROM jobs j WHERE ${TAGGED})`, limits.tags);
  const text = ` AND EXISTS (SELECT 1 FROM runs o WHERE o.n = coalesce(${table}.parent_run, ${table}.n)${found.text})`;
  return { text, values: found.values };
}

function add(condition: Condition, text: string, values: readonly string[]): void {
  condition.text += ` AND ${text}`;
  condition.values.push(JSON.stringify(values));
}

/** Within the transaction that wrote the job: it must not leave the limits, with none of its start URLs. */
export function requireVisibleJob({ connection }: Context, n: number, startUrls: readonly string[]): void {
  const { text, values } = ofVisibleJobs();
  if (text === "") return;
  const allowed = callersLimits()?.sites ?? null;
  const isOutside = allowed !== null && startUrls.some((url) => !allowed.includes(siteOf(url)));
  if (isOutside || connection.sql(`SELECT 1 FROM jobs WHERE n = ?${text}`).get(n, ...values) === undefined)
    throw outside("job");
}

/** As `requireVisibleJob`, for a new run; `sites` are those of its first pages. */
export function requireVisibleRun({ connection }: Context, id: string, sites: readonly (string | null)[]): void {
  const { text, values } = ofVisibleRuns();
  if (text === "") return;
  const allowed = callersLimits()?.sites ?? null;
  const isOutside = allowed !== null && sites.some((site) => site === null || !allowed.includes(site));
  if (isOutside || connection.sql(`SELECT 1 FROM runs WHERE id = ?${text}`).get(id, ...values) === undefined)
    throw outside("run");
}

/** Throws for a job or run that exists, but not for the caller. */
export function requireVisibleObject({ connection }: Context, id: string): void {
  const [jobs, runs] = [ofVisibleJobs(), ofVisibleRuns()];
  if (runs.text === "") return;
  const isVisible =
    connection.sql(`SELECT 1 FROM jobs WHERE id = ?${jobs.text}`).get(id, ...jobs.values) !== undefined ||
    connection.sql(`SELECT 1 FROM runs WHERE id = ?${runs.text}`).get(id, ...runs.values) !== undefined;
  if (isVisible) return;
  throw new OrbError("outside_limits", "what this call created is outside of the limits of this key, or was deleted", {
    hint: "Use a new Idempotency-Key to create another.",
  });
}

/** Runs of a job that the caller may not see, such as those from before the job changed its site. */
export function hasHiddenRuns({ connection }: Context, jobId: string): boolean {
  const { text, values } = ofVisibleRuns();
  if (text === "") return false;
  const visible = text.replace(/^ AND /, "");
  const hidden = `SELECT 1 FROM runs WHERE job = ? AND removing_at IS NULL AND NOT (${visible}) LIMIT 1`;
  return connection.sql(hidden).get(jobId, ...values) !== undefined;
}

/** Those of the runs that the caller may not see; without limits none. */
export function hiddenRunsOf({ connection }: Context, ids: readonly string[]): ReadonlySet<string> {
  const { text, values } = ofVisibleRuns();
  if (text === "" || ids.length === 0) return new Set();
  const list = connection
    .sql(
      `SELECT given.value AS id FROM json_each(?) given
       WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = given.value AND runs.removing_at IS NULL${text})`,
    )
    .all(JSON.stringify(ids), ...values);
  return new Set(rows<{ id: string }>(list).map(({ id }) => id));
}

function outside(what: string): OrbError {
  return new OrbError(
    "outside_limits",
    `this key may not make or change such a ${what}: it is limited to other jobs, sites or tags`,
  );
}

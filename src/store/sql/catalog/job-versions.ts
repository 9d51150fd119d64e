/** Versions of jobs: what each change made of them. Written in the transaction of the change. */
import { type Actor, currentCaller } from "../../../domain/access/caller.ts";
import type { OnDegraded } from "../../../domain/health/on-degraded.ts";
import { rulesOfJob } from "../../../domain/health/run-records.ts";
import { type JobAuthor, KEPT_VERSIONS } from "../../../domain/run/job-author.ts";
import type { JobChangeSource, JobDefinition, JobVersionInfo, JobVersionRecord } from "../../records/job-records.ts";
import { type Context, parseJson, rows, toJson } from "../kernel/context.ts";

/** The columns that a job and each of its versions have. */
export interface DefinitionRow {
  name: string | null;
  kind: string;
  url: string;
  site: string;
  tags: string;
  recipe: string;
  keep_runs: number | null;
  keep_days: number | null;
  on_degraded: OnDegraded | null;
  fixtures: number | null;
  auto_repair: number;
}

interface VersionRow extends DefinitionRow {
  version: number;
  made_at: number;
  author: JobAuthor;
  made_by: string | null;
  restored: number | null;
}

const DEFINITION = "name, kind, url, site, tags, recipe, keep_runs, keep_days, on_degraded, fixtures, auto_repair";

const isSame = DEFINITION.split(", ")
  .map((column) => `v.${column} IS NOT DISTINCT FROM j.${column}`)
  .join(" AND ");

/** Writes the job as it is now as its newest version, unless that is what its newest version says. */
export function keepVersion({ connection }: Context, job: number, source: JobChangeSource | undefined, now: number) {
  const { author, restored = null } = source ?? { author: "api" };
  const newest = "(SELECT coalesce(max(version), 0) FROM job_versions WHERE job = ?1)";
  const written = connection
    .sql(
      `INSERT INTO job_versions (job, version, made_at, author, made_by, restored, ${DEFINITION})
       SELECT j.n, ${newest} + 1, ?2, ?3, ?4, ?5, ${DEFINITION} FROM jobs j WHERE j.n = ?1
         AND NOT EXISTS (SELECT 1 FROM job_versions v WHERE v.job = ?1 AND v.version = ${newest} AND ${isSame})`,
    )
    .run(job, now, author, toJson(currentCaller()?.actor), restored);
  if (Number(written.changes) > 0)
    connection.sql(`DELETE FROM job_versions WHERE job = ?1 AND version <= ${newest} - ${KEPT_VERSIONS}`).run(job);
}

/** The number of the newest version, within the caller's transaction; 0: none. */
export function newestVersion({ connection }: Pick<Context, "connection">, job: number): number {
  const row = connection.sql("SELECT max(version) AS version FROM job_versions WHERE job = ?").get(job);
  return Number(row?.["version"] ?? 0);
}

const INFO = "v.version, v.made_at, v.author, v.made_by, v.restored";

const toInfo = ({ version, made_at, author, made_by, restored }: VersionRow): JobVersionInfo => ({
  version,
  madeAt: made_at,
  author,
  madeBy: parseJson<Actor | null>(made_by, null),
  restored,
});

export function readJobVersions(
  { connection }: Context,
  id: string,
  { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number; limit: number },
): JobVersionInfo[] {
  const list = connection
    .sql(
      `SELECT ${INFO} FROM jobs j JOIN job_versions v ON v.job = j.n WHERE j.id = ? AND v.version < ?
       ORDER BY v.version DESC LIMIT ?`,
    )
    .all(id, before, limit);
  return rows<VersionRow>(list).map(toInfo);
}

export function readJobVersion({ connection }: Context, id: string, version: number): JobVersionRecord | null {
  const row = connection
    .sql("SELECT v.* FROM jobs j JOIN job_versions v ON v.job = j.n WHERE j.id = ? AND v.version = ?")
    .get(id, version) as VersionRow | undefined;
  if (row === undefined) return null;
  return { ...toInfo(row), definition: definitionOf(row) };
}

export function definitionOf(row: DefinitionRow): JobDefinition {
  return {
    name: row.name,
    kind: row.kind,
    url: row.url,
    site: row.site,
    tags: JSON.parse(row.tags) as string[],
    recipe: JSON.parse(row.recipe) as unknown,
    keepRuns: row.keep_runs,
    keepDays: row.keep_days,
    onDegraded: row.on_degraded,
    fixtures: row.fixtures,
    autoRepair: row.auto_repair === 1,
  };
}

/**
 * Restoring rules from before a repair, or repaired ones: the good runs of both stay the baseline, since a repair gives
 * the same values. Within the caller's transaction, after the restored version is written.
 */
export function keepBaseline({ connection }: Context, job: { n: number; id: string }): void {
  const repaired = rows<{ version: number }>(
    connection.sql("SELECT version FROM job_versions WHERE job = ? AND author = 'repair' ORDER BY version").all(job.n),
  );
  if (repaired.length === 0) return;
  const labels = new Map<number, string | null>();
  // One by one: a recipe may be large.
  const labelOf = (version: number): string | null => {
    if (!labels.has(version)) labels.set(version, rulesOfVersion({ connection }, job.n, version));
    return labels.get(version) ?? null;
  };
  const newest = labelOf(newestVersion({ connection }, job.n));
  if (newest === null) return;
  const repairs = repaired.flatMap(({ version }) => {
    const [before, after] = [labelOf(version - 1), labelOf(version)];
    return before !== null && after !== null ? [[before, after] as const] : [];
  });
  for (const other of connectedBy(repairs, newest))
    connection
      .sql("UPDATE run_health SET rules = ? WHERE job = ? AND rules = ? AND baseline = 1")
      .run(newest, job.id, other);
}

/** What runs of this version are compared by; null: it is not kept any more, or has no rules. */
function rulesOfVersion({ connection }: Pick<Context, "connection">, job: number, version: number): string | null {
  const row = connection
    .sql("SELECT kind, url, recipe FROM job_versions WHERE job = ? AND version = ?")
    .get(job, version) as Pick<VersionRow, "kind" | "url" | "recipe"> | undefined;
  if (row === undefined) return null;
  const { kind, url, recipe } = row;
  return rulesOfJob({ kind, url, recipe: JSON.parse(recipe) as unknown });
}

/** All labels that repairs lead to from this one, in either direction, without itself. */
function connectedBy(pairs: readonly (readonly [string, string])[], start: string): string[] {
  const found = new Set([start]);
  for (const label of found)
    for (const [before, after] of pairs) {
      if (before === label) found.add(after);
      if (after === label) found.add(before);
    }
  return [...found].filter((label) => label !== start);
}

import type { CrawlRecipe } from "../../../domain/crawl/crawl-options.ts";
import { setImmediate } from "node:timers/promises";
import { OrbError } from "../../../base/errors.ts";
import { TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type {
  JobChange,
  JobChangeSource,
  JobFilter,
  JobRecord,
  Created,
  NewJob,
  IdempotencyKey,
} from "../../records/job-records.ts";
import { logChange } from "../kernel/audit-entry.ts";
import { hasHiddenRuns, ofVisibleJobs, requireVisibleJob } from "../kernel/caller-limits.ts";
import { type Context, nextRow, positionOf, rows } from "../kernel/context.ts";
import { jobVersion, refuseStale } from "../../versions.ts";
import { likePattern } from "../kernel/like.ts";
import { createOnce } from "../kernel/idempotency-keys.ts";
import type { RunDeletion } from "../../ports/retention-port.ts";
import { dropCopies } from "../crawls/page-copies.ts";
import { dropStates } from "../crawls/page-states.ts";
import { trimFixtures } from "./fixtures.ts";
import { definitionOf, type DefinitionRow, keepBaseline, keepVersion } from "./job-versions.ts";
import { dropMonitorsWithoutJob } from "../monitors/changes.ts";
import { dropWaiting } from "../monitors/waiting-pages.ts";
import { insertDeletion } from "../runs/run-deletions.ts";
import { dropPagesOfJob } from "../runs/retention.ts";

/** Of a crawl; the page of other jobs is their site. */
function startUrlsOf({ kind, recipe }: Pick<NewJob, "kind" | "recipe">): readonly string[] {
  return kind === "crawl" ? ((recipe as Partial<CrawlRecipe> | null)?.crawl?.urls ?? []) : [];
}

interface JobRow extends DefinitionRow {
  n: number;
  id: string;
  next_at: number | null;
  next_occurrence_at: number | null;
  schedule_paused_at: number | null;
  created_at: number;
  updated_at: number;
}

function toRecord(row: JobRow): JobRecord {
  return {
    ...definitionOf(row),
    id: row.id,
    nextAt: row.next_at,
    nextOccurrenceAt: row.next_occurrence_at,
    schedulePausedAt: row.schedule_paused_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function jobRow({ connection }: Context, id: string): JobRow | undefined {
  const { text, values } = ofVisibleJobs();
  return connection.sql(`SELECT * FROM jobs WHERE id = ?${text}`).get(id, ...values) as JobRow | undefined;
}

/** The job's number, which other tables reference. */
export function jobNumber(context: Context, id: string): number {
  return requireJob(context, id).n;
}

export function requireJob(context: Context, id: string): JobRow {
  const row = jobRow(context, id);
  if (row === undefined) throw new OrbError("not_found", `there is no job with the id ${id}`);
  return row;
}

export function createJob(
  context: Context,
  job: NewJob,
  now: number,
  once?: IdempotencyKey,
  source?: JobChangeSource,
): Promise<Created<JobRecord>> {
  return createOnce(context, once, now, () => {
    const { n, id } = nextRow(context, "job");
    const row = context.connection
      .sql(
        `INSERT INTO jobs (n, id, name, kind, url, site, tags, recipe, next_at, next_occurrence_at, keep_runs, keep_days, on_degraded, fixtures, auto_repair, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
      )
      .get(
        n,
        id,
        job.name,
        job.kind,
        job.url,
        job.site,
        JSON.stringify(job.tags),
        JSON.stringify(job.recipe ?? null),
        job.nextAt,
        job.nextOccurrenceAt,
        job.keepRuns ?? null,
        job.keepDays ?? null,
        job.onDegraded ?? null,
        job.fixtures ?? null,
        Number(job.autoRepair ?? false),
        now,
        now,
      ) as unknown as JobRow;
    requireVisibleJob(context, n, startUrlsOf(job));
    keepVersion(context, n, source, now);
    const created = toRecord(row);
    logChange(context, "job.created", { kind: "job", id }, { after: loggedJob(created) });
    return { created, lanes: [] };
  });
}

export function readJob(context: Context, id: string): JobRecord | null {
  const row = jobRow(context, id);
  return row === undefined ? null : toRecord(row);
}

export function readJobs(context: Context, filter: JobFilter): JobRecord[] {
  const before = positionOf(context, "job", filter.after);
  const pattern = filter.q === undefined ? null : likePattern(filter.q);
  const visible = ofVisibleJobs();
  let parameter = 7;
  const list = context.connection
    .sql(
      `SELECT * FROM jobs WHERE n < ?1 AND (CAST(?2 AS TEXT) IS NULL OR site = ?2)
         AND (CAST(?3 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM json_each(jobs.tags) WHERE value = ?3))
         AND (CAST(?4 AS TEXT) IS NULL OR url LIKE ?4 ESCAPE '\\' OR name LIKE ?4 ESCAPE '\\')
         AND (CAST(?5 AS BIGINT) = 0 OR json_extract(recipe, '$.schedule.cron') IS NOT NULL)
         AND (CAST(?6 AS TEXT) IS NULL OR json_extract(recipe, '$.session_id') = ?6
           OR (?6 = 'any' AND json_extract(recipe, '$.session_id') IS NOT NULL))${visible.text.replaceAll("?", () => `?${(parameter += 1)}`)}
       ORDER BY n DESC LIMIT ?7`,
    )
    .all(
      before,
      filter.site ?? null,
      filter.tag ?? null,
      pattern,
      Number(filter.scheduled ?? false),
      filter.session ?? null,
      filter.limit,
      ...visible.values,
    );
  return rows<JobRow>(list).map(toRecord);
}

export function updateJob(
  context: Context,
  id: string,
  change: JobChange,
  now: number,
  version?: string,
  source?: JobChangeSource,
): JobRecord {
  const { connection } = context;
  return connection.write(
    () => {
      const before = toRecord(requireJob(context, id));
      refuseStale("the job", jobVersion(before), version);
      const changed = { ...before, ...change };
      // Changing the times of a paused schedule does not resume it.
      const after = changed.schedulePausedAt === null ? changed : { ...changed, nextAt: null, nextOccurrenceAt: null };
      const row = connection
        .sql(
          "UPDATE jobs SET name = ?, kind = ?, url = ?, site = ?, tags = ?, recipe = ?, next_at = ?, next_occurrence_at = ?, schedule_paused_at = ?, keep_runs = ?, keep_days = ?, on_degraded = ?, fixtures = ?, auto_repair = ?, updated_at = ? WHERE id = ? RETURNING *",
        )
        .get(
          after.name,
          after.kind,
          after.url,
          after.site,
          JSON.stringify(after.tags),
          JSON.stringify(after.recipe ?? null),
          after.nextAt,
          after.nextOccurrenceAt,
          after.schedulePausedAt,
          after.keepRuns ?? null,
          after.keepDays ?? null,
          after.onDegraded ?? null,
          after.fixtures ?? null,
          Number(after.autoRepair ?? false),
          now,
          id,
        ) as unknown as JobRow;
      requireVisibleJob(context, row.n, startUrlsOf(after));
      trimFixtures(context, row.n, row.fixtures);
      keepVersion(context, row.n, source, now);
      if (source?.restored !== undefined && row.kind !== "workflow") keepBaseline(context, row);
      const changes = { before: loggedJob(before), after: loggedJob(toRecord(row)) };
      logChange(context, "job.updated", { kind: "job", id }, changes);
      return toRecord(row);
    },
    { durable: true },
  );
}

export function dueJobs(
  context: Context,
  now: number,
  limit: number,
  after?: Pick<JobRecord, "id" | "nextAt">,
): JobRecord[] {
  const n = after === undefined ? -1 : (jobRow(context, after.id)?.n ?? -1);
  const list = context.connection
    .sql(
      `SELECT * FROM jobs WHERE next_at IS NOT NULL AND next_at >= ?1 AND next_at <= ?2 AND (next_at > ?1 OR n > ?3)
       ORDER BY next_at, n LIMIT ?4`,
    )
    .all(after?.nextAt ?? Number.MIN_SAFE_INTEGER, now, n, limit);
  return rows<JobRow>(list).map(toRecord);
}

export function nextDueAt({ connection }: Context): number | null {
  const first = "SELECT next_at FROM jobs WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1";
  return (connection.sql(first).get() as { next_at: number } | undefined)?.next_at ?? null;
}

const ended = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");

/** Rows per transaction; more would delay other writers. */
const DELETE_BATCH = 1000;

/**
 * Deletes the job's page copies and states first, in batches: if the job survives, it only fetches its pages again.
 * With `runs`, the transaction that deletes it also creates a deletion of its runs.
 */
export async function deleteJob(
  context: Context,
  id: string,
  now: number,
  options: { runs?: boolean } = {},
): Promise<RunDeletion | null> {
  const { connection } = context;
  const { n } = requireDeletable(context, id);
  if (options.runs === true) refuseHiddenRuns(context, id);
  while (connection.write(() => dropCopies(context, n, DELETE_BATCH))) await setImmediate();
  while (connection.write(() => dropStates(context, n, DELETE_BATCH))) await setImmediate();
  const deletion = connection.write(
    () => {
      const deleted = requireDeletable(context, id);
      if (options.runs === true) refuseHiddenRuns(context, id);
      // A run may have started and ended in between.
      dropCopies(context, n, Number.MAX_SAFE_INTEGER);
      dropStates(context, n, Number.MAX_SAFE_INTEGER);
      dropWaiting(context, "job = ?", n);
      trimFixtures(context, n, 0);
      connection.sql("DELETE FROM job_versions WHERE job = ?").run(n);
      connection.sql("DELETE FROM repairs WHERE job = ?").run(n);
      connection.sql("UPDATE run_health SET repair_due = 0 WHERE job = ? AND repair_due = 1").run(id);
      dropPagesOfJob(context, n);
      connection
        .sql(
          `INSERT INTO deleted_jobs SELECT ?1, ?2
           WHERE EXISTS (SELECT 1 FROM runs WHERE job = ?1 AND removing_at IS NULL)`,
        )
        .run(id, now);
      connection.sql("DELETE FROM schedule_occurrences WHERE job = ?").run(n);
      // Its outcome counts stay in the totals, under the number 0, which no job has.
      connection
        .sql(
          `INSERT INTO schedule_outcome_counts SELECT 0, outcome, count FROM schedule_outcome_counts WHERE job = ?
           ON CONFLICT (job, outcome) DO UPDATE SET count = schedule_outcome_counts.count + excluded.count`,
        )
        .run(n);
      connection.sql("DELETE FROM schedule_outcome_counts WHERE job = ?").run(n);
      logChange(context, "job.deleted", { kind: "job", id }, { before: loggedJob(toRecord(deleted)) });
      connection.sql("DELETE FROM jobs WHERE id = ?").run(id);
      return options.runs === true ? insertDeletion(context, { jobId: id, includeKept: true }, now) : null;
    },
    { durable: true },
  );
  // Not before: a job that survives keeps its history. After a crash, `removeExpired` goes on.
  while (dropMonitorsWithoutJob(context, DELETE_BATCH) > 0) await setImmediate();
  return deletion;
}

/** What the audit log compares. */
function loggedJob(record: JobRecord): object {
  const {
    id: _id,
    createdAt: _created,
    updatedAt: _updated,
    nextAt: _next,
    nextOccurrenceAt: _occurrence,
    ...job
  } = record;
  return job;
}

function refuseHiddenRuns(context: Context, id: string): void {
  if (!hasHiddenRuns(context, id)) return;
  throw new OrbError("outside_limits", "the job has runs outside of the limits of this key, which it may not delete", {
    hint: "Delete the job without its runs, or with a key without limits.",
  });
}

/** Throws while a run of the job has not ended. */
function requireDeletable(context: Context, id: string): JobRow {
  const job = requireJob(context, id);
  const live = context.connection
    .sql(`SELECT id, status FROM runs WHERE job = ? AND status NOT IN (${ended}) LIMIT 1`)
    .get(id) as { id: string; status: string } | undefined;
  if (live === undefined) return job;
  if (hasHiddenRuns(context, id))
    throw new OrbError("illegal_transition", "the job cannot be deleted: one of its runs has not ended", {
      hint: "It may be outside of the limits of this key: an admin can cancel it.",
    });
  throw new OrbError("illegal_transition", `the job cannot be deleted: its run ${live.id} is ${live.status}`, {
    hint: "Cancel it first, or delete with force.",
  });
}

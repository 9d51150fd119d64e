/** Selects the runs that a policy removes. Rows and files are removed later; see retention.ts. */
import { logChange } from "../kernel/audit-entry.ts";
import { TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { ExpiryLimits, JobLimits, TrimmedJobs } from "../../ports/retention-port.ts";
import { type Context, rows } from "../kernel/context.ts";
import { hideDescendants, hideRuns } from "./hide-runs.ts";
import { requireRunNumber } from "./runs.ts";
import { endAbandoned } from "../workflows/stage-workflow.ts";

const ended = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");

/** Worded like the partial indexes, so that they apply. */
const MAY_EXPIRE = "parent_run IS NULL AND removing_at IS NULL AND kept = 0 AND finished_at IS NOT NULL";
/** Excludes runs with open streams, and the queue's permanent run, which has an alias. */
const IS_OVER = `${MAY_EXPIRE} AND status IN (${ended}) AND open_streams = 0 AND alias IS NULL`;

const WITHOUT_JOB = `SELECT n FROM runs INDEXED BY runs_expiring
  WHERE job IS NULL AND temporary = ?3 AND finished_at <= ?1 AND ${IS_OVER} ORDER BY finished_at LIMIT ?2`;
const OF_DELETED_JOBS = `SELECT n FROM deleted_jobs d CROSS JOIN runs INDEXED BY runs_expiring_of_job ON runs.job = d.job
  WHERE runs.job IS NOT NULL AND d.deleted_at <= ?1 AND finished_at <= ?1 AND ${IS_OVER} LIMIT ?2`;

export async function expireRuns(context: Context, limits: ExpiryLimits, limit: number, now: number): Promise<number> {
  const { connection } = context;
  const { temporaryBefore, endedBefore } = limits;
  endAbandoned(context, limit, now);
  const find = (sql: string, ...values: number[]) => rows<{ n: number }>(connection.sql(sql).all(...values));
  const expired = () =>
    [
      ...find(WITHOUT_JOB, temporaryBefore, limit, 1),
      ...(endedBefore === null
        ? []
        : [...find(WITHOUT_JOB, endedBefore, limit, 0), ...find(OF_DELETED_JOBS, endedBefore, limit)]),
    ]
      .slice(0, limit)
      .map(({ n }) => n);
  return hideIfAny(context, expired, now);
}

/** Usually there is nothing to do, and then nothing is written. */
async function hideIfAny(context: Context, find: () => number[], now: number): Promise<number> {
  if (find().length === 0) return 0;
  const list = context.connection.write(() => {
    const found = find();
    hideRuns(context, found, now);
    forgetDeletedJobs(context);
    return found;
  });
  await hideDescendants(context, list, now);
  return list.length;
}

/** Deleted jobs are remembered as long as they have runs. */
export function forgetDeletedJobs({ connection }: Context): void {
  connection
    .sql(
      `DELETE FROM deleted_jobs WHERE NOT EXISTS
         (SELECT 1 FROM runs WHERE runs.job = deleted_jobs.job AND removing_at IS NULL)`,
    )
    .run();
}

interface PolicyRow {
  n: number;
  id: string;
  keep_runs: number | null;
  keep_days: number | null;
}

const DAY_MS = 86_400_000;

/**
 * Trims a batch of jobs, in order. `since`: only jobs with newer runs, since the others cannot have exceeded their
 * limits.
 */
export async function trimJobs(
  context: Context,
  { defaults, after, since, limit }: JobLimits,
  now: number,
): Promise<TrimmedJobs> {
  const { connection } = context;
  const jobs = rows<PolicyRow>(
    connection
      .sql(
        `SELECT n, id, keep_runs, keep_days FROM jobs WHERE n > ?1
           AND (CAST(?2 AS BIGINT) = 0 OR EXISTS (SELECT 1 FROM runs r WHERE r.job = jobs.id AND r.n > ?2)) ORDER BY n LIMIT ?3`,
      )
      .all(after, since, limit),
  );
  let hidden = 0;
  let isMore = false;
  for (const job of jobs) {
    const keepRuns = job.keep_runs ?? defaults.keepRuns;
    const keepDays = job.keep_days ?? defaults.keepDays;
    const before = keepDays === 0 ? null : now - keepDays * DAY_MS;
    const hiddenOfJob = await hideIfAny(context, () => runsBeyondPolicy(context, job.id, keepRuns, before, limit), now);
    hidden += hiddenOfJob;
    isMore ||= hiddenOfJob === limit;
  }
  return { hidden, isMore, last: jobs.length < limit ? null : (jobs.at(-1)?.n ?? null) };
}

const OF_JOB = `FROM runs INDEXED BY runs_expiring_of_job WHERE job = ?1 AND job IS NOT NULL AND ${MAY_EXPIRE}`;

/**
 * Ended runs of a job beyond its policy's number or age. The last completed run stays: the next one compares with it.
 */
function runsBeyondPolicy(
  { connection }: Context,
  job: string,
  keepRuns: number,
  endedBefore: number | null,
  limit: number,
): number[] {
  const firstExcess =
    keepRuns === 0
      ? undefined
      : (connection
          .sql(`SELECT finished_at, n ${OF_JOB} ORDER BY finished_at DESC, n DESC LIMIT 1 OFFSET ?2`)
          .get(job, keepRuns) as { finished_at: number; n: number } | undefined);
  // -1: before the end of any run.
  const cutoff = { at: firstExcess?.finished_at ?? -1, n: firstExcess?.n ?? -1 };
  if (endedBefore !== null && endedBefore > cutoff.at)
    Object.assign(cutoff, { at: endedBefore, n: Number.MAX_SAFE_INTEGER });
  if (cutoff.at < 0) return [];
  const found = rows<{ n: number }>(
    connection
      .sql(
        `SELECT n ${OF_JOB} AND (finished_at, n) <= (?2, ?3) AND status IN (${ended}) AND open_streams = 0 AND alias IS NULL
         ORDER BY finished_at, n LIMIT ?4`,
      )
      .all(job, cutoff.at, cutoff.n, limit + 1),
  );
  if (found.length === 0) return [];
  const last = connection
    .sql(
      `SELECT n FROM runs INDEXED BY runs_by_job WHERE job = ? AND parent_run IS NULL AND removing_at IS NULL
         AND status = 'completed' ORDER BY n DESC LIMIT 1`,
    )
    .get(job) as { n: number } | undefined;
  return found
    .map(({ n }) => n)
    .filter((n) => n !== last?.n)
    .slice(0, limit);
}

/** The newest result of an existing job: the baseline of its next run, and what users look at. */
const IS_LAST_RESULT = `runs.job IS NOT NULL AND runs.status = 'completed'
  AND EXISTS (SELECT 1 FROM jobs j WHERE j.id = runs.job)
  AND NOT EXISTS (SELECT 1 FROM runs newer INDEXED BY runs_by_job WHERE newer.job = runs.job AND newer.parent_run IS NULL
    AND newer.removing_at IS NULL AND newer.status = 'completed' AND newer.n > runs.n)`;

/**
 * The oldest runs that a budget may remove: with `lastResults` only the newest results of jobs, without it the others.
 */
export async function expireOldest(
  context: Context,
  limit: number,
  now: number,
  { lastResults = false }: { lastResults?: boolean } = {},
): Promise<number> {
  const { connection } = context;
  const which = lastResults ? `(${IS_LAST_RESULT})` : `NOT (${IS_LAST_RESULT})`;
  const oldest = () =>
    rows<{ n: number }>(
      connection.sql(`SELECT n FROM runs WHERE ${IS_OVER} AND ${which} ORDER BY n LIMIT ?`).all(limit),
    ).map(({ n }) => n);
  return hideIfAny(context, oldest, now);
}

/** `keep`: exempt from all policies; otherwise they apply again. */
export function keepRun(context: Context, id: string, keep: boolean): void {
  const { connection } = context;
  connection.write(
    () => {
      connection.sql("UPDATE runs SET kept = ? WHERE n = ?").run(keep ? 1 : 0, requireRunNumber(context, id));
      logChange(context, keep ? "run.kept" : "run.released", { kind: "run", id });
    },
    { durable: true },
  );
}

export function lastRunNumber({ connection }: Context): number {
  return Number(connection.sql("SELECT coalesce(max(n), 0) AS n FROM runs").get()?.["n"]);
}

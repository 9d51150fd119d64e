/** Which runs a policy removes. Rows and files go later; see retention.ts. */
import { TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { ExpiryLimits, JobLimits, TrimmedJobs } from "../../ports/retention-port.ts";
import { type Context, rows } from "../kernel/context.ts";
import { hideDescendants, hideRuns } from "./hide-runs.ts";
import { requireRunNumber } from "./runs.ts";
import { endAbandoned } from "../workflows/stage-workflow.ts";

const ended = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");

/** Said as the partial indexes say it. */
const MAY_EXPIRE = "parent_run IS NULL AND removing_at IS NULL AND kept = 0 AND finished_at IS NOT NULL";
/** What is still in somebody's hands (open streams) is not touched; the queue has one run for ever, with an alias. */
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
  return hideFound(context, expired, now);
}

/** Most of the time there is nothing to do, and then nothing is written. */
async function hideFound(context: Context, find: () => number[], now: number): Promise<number> {
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

/** Jobs that were deleted are known as long as there are runs of them. */
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
 * Goes through some jobs, in their order. `since`: only those with runs that have come after it, since nothing can have
 * become too many of the others.
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
    const part = await hideFound(context, () => beyond(context, job.id, keepRuns, before, limit), now);
    hidden += part;
    isMore ||= part === limit;
  }
  return { hidden, isMore, last: jobs.length < limit ? null : (jobs.at(-1)?.n ?? null) };
}

const OF_JOB = `FROM runs INDEXED BY runs_expiring_of_job WHERE job = ?1 AND job IS NOT NULL AND ${MAY_EXPIRE}`;

/** Ended runs of a job that are more, or older, than its policy keeps. The last completed one stays: the next compares with it. */
function beyond(
  { connection }: Context,
  job: string,
  keepRuns: number,
  endedBefore: number | null,
  limit: number,
): number[] {
  const tooMany =
    keepRuns === 0
      ? undefined
      : (connection
          .sql(`SELECT finished_at, n ${OF_JOB} ORDER BY finished_at DESC, n DESC LIMIT 1 OFFSET ?2`)
          .get(job, keepRuns) as { finished_at: number; n: number } | undefined);
  // Later than any run has ended, or earlier.
  const border = { at: tooMany?.finished_at ?? -1, n: tooMany?.n ?? -1 };
  if (endedBefore !== null && endedBefore > border.at)
    Object.assign(border, { at: endedBefore, n: Number.MAX_SAFE_INTEGER });
  if (border.at < 0) return [];
  const found = rows<{ n: number }>(
    connection
      .sql(
        `SELECT n ${OF_JOB} AND (finished_at, n) <= (?2, ?3) AND status IN (${ended}) AND open_streams = 0 AND alias IS NULL
         ORDER BY finished_at, n LIMIT ?4`,
      )
      .all(job, border.at, border.n, limit + 1),
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

/** It is the newest result of a job that is there: what its next run is compared with, and what people look at. */
const IS_LAST_RESULT = `runs.job IS NOT NULL AND runs.status = 'completed'
  AND EXISTS (SELECT 1 FROM jobs j WHERE j.id = runs.job)
  AND NOT EXISTS (SELECT 1 FROM runs newer INDEXED BY runs_by_job WHERE newer.job = runs.job AND newer.parent_run IS NULL
    AND newer.removing_at IS NULL AND newer.status = 'completed' AND newer.n > runs.n)`;

/** The oldest that a budget may remove: with `lastResults` only those that are the newest result of their job, without it the others. */
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
  return hideFound(context, oldest, now);
}

/** `keep`: no policy removes it from now on; otherwise the policies hold again. */
export function keepRun(context: Context, id: string, keep: boolean): void {
  const { connection } = context;
  connection.write(
    () => {
      connection.sql("UPDATE runs SET kept = ? WHERE n = ?").run(keep ? 1 : 0, requireRunNumber(context, id));
    },
    { durable: true },
  );
}

/** The number of the newest run. */
export function lastRunNumber({ connection }: Context): number {
  return Number(connection.sql("SELECT coalesce(max(n), 0) AS n FROM runs").get()?.["n"]);
}

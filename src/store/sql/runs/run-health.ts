import {
  BASELINE_RUNS,
  type DegradedReason,
  degradedReasons,
  MIN_BASELINE_RUNS,
} from "../../../domain/health/compare.ts";
import { describeReason } from "../../../domain/health/describe-reason.ts";
import type { OnDegraded } from "../../../domain/health/on-degraded.ts";
import type { HealthProfile } from "../../../domain/health/profile.ts";
import { failure } from "../../../domain/run/failure.ts";
import type { RunHold } from "../../../domain/run/run-hold.ts";
import type { RunState } from "../../../domain/run/states.ts";
import { shownUrl } from "../../../domain/text/url.ts";
import { without } from "../../../base/without.ts";
import type { AlertRecord, NewAlert } from "../../ports/alert-port.ts";
import type { HealthRecord, HealthStore, RecordedHealth } from "../../ports/health-port.ts";
import { insertAlerts } from "../catalog/alerts.ts";
import { requireJob } from "../catalog/jobs.ts";
import { appendEvent, type Context, mergeFacts, parseJson, rows, toJson } from "../kernel/context.ts";
import { stateHash } from "../crawls/page-states.ts";
import { endCompared } from "./end-run.ts";
import { dropPagesOf, dropPagesOfJob } from "./retention.ts";

/** Worded like the partial index, so that it applies. */
export const RUN_WITHOUT_HEALTH = `health_generation < generation AND job IS NOT NULL
  AND kind IN ('page', 'crawl') AND status IN ('completed', 'partial') AND removing_at IS NULL`;

/** A run that ends after its records were compared; it may be paused meanwhile. */
export const RUN_ENDING =
  "hold IS NOT NULL AND json_extract(hold, '$.reason') = 'data_quality' AND status = 'running' AND removing_at IS NULL";

export function healthStore(context: Context): HealthStore {
  return {
    runsWithoutHealth: async (limit) => runsWithoutHealth(context, limit),
    recordRunHealth: async (run, found, options, now) => recordRunHealth(context, run, found, options, now),
    pagesReadBefore: async (runId, rules, keys) => readBefore(context, runId, { rules, keys }),
    runHealth: async (jobId, { limit }) => readHealth(context, jobId, limit),
    acceptHealth: async (jobId, now) => acceptHealth(context, jobId, now),
    countDegradedRuns: async () => countDegraded(context),
  };
}

function runsWithoutHealth({ connection }: Context, limit: number): { runId: string; generation: number }[] {
  const list = connection.sql(
    `SELECT n, id, generation FROM runs WHERE ${RUN_WITHOUT_HEALTH}
     UNION ALL SELECT n, id, generation FROM runs WHERE ${RUN_ENDING} ORDER BY n LIMIT ?`,
  );
  return rows<{ id: string; generation: number }>(list.all(limit)).map(({ id, generation }) => ({
    runId: id,
    generation,
  }));
}

interface ProfiledRun {
  n: number;
  id: string;
  job: string;
  generation: number;
  status: RunState;
  name: string | null;
  url: string | null;
  finished_at: number | null;
  hold: string | null;
}

interface ProfiledJob {
  n: number;
  name: string | null;
  on_degraded: OnDegraded | null;
}

function recordRunHealth(
  context: Context,
  { runId, generation }: { runId: string; generation: number },
  found: { rules: string; profile: HealthProfile } | null,
  { deliver }: { deliver: boolean },
  now: number,
): RecordedHealth | null {
  const { connection } = context;
  return connection.write(
    () => {
      // Of two processes, or after a crash, one gets the row.
      const run = connection
        .sql(
          `UPDATE runs SET health_generation = generation
           WHERE id = ? AND generation = ? AND ((${RUN_WITHOUT_HEALTH}) OR (${RUN_ENDING}))
           RETURNING n, id, job, generation, status, name, url, finished_at, hold`,
        )
        .get(runId, generation) as ProfiledRun | undefined;
      if (run === undefined) return null;
      const end = parseJson<RunHold | null>(run.hold, null)?.end ?? null;
      const asPlanned = () => (end === null ? [] : endCompared(context, run.n, end, now));
      const nothing = () => {
        dropPagesOf(context, run.n);
        return { reasons: null, alert: null, pausedSchedule: false, lanes: asPlanned() };
      };
      const job = connection.sql("SELECT n, name, on_degraded FROM jobs WHERE id = ?").get(run.job) as
        | ProfiledJob
        | undefined;
      // The runs of a deleted job are compared with nothing.
      if (found === null || job === undefined) return nothing();
      // Only the pages of the newest degraded run are worth their space.
      dropPagesOfJob(context, job.n, { before: run.n });
      const history = baselineOf(context, run, found.rules);
      const reasons = degradedReasons(found.profile, history, { isPartial: (end ?? run).status === "partial" });
      const known = knownFields(context, run, found.rules);
      insertHealth(context, run, found, { reasons, comparedWith: history.length, endedAt: run.finished_at ?? now });
      if (reasons.length === 0) {
        if (isNewest(context, run)) outdateRepair(context, run.job);
        return nothing();
      }
      const fails = end !== null && job.on_degraded === "fail";
      const reported = reportDegraded(context, run, job, reasons, { known, deliver, fails }, now);
      return { reasons, ...reported, lanes: fails ? failDegraded(context, run.n, reasons, now) : asPlanned() };
    },
    { durable: true },
  );
}

function baselineOf({ connection }: Context, run: ProfiledRun, rules: string): HealthProfile[] {
  const list = connection
    .sql(
      `SELECT profile FROM run_health WHERE job = ? AND run <> ? AND rules = ? AND baseline = 1
       ORDER BY run DESC LIMIT ${BASELINE_RUNS}`,
    )
    .all(run.job, run.n, rules);
  return rows<{ profile: string }>(list).map(({ profile }) => JSON.parse(profile) as HealthProfile);
}

/**
 * Pages that have failed for longer are not new: of a list that some runs do not reach the end of, they would be another
 * share each time.
 */
function readBefore(
  { connection }: Context,
  runId: string,
  { rules, keys }: { rules: string; keys: readonly string[] },
): boolean[] {
  const oldest = connection
    .sql(
      `SELECT min(run) AS run FROM (SELECT h.run FROM runs r JOIN run_health h ON h.job = r.job AND h.run < r.n
         WHERE r.id = ? AND h.rules = ? AND h.baseline = 1 ORDER BY h.run DESC LIMIT ${MIN_BASELINE_RUNS}) AS newest`,
    )
    .get(runId, rules) as { run: number | null };
  if (oldest.run === null) return keys.map(() => false);
  const { run } = oldest;
  const text = `SELECT 1 AS known FROM runs r JOIN jobs j ON j.id = r.job JOIN page_states s ON s.job = j.n AND s.key_hash = ?
    JOIN run_health h ON h.run = s.run AND h.rules = ? WHERE r.id = ? AND s.run >= ? AND s.run < r.n`;
  const found = connection.dialect.firsts(
    connection,
    keys.map((key) => ({ text, values: [stateHash(key), rules, runId, run] })),
  );
  return found.map((row) => row !== undefined);
}

/** The fields that the run before was degraded in: their alert is still open. */
function knownFields({ connection }: Context, run: ProfiledRun, rules: string): Set<string | null> {
  const before = connection
    .sql(
      "SELECT reasons, accepted_at FROM run_health WHERE job = ? AND run <> ? AND rules = ? ORDER BY run DESC LIMIT 1",
    )
    .get(run.job, run.n, rules) as { reasons: string | null; accepted_at: number | null } | undefined;
  if (before === undefined || before.accepted_at !== null) return new Set();
  return new Set(parseJson<DegradedReason[]>(before.reasons, []).map(({ field }) => field));
}

function insertHealth(
  { connection }: Context,
  run: ProfiledRun,
  { rules, profile }: { rules: string; profile: HealthProfile },
  { reasons, comparedWith, endedAt }: { reasons: readonly DegradedReason[]; comparedWith: number; endedAt: number },
): void {
  const isGood = reasons.length === 0;
  connection
    .sql(
      `INSERT INTO run_health (run, job, generation, ended_at, rules, profile, reasons, compared_with, baseline, repair_due)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (run) DO UPDATE SET generation = excluded.generation, ended_at = excluded.ended_at,
         rules = excluded.rules, profile = excluded.profile, reasons = excluded.reasons,
         compared_with = excluded.compared_with, baseline = excluded.baseline, repair_due = excluded.repair_due,
         accepted_at = NULL`,
    )
    .run(
      run.n,
      run.job,
      run.generation,
      endedAt,
      rules,
      JSON.stringify(profile),
      isGood ? null : toJson(reasons),
      comparedWith,
      isGood ? 1 : 0,
      isGood ? 0 : 1,
    );
}

/** Of runs that overlap, an older one may end later. */
function isNewest({ connection }: Context, { job, n }: ProfiledRun): boolean {
  return connection.sql("SELECT 1 FROM run_health WHERE job = ? AND run > ? LIMIT 1").get(job, n) === undefined;
}

/** The records are good: an open proposal would break what is right. */
function outdateRepair({ connection }: Context, jobId: string): void {
  connection
    .sql("UPDATE repairs SET state = 'outdated' WHERE job = (SELECT n FROM jobs WHERE id = ?) AND state = 'open'")
    .run(jobId);
}

function reportDegraded(
  context: Context,
  run: ProfiledRun,
  job: ProfiledJob,
  reasons: readonly DegradedReason[],
  { known, deliver, fails }: { known: ReadonlySet<string | null>; deliver: boolean; fails: boolean },
  now: number,
): { alert: AlertRecord | null; pausedSchedule: boolean } {
  const { connection } = context;
  const what = sentenceOf(reasons);
  // Values of pages stay in the store: events and alerts leave it.
  const shown = reasons.map((reason) => without(reason, "examples"));
  const meta = { job_id: run.job, reasons: shown };
  const event = { type: "extraction.degraded", level: "warn", message: `Records degraded: ${what}`, meta } as const;
  appendEvent(context, run.n, event, now);
  connection.sql("UPDATE meta SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE name = 'degraded_runs'").run();
  const pausedSchedule = job.on_degraded === "pause_schedule" && pauseSchedule(context, run, now);
  // A failed run is always reported, and only once: there is no alert run_failed of it.
  const isNew = fails || reasons.some(({ field }) => !known.has(field));
  const alert: NewAlert = {
    kind: "extraction_degraded",
    subject: run.id,
    message: `Records degraded: ${job.name ?? (run.url === null ? run.job : shownUrl(run.url))}: ${what}`,
    detail: {
      event_type: "extraction.degraded",
      run_id: run.id,
      ...meta,
      name: job.name,
      url: run.url === null ? null : shownUrl(run.url),
      schedule_paused: pausedSchedule,
      run_failed: fails,
    },
    key: `extraction_degraded:${run.id}`,
  };
  return { alert: isNew ? (insertAlerts(context, [alert], { deliver }, now)[0] ?? null) : null, pausedSchedule };
}

/** Its records stay. */
function failDegraded(context: Context, run: number, reasons: readonly DegradedReason[], now: number): string[] {
  const what = failure("records_degraded", `its records are degraded: ${sentenceOf(reasons)}`);
  const facts = { failure_code: what.code, failure_reason: what.reason, error_message: what.message };
  mergeFacts(context, run, facts);
  return endCompared(context, run, { status: "failed", message: `Run failed: ${what.message}`, meta: facts }, now);
}

const MOST_NAMED = 3;

function sentenceOf(reasons: readonly DegradedReason[]): string {
  const named = reasons.slice(0, MOST_NAMED).map(describeReason).join("; ");
  const more = reasons.length - MOST_NAMED;
  return more <= 0 ? named : `${named}; and ${more} more`;
}

/** Like a person's pause: resuming it continues with the first time from then on. */
function pauseSchedule(context: Context, run: ProfiledRun, now: number): boolean {
  const paused = context.connection
    .sql(
      `UPDATE jobs SET schedule_paused_at = ?1, next_at = NULL, next_occurrence_at = NULL, updated_at = ?1
       WHERE id = ?2 AND schedule_paused_at IS NULL AND json_extract(recipe, '$.schedule.cron') IS NOT NULL`,
    )
    .run(now, run.job);
  if (Number(paused.changes) === 0) return false;
  const message = "Schedule paused: the records of this run are degraded";
  appendEvent(context, run.n, { type: "schedule.paused", level: "warn", message, meta: { job_id: run.job } }, now);
  return true;
}

interface HealthRow {
  id: string;
  ended_at: number;
  rules: string;
  profile: string;
  reasons: string | null;
  compared_with: number;
  baseline: number;
  accepted_at: number | null;
}

function readHealth({ connection }: Context, jobId: string, limit: number): HealthRecord[] {
  const list = connection
    .sql(
      `SELECT r.id, h.ended_at, h.rules, h.profile, h.reasons, h.compared_with, h.baseline, h.accepted_at
       FROM run_health h JOIN runs r ON r.n = h.run WHERE h.job = ? AND r.removing_at IS NULL ORDER BY h.run DESC LIMIT ?`,
    )
    .all(jobId, limit);
  return rows<HealthRow>(list).map((row) => ({
    runId: row.id,
    endedAt: row.ended_at,
    rules: row.rules,
    profile: JSON.parse(row.profile) as HealthProfile,
    reasons: parseJson<DegradedReason[] | null>(row.reasons, null),
    comparedWith: row.compared_with,
    isBaseline: row.baseline === 1,
    acceptedAt: row.accepted_at,
  }));
}

function acceptHealth(context: Context, jobId: string, now: number): number {
  const { connection } = context;
  return connection.write(
    () => {
      requireJob(context, jobId);
      const good = connection
        .sql(`SELECT max(run) AS run FROM run_health WHERE job = ? AND (reasons IS NULL OR accepted_at IS NOT NULL)`)
        .get(jobId) as { run: number | null };
      const accepted = connection
        .sql("UPDATE run_health SET baseline = 1, accepted_at = ?, repair_due = 0 WHERE job = ? AND run > ?")
        .run(now, jobId, good.run ?? 0);
      const count = Number(accepted.changes);
      if (count > 0) {
        connection.sql("UPDATE run_health SET baseline = 0 WHERE job = ? AND run <= ?").run(jobId, good.run ?? 0);
        outdateRepair(context, jobId);
      }
      return count;
    },
    { durable: true },
  );
}

function countDegraded({ connection }: Context): number {
  const row = connection.sql("SELECT value FROM meta WHERE name = 'degraded_runs'").get();
  return Number(row?.["value"] ?? 0);
}

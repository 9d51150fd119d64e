import { randomUUID } from "node:crypto";
import { OrbError } from "../../../base/errors.ts";
import type { DegradedReason } from "../../../domain/health/compare.ts";
import { encodeId } from "../../../domain/run/ids.ts";
import { eventOfMove } from "../../../domain/run/run-events.ts";
import type { RunFacts } from "../../../domain/run/run-facts.ts";
import type { RunHold } from "../../../domain/run/run-hold.ts";
import { canRunMove, TERMINAL_RUN_STATES, type RunState } from "../../../domain/run/states.ts";
import type { NewRun, RunRecord } from "../../ports/port.ts";
import {
  appendEvent,
  bumpControl,
  type Context,
  parseJson,
  rows,
  stampIdleLanesOfRun,
  toJson,
} from "../kernel/context.ts";
import { type Actor, currentCaller } from "../../../domain/access/caller.ts";
import { logChange } from "../kernel/audit-entry.ts";
import { ofVisibleRuns } from "../kernel/caller-limits.ts";
import { moveRun, reopenRun } from "./move-run.ts";
import { endRunIfDone } from "./end-run.ts";
import { stampStartEvent } from "../sites/site-deps.ts";
import { openReadySteps } from "../workflows/open-steps.ts";
import { addWebhook, completionHooksOf } from "../catalog/webhooks.ts";
import { proxyHoldFor, appendHoldEvent } from "../lanes/write-hold.ts";
import { lockRuns } from "../kernel/lock-runs.ts";

export interface RunRow {
  n: number;
  id: string;
  kind: string;
  alias: string | null;
  status: RunState;
  generation: number;
  open_streams: number;
  parent_run: number | null;
  parent_task: number | null;
  parent_id?: string | null;
  first_task: number | null;
  last_task: number | null;
  job: string | null;
  job_deleted_at?: number | null;
  job_keep_runs?: number | null;
  job_keep_days?: number | null;
  degraded?: string | null;
  kept: number;
  temporary: number;
  name: string | null;
  url: string | null;
  site: string | null;
  facts: string | null;
  max_attempts: number | null;
  snapshot: string;
  pages_known: number;
  time_limit_ms: number | null;
  ran_ms: number;
  running_since: number | null;
  progress: number;
  hold: string | null;
  stall: string | null;
  started_by?: string | null;
  message: string | null;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
}

function toRecord({ instance }: Context, row: RunRow): RunRecord {
  return {
    id: row.id,
    kind: row.kind,
    alias: row.alias,
    status: row.status,
    generation: row.generation,
    jobId: row.job,
    jobDeletedAt: row.job_deleted_at ?? null,
    kept: row.kept === 1,
    temporary: row.temporary === 1,
    jobKeepRuns: row.job_keep_runs ?? null,
    jobKeepDays: row.job_keep_days ?? null,
    parent:
      row.parent_task === null
        ? null
        : { runId: row.parent_id ?? "", taskId: encodeId(instance, "task", row.parent_task) },
    name: row.name,
    url: row.url,
    site: row.site,
    facts: parseJson<RunFacts>(row.facts, {}),
    maxAttempts: row.max_attempts,
    snapshot: JSON.parse(row.snapshot),
    pagesKnown: row.pages_known,
    timeLimitMs: row.time_limit_ms,
    ranMs: row.ran_ms,
    runningSince: row.running_since,
    progress: row.progress,
    degraded: parseJson<DegradedReason[] | null>(row.degraded, null),
    hold: parseJson<RunHold | null>(row.hold, null),
    startedBy: parseJson<Actor | null>(row.started_by, null),
    message: row.message,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}

const SELECT_RUN = `SELECT *, (SELECT deleted_at FROM deleted_jobs d WHERE d.job = runs.job) AS job_deleted_at,
  (SELECT keep_runs FROM jobs j WHERE j.id = runs.job) AS job_keep_runs, (SELECT keep_days FROM jobs j WHERE j.id = runs.job) AS job_keep_days,
  (SELECT p.id FROM runs p WHERE p.n = runs.parent_run) AS parent_id,
  (SELECT reasons FROM run_health h WHERE h.run = runs.n AND h.generation = runs.generation) AS degraded FROM runs`;

/** Hidden runs do not exist for any reader. */
export function runRow({ connection }: Context, id: string): RunRow | null {
  const { text, values } = ofVisibleRuns();
  const find = connection.sql(`${SELECT_RUN} WHERE id = ? AND removing_at IS NULL${text}`);
  return (find.get(id, ...values) as RunRow | undefined) ?? null;
}

export function requireRun(context: Context, id: string): RunRow {
  const row = runRow(context, id);
  if (row === null) throw runNotFound(id);
  return row;
}

function runNotFound(id: string): OrbError {
  return new OrbError("not_found", `there is no run with the id ${id}`);
}

/** Only the run's number: its snapshot may be large. */
export function requireRunNumber({ connection }: Context, id: string): number {
  const { text, values } = ofVisibleRuns();
  const row = connection.sql(`SELECT n FROM runs WHERE id = ? AND removing_at IS NULL${text}`).get(id, ...values) as
    | { n: number }
    | undefined;
  if (row === undefined) throw runNotFound(id);
  return row.n;
}

export function readRun(context: Context, id: string): RunRecord | null {
  const row = runRow(context, id);
  return row === null ? null : toRecord(context, row);
}

export function readRunByAlias(context: Context, alias: string): RunRecord | null {
  const { text, values } = ofVisibleRuns();
  const find = context.connection.sql(`${SELECT_RUN} WHERE alias = ? AND removing_at IS NULL${text}`);
  const row = find.get(alias, ...values) as RunRow | undefined;
  return row === undefined ? null : toRecord(context, row);
}

export function openRun(context: Context, run: NewRun, now: number): RunRecord {
  const { connection } = context;
  return connection.write(
    () => {
      if (run.alias !== undefined) connection.dialect.lockName(connection, `alias:${run.alias}`);
      const existing = run.alias === undefined ? null : readRunByAlias(context, run.alias);
      if (existing !== null) return existing;
      return insertRun(context, run, now);
    },
    { durable: true },
  );
}

/** The step that starts a run and waits for it. */
export interface ParentStep {
  run: number;
  task: number;
  generation: number;
}

/** Within the caller's transaction. */
export function insertRun(context: Context, run: NewRun, now: number, parent?: ParentStep): RunRecord {
  const { row, hold } = insertRunRow(context, run, now, { parent });
  announceRun(context, row, run, hold, now);
  return parent === undefined ? toRecord(context, row) : (readRun(context, row.id) as RunRecord);
}

/** Only the row. With `hidden` the run is invisible: it is marked as being removed until the mark is cleared. */
export function insertRunRow(
  context: Context,
  run: NewRun,
  now: number,
  { parent, hidden = false }: { parent?: ParentStep | undefined; hidden?: boolean } = {},
): { row: RunRow; hold: RunHold | null } {
  const hold = run.hold ?? proxyHoldFor(context, run.proxies, now);
  const row = context.connection
    .sql(
      `INSERT INTO runs (id, kind, alias, status, max_attempts, snapshot, job, name, url, site, pages_limit, time_limit_ms, budget,
         created_at, parent_run, parent_task, parent_generation, hold, proxies, completion_hooks, temporary, removing_at, facts, started_by)
       VALUES (?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
         ${parent === undefined ? "?" : "(SELECT p.started_by FROM runs p WHERE p.n = ?)"}) RETURNING *`,
    )
    .get(
      randomUUID(),
      run.kind,
      run.alias ?? null,
      run.maxAttempts,
      // Workflow snapshots have their own table.
      run.workflow === undefined ? JSON.stringify(run.snapshot ?? null) : "null",
      run.jobId ?? null,
      run.name ?? null,
      run.url ?? null,
      run.site ?? null,
      run.pagesLimit ?? null,
      run.timeLimitMs ?? null,
      run.budget?.key ?? null,
      now,
      parent?.run ?? null,
      parent?.task ?? null,
      parent?.generation ?? null,
      toJson(hold),
      toJson(run.proxies ?? null),
      completionHooksOf(run),
      run.temporary === true ? 1 : 0,
      hidden ? now : null,
      run.trace === undefined ? null : toJson({ trace: run.trace } satisfies RunFacts),
      parent?.run ?? toJson(currentCaller()?.actor),
    ) as unknown as RunRow;
  return { row, hold };
}

/** Events and webhooks of a new run. Within the caller's transaction. */
export function announceRun(
  context: Context,
  { n, id }: Pick<RunRow, "n" | "id">,
  run: NewRun,
  hold: RunHold | null,
  now: number,
): void {
  const { kind, name, url, jobId: job } = run;
  logChange(context, "run.started", { kind: "run", id }, { after: { kind, name, url, job } });
  const meta = { kind: run.kind, ...run.meta };
  appendEvent(context, n, { type: "run.created", level: "info", message: "Run created", meta }, now);
  addWebhook(context, n, run, now);
  if (hold === null) stampStartEvent(context, n);
  else appendHoldEvent(context, n, hold, now);
}

export function readRunsWhere(
  context: Context,
  condition: string,
  values: readonly (string | number)[],
  limit: number,
): RunRecord[] {
  const list = context.connection.sql(`${SELECT_RUN} WHERE ${condition} ORDER BY n DESC LIMIT ?`).all(...values, limit);
  return rows<RunRow>(list).map((row) => toRecord(context, row));
}

export function readRunStates({ connection }: Context, ids: readonly string[]): Map<string, RunState> {
  const list = connection
    .sql("SELECT id, status FROM runs WHERE removing_at IS NULL AND id IN (SELECT value FROM json_each(?))")
    .all(JSON.stringify(ids));
  return new Map(rows<{ id: string; status: RunState }>(list).map((row) => [row.id, row.status]));
}

export function changeRun(context: Context, id: string, to: RunState, message: string, now: number): RunRecord {
  return context.connection.write(
    () => {
      lockRuns(context, [id]);
      const row = requireRun(context, id);
      if (!canRunMove(row.status, to)) {
        throw new OrbError("illegal_transition", `a run that is ${row.status} cannot become ${to}`);
      }
      if (row.kind === "workflow") refuseReopening(row.status, to);
      const event = { type: eventOfMove(row.status, to), message };
      if (TERMINAL_RUN_STATES.includes(row.status)) reopenRun(context, row, event, now, to);
      else moveRun(context, row.n, to, event, now);
      if (to === "running") {
        if (row.kind === "workflow") openReadySteps(context, row.n);
        stampIdleLanesOfRun(context, row.n);
        // The tasks in flight when it was paused may have been its last.
        endRunIfDone(context, row.n, now);
      }
      bumpControl(context);
      const changed = requireRun(context, id);
      const statuses = { before: { status: row.status }, after: { status: changed.status } };
      logChange(context, to === "running" ? "run.resumed" : `run.${to}`, { kind: "run", id }, statuses);
      return toRecord(context, changed);
    },
    { durable: true },
  );
}

/** Ended workflows are not resumed: a recovery selects the steps to repeat first. */
function refuseReopening(status: RunState, to: RunState): void {
  if (!TERMINAL_RUN_STATES.includes(status) && (status !== "recovering" || to !== "running")) return;
  const hints: Partial<Record<RunState, string>> = {
    failed: "Recover it: that repeats its failed steps.",
    recovering: "It continues automatically when a worker has started the recovery.",
  };
  throw new OrbError("illegal_transition", `a workflow that is ${status} cannot be resumed`, {
    hint: hints[status] ?? "Rerun it.",
  });
}

/** Hidden runs are subtracted: to filter them out would read every row, this reads an index and the few hidden rows. */
const COUNT_RUNS = `SELECT kind, status, CAST(sum(part) AS BIGINT) AS count FROM (
  SELECT kind, status, count(*) AS part FROM runs GROUP BY kind, status
  UNION ALL SELECT kind, status, -count(*) FROM runs INDEXED BY runs_removing WHERE removing_at IS NOT NULL GROUP BY kind, status
) AS counted GROUP BY kind, status HAVING sum(part) > 0`;

export function countRuns({ connection }: Context): { kind: string; status: RunState; count: number }[] {
  return rows(connection.sql(COUNT_RUNS).all());
}

import { OrbError } from "../../../base/errors.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import { OPEN_TASK_STATES } from "../../../domain/run/states.ts";
import { SEARCHED_RUNS } from "../../records/job-records.ts";
import type { WorkflowFilter, WorkflowRecord } from "../../ports/workflow-port.ts";
import { badPosition, type Context, rows, STATE } from "../kernel/context.ts";
import { likePattern } from "../kernel/like.ts";
import { ofVisibleRuns } from "../kernel/caller-limits.ts";
import { readRun, requireRun, runRow } from "../runs/runs.ts";

interface WorkflowRow {
  run: number;
  run_id: string;
  total_steps: number;
  current_step: number | null;
  ended_steps: number;
  metadata: string;
  recovery_attempts: number;
  max_recovery_attempts: number;
  template: string | null;
  template_version: number | null;
  rerun_of: string | null;
  error_message: string | null;
  last_checkpoint: number | null;
  updated_at: number;
}

const open = OPEN_TASK_STATES.map((name) => STATE[name]).join(", ");

const firstStep = (
  states: string,
) => `(SELECT p.idx FROM steps p INDEXED BY steps_by_run CROSS JOIN tasks t ON t.id = p.task
    WHERE p.run = w.run AND t.state IN (${states}) ORDER BY p.idx LIMIT 1)`;

/**
 * The first open step: the scan stops there. For a failed workflow, the first failed step, which a recovery starts
 * with; while a recovery waits for a worker, the step it starts from.
 */
const SELECT_WORKFLOW = `SELECT w.*, r.id AS run_id,
    CASE WHEN r.status = 'recovering' AND w.recover_from IS NOT NULL THEN w.recover_from
      WHEN r.status IN ('failed', 'recovering') THEN ${firstStep(`${STATE.failed}, ${STATE.cancelled}`)}
      ELSE ${firstStep(open)} END AS current_step,
    (SELECT count(*) FROM steps p INDEXED BY steps_by_run CROSS JOIN tasks t ON t.id = p.task
      WHERE p.run = w.run AND t.state NOT IN (${open})) AS ended_steps
  FROM runs r JOIN workflows w ON w.run = r.n`;

function toRecord(context: Context, row: WorkflowRow): WorkflowRecord | null {
  const run = readRun(context, row.run_id);
  if (run === null) return null;
  return {
    run,
    totalSteps: row.total_steps,
    currentStep: row.current_step ?? row.total_steps,
    endedSteps: row.ended_steps,
    metadata: JSON.parse(row.metadata) as Record<string, JsonValue>,
    recoveryAttempts: row.recovery_attempts,
    maxRecoveryAttempts: row.max_recovery_attempts,
    template: row.template === null ? null : { name: row.template, version: row.template_version ?? 0 },
    rerunOf: row.rerun_of,
    lastCheckpoint: row.last_checkpoint,
    updatedAt: row.updated_at,
    errorMessage: row.error_message,
  };
}

export function readWorkflow(context: Context, id: string): WorkflowRecord | null {
  const row = context.connection.sql(`${SELECT_WORKFLOW} WHERE r.id = ? AND r.removing_at IS NULL`).get(id);
  return row === undefined ? null : toRecord(context, row as unknown as WorkflowRow);
}

export function readSnapshot({ connection }: Context, id: string): unknown {
  const row = connection
    .sql(
      `SELECT s.snapshot FROM runs r JOIN workflow_snapshots s ON s.run = r.n WHERE r.id = ? AND r.removing_at IS NULL`,
    )
    .get(id) as { snapshot: string } | undefined;
  return row === undefined ? null : (JSON.parse(row.snapshot) as unknown);
}

export function requireWorkflow(context: Context, id: string): WorkflowRecord {
  requireRun(context, id);
  const found = readWorkflow(context, id);
  if (found === null) throw new OrbError("not_found", `run ${id} is not a workflow`);
  return found;
}

export function readWorkflows(context: Context, filter: WorkflowFilter): WorkflowRecord[] {
  const before = filter.after === undefined ? Number.MAX_SAFE_INTEGER : runRow(context, filter.after)?.n;
  if (before === undefined) throw badPosition(filter.after ?? "", "a workflow");
  // Without unused conditions, so that an index applies.
  const n = filter.template === undefined ? "r.n" : "w.run";
  const kind = filter.jobId === undefined ? "r.kind" : "r.kind || ''";
  const conditions: string[] = [`${kind} = 'workflow'`, "r.removing_at IS NULL", `${n} < ?`];
  const values: (string | number)[] = [before];
  const addCondition = (condition: string, ...more: string[]) => {
    conditions.push(condition);
    values.push(...more);
  };
  if (filter.status === "recoverable")
    addCondition("r.status = 'failed' AND w.recovery_attempts < w.max_recovery_attempts");
  else if (filter.status !== undefined)
    addCondition(`r.status IN (${filter.status.map(() => "?").join(", ")})`, ...filter.status);
  if (filter.jobId !== undefined) addCondition("r.job = ?", filter.jobId);
  if (filter.template !== undefined) addCondition("w.template = ?", filter.template);
  if (filter.q !== undefined) {
    if (runRow(context, filter.q) !== null) addCondition("r.id = ?", filter.q);
    else
      addCondition(
        String.raw`(r.name LIKE ? ESCAPE '\') AND r.n > (SELECT max(n) FROM runs) - ` + SEARCHED_RUNS,
        likePattern(filter.q),
      );
  }
  const visible = ofVisibleRuns("r");
  const list = context.connection
    .sql(`${SELECT_WORKFLOW} WHERE ${conditions.join(" AND ")}${visible.text} ORDER BY ${n} DESC LIMIT ?`)
    .all(...values, ...visible.values, filter.limit);
  return rows<WorkflowRow>(list).flatMap((row) => toRecord(context, row) ?? []);
}

export function changeMetadata(
  context: Context,
  id: string,
  change: Readonly<Record<string, JsonValue>>,
  now: number,
): WorkflowRecord {
  const { connection } = context;
  return connection.write(
    () => {
      const { metadata } = requireWorkflow(context, id);
      const merged = Object.entries({ ...metadata, ...change }).filter(([, value]) => value !== null);
      connection
        .sql("UPDATE workflows SET metadata = ?, updated_at = ? WHERE run = ?")
        .run(JSON.stringify(Object.fromEntries(merged)), now, requireRun(context, id).n);
      return requireWorkflow(context, id);
    },
    { durable: true },
  );
}

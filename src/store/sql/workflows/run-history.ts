/** History of the same workflow: durations of its steps, and their outputs. */
import type { ItemsFile } from "../../../domain/workflow/definition.ts";
import { type Context, parseJson, rows, STATE } from "../kernel/context.ts";
import { requireRun } from "../runs/runs.ts";

interface SameWorkflow {
  template?: string;
  jobId?: string;
  name: string;
}

/** The query for the runs of one workflow, newest first, by the fitting index. */
function runsOf({ template, jobId, name }: SameWorkflow): { from: string; newest: string; value: string } {
  if (jobId !== undefined)
    return {
      from: "runs r INDEXED BY runs_by_job WHERE r.job = ?1 AND r.kind = 'workflow'",
      newest: "ORDER BY r.n DESC",
      value: jobId,
    };
  const [column, value] = template === undefined ? ["name", name] : ["template", template];
  const from = `workflows w CROSS JOIN runs r ON r.n = w.run WHERE w.${column} = ?1`;
  return { from, newest: "ORDER BY w.run DESC", value };
}

export function stepDurations({ connection }: Context, of: SameWorkflow, limit: number): Map<string, number[]> {
  const { from, newest, value } = runsOf(of);
  const list = connection
    .sql(
      `SELECT p.name, t.ended_at - p.started_at AS ms
       FROM (SELECT r.n FROM ${from} AND r.removing_at IS NULL AND r.finished_at IS NOT NULL ${newest} LIMIT ?2) AS past
         CROSS JOIN steps p ON p.run = past.n CROSS JOIN tasks t ON t.id = p.task
       WHERE t.state = ${STATE.completed} AND p.started_at IS NOT NULL ORDER BY past.n DESC, p.idx`,
    )
    .all(value, limit);
  const durations = new Map<string, number[]>();
  for (const { name, ms } of rows<{ name: string; ms: number }>(list)) {
    const known = durations.get(name);
    if (known === undefined) durations.set(name, [ms]);
    else known.push(ms);
  }
  return durations;
}

/**
 * From the same job; without a job, from a run with the same definition and params, or the one that this run repeats.
 */
export function lastItems(context: Context, runId: string, step: string): ItemsFile | null {
  const { connection } = context;
  const run = requireRun(context, runId);
  const past = run.job === null ? lastSimilar(context, run.n) : lastOfJob(context, run.job, run.n);
  if (past === null) return null;
  const row = connection
    .sql(
      `SELECT json_extract(t.outcome, '$.items') AS items FROM steps p CROSS JOIN tasks t ON t.id = p.task
       WHERE p.run = ? AND p.name = ? AND t.state = ${STATE.completed}`,
    )
    .get(past, step) as { items: string | null } | undefined;
  return parseJson<ItemsFile | null>(row?.items, null);
}

const ENDED_WELL = "r.removing_at IS NULL AND r.status = 'completed'";

function lastOfJob({ connection }: Context, job: string, before: number): number | null {
  const row = connection
    .sql(
      `SELECT r.n FROM runs r INDEXED BY runs_by_job
       WHERE r.job = ? AND r.kind = 'workflow' AND r.n < ? AND ${ENDED_WELL} ORDER BY r.n DESC LIMIT 1`,
    )
    .get(job, before) as { n: number } | undefined;
  return row?.n ?? null;
}

function lastSimilar({ connection }: Context, run: number): number | null {
  const row = connection
    .sql(
      `WITH RECURSIVE repeated (n, rerun_of) AS (
         SELECT run, rerun_of FROM workflows WHERE run = ?1
         UNION SELECT w.run, w.rerun_of FROM repeated behind
           CROSS JOIN runs r ON r.id = behind.rerun_of CROSS JOIN workflows w ON w.run = r.n)
       SELECT max(
         coalesce((SELECT max(r.n) FROM repeated behind CROSS JOIN runs r ON r.n = behind.n WHERE r.n < ?1 AND ${ENDED_WELL}), 0),
         coalesce((SELECT r.n FROM workflows w CROSS JOIN runs r ON r.n = w.run
           WHERE w.similarity_key = (SELECT similarity_key FROM workflows WHERE run = ?1) AND w.run < ?1 AND r.job IS NULL AND ${ENDED_WELL}
           ORDER BY w.run DESC LIMIT 1), 0)) AS n`,
    )
    .get(run) as { n: number };
  return row.n === 0 ? null : row.n;
}

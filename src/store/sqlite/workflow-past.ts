/** What earlier runs of the same workflow tell: how long its steps took, and what they handed on. */
import type { ItemsFile } from "../../domain/workflow/definition.ts";
import { type Context, parseJson, rows, STATE } from "./context.ts";
import { requireRun } from "./runs.ts";

interface SameWorkflow {
  template?: string;
  jobId?: string;
  name: string;
}

/** Where the runs of one workflow stand, newest first, by the index that knows them. */
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

export function lastItems(context: Context, runId: string, step: string): ItemsFile | null {
  const run = requireRun(context, runId);
  const own = context.connection.sql("SELECT template FROM workflows WHERE run = ?").get(run.n) as
    | { template: string | null }
    | undefined;
  const { from, newest, value } = runsOf({
    name: run.name ?? "",
    ...(run.job === null ? {} : { jobId: run.job }),
    ...(own === undefined || own.template === null ? {} : { template: own.template }),
  });
  const row = context.connection
    .sql(
      `SELECT json_extract(t.outcome, '$.items') AS items
       FROM (SELECT r.n FROM ${from} AND r.n < ?2 AND r.removing_at IS NULL AND r.status = 'completed' ${newest} LIMIT 1) AS past
         CROSS JOIN steps p ON p.run = past.n AND p.name = ?3 CROSS JOIN tasks t ON t.id = p.task
       WHERE t.state = ${STATE.completed}`,
    )
    .get(value, run.n, step) as { items: string | null } | undefined;
  return parseJson<ItemsFile | null>(row?.items, null);
}

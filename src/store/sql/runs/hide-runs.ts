/**
 * Removal starts with a mark on the run's row, and every reader excludes marked runs: a half-removed run is never
 * visible, and an interrupted removal resumes from the mark.
 */
import { setImmediate } from "node:timers/promises";
import { OrbError } from "../../../base/errors.ts";
import { TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import { logChange } from "../kernel/audit-entry.ts";
import { type Context, rows } from "../kernel/context.ts";
import { requireRun } from "./runs.ts";

/** Within the caller's transaction. */
export function hideRuns({ connection }: Context, runs: readonly number[], now: number): void {
  const list = JSON.stringify(runs);
  const fromRuns = "FROM runs WHERE n IN (SELECT CAST(value AS BIGINT) FROM json_each(?))";
  connection
    .sql("UPDATE runs SET removing_at = ? WHERE n IN (SELECT CAST(value AS BIGINT) FROM json_each(?))")
    .run(now, list);
  // A repeated call must not return the id of a removed run. Wrapped in an expression, the id lets the index apply.
  connection
    .sql(`DELETE FROM idempotency_keys WHERE json_extract(response, '$.id') IN (SELECT id || '' ${fromRuns})`)
    .run(list);
  connection.sql(`DELETE FROM budgets WHERE key IN (SELECT budget ${fromRuns})`).run(list);
}

/** Hides child runs of a workflow, oldest first; returns them. Within the caller's transaction. */
export function hideChildren(
  context: Context,
  { run, after, limit }: { run: number; after: number; limit: number },
  now: number,
): { n: number; kind: string }[] {
  const list = rows<{ n: number; kind: string }>(
    context.connection
      .sql(`SELECT n, kind FROM runs WHERE parent_run = ? AND n > ? AND removing_at IS NULL ORDER BY n LIMIT ?`)
      .all(run, after, limit),
  );
  const numbers = list.map(({ n }) => n);
  if (numbers.length > 0) hideRuns(context, numbers, now);
  return list;
}

/** Runs per transaction; more would delay other writers. */
const HIDE_BATCH = 1000;

/**
 * Throws for a run that has not ended, for the queue's own, and for child runs. Workflows take their child runs with
 * them.
 */
export async function deleteRun(
  context: Context,
  id: string,
  now: number,
  { kind: wanted }: { kind?: "workflow" } = {},
): Promise<void> {
  const { connection } = context;
  const first = connection.write(
    () => {
      const run = requireRun(context, id);
      if (wanted !== undefined && run.kind !== wanted) throw new OrbError("not_found", `run ${id} is not a ${wanted}`);
      refuseUnlessDeletable(run);
      hideRuns(context, [run.n], now);
      logChange(
        context,
        "run.deleted",
        { kind: "run", id },
        { before: { kind: run.kind, name: run.name, url: run.url } },
      );
      return run.n;
    },
    { durable: true },
  );
  await hideDescendants(context, [first], now);
}

function refuseUnlessDeletable(run: ReturnType<typeof requireRun>): void {
  const what = run.kind === "workflow" ? "workflow" : "run";
  if (run.alias !== null)
    throw new OrbError("illegal_transition", `run ${run.id} is the queue and cannot be deleted`, {
      hint: "Pause the queue to stop it.",
    });
  if (run.parent_run !== null) {
    const why = `a step of workflow ${run.parent_id ?? ""} started it`;
    throw new OrbError("illegal_transition", `run ${run.id} cannot be deleted alone: ${why}`, {
      hint: "Delete the workflow: that also deletes its runs.",
    });
  }
  if (!TERMINAL_RUN_STATES.includes(run.status))
    throw new OrbError("illegal_transition", `the ${what} cannot be deleted: it is ${run.status}`, {
      hint: "Cancel it first, or delete with force.",
    });
}

/** Children may be very many and have children themselves. If this process dies, the removal of the rows continues. */
export async function hideDescendants(context: Context, runs: readonly number[], now: number): Promise<void> {
  const { connection } = context;
  const parents = [...runs];
  for (let run = parents.pop(); run !== undefined; run = parents.pop()) {
    let part: { n: number; kind: string }[] = [];
    do {
      const from = { run, after: part.at(-1)?.n ?? 0, limit: HIDE_BATCH };
      if (!hasChildren(context, from)) break;
      part = connection.write(() => hideChildren(context, from, now));
      parents.push(...part.filter(({ kind }) => kind === "workflow").map(({ n }) => n));
      await setImmediate();
    } while (part.length === HIDE_BATCH);
  }
}

/** Most runs have none, which saves the write. */
function hasChildren({ connection }: Context, { run, after }: { run: number; after: number }): boolean {
  const child = "SELECT 1 FROM runs WHERE parent_run = ? AND n > ? AND removing_at IS NULL LIMIT 1";
  return connection.sql(child).get(run, after) !== undefined;
}

/**
 * The row of a run that is to be removed is marked first, and every reader leaves marked runs out: nobody sees half of one,
 * and a removal that was interrupted goes on from the mark.
 */
import { setImmediate } from "node:timers/promises";
import { OrbError } from "../../../base/errors.ts";
import { TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import { type Context, rows } from "../kernel/context.ts";
import { requireRun } from "./runs.ts";

/** Within a transaction of the caller's. */
export function hideRuns({ connection }: Context, runs: readonly number[], now: number): void {
  const list = JSON.stringify(runs);
  const these = "FROM runs WHERE n IN (SELECT CAST(value AS BIGINT) FROM json_each(?))";
  connection
    .sql("UPDATE runs SET removing_at = ? WHERE n IN (SELECT CAST(value AS BIGINT) FROM json_each(?))")
    .run(now, list);
  // A repeated call must not be answered with the id of something that is not there. As an expression the id lets the index serve.
  connection
    .sql(`DELETE FROM idempotency_keys WHERE json_extract(response, '$.id') IN (SELECT id || '' ${these})`)
    .run(list);
  connection.sql(`DELETE FROM budgets WHERE key IN (SELECT budget ${these})`).run(list);
}

/** Hides runs that a workflow has started, oldest first; says which. Within a transaction of the caller's. */
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

/** Runs that one transaction hides; more would keep other writers waiting. */
const AT_ONCE = 1000;

/**
 * Refuses a run that has not ended, and one that something else needs: the queue's own, and those of steps. Workflows
 * take the runs with them that their steps have started.
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
      if (wanted !== undefined && run.kind !== wanted) throw new OrbError("not_found", `the run ${id} is no ${wanted}`);
      refuseUnlessDeletable(run);
      hideRuns(context, [run.n], now);
      return run.n;
    },
    { durable: true },
  );
  await hideDescendants(context, [first], now);
}

function refuseUnlessDeletable(run: ReturnType<typeof requireRun>): void {
  const what = run.kind === "workflow" ? "workflow" : "run";
  if (run.alias !== null)
    throw new OrbError("illegal_transition", `the run ${run.id} is the queue's own, and stays`, {
      hint: "Its items end by themselves; pause the queue to stop it.",
    });
  if (run.parent_run !== null)
    throw new OrbError(
      "illegal_transition",
      `the run ${run.id} was started by a step of workflow ${run.parent_id ?? ""}`,
      {
        hint: "Delete the workflow: its runs go with it.",
      },
    );
  if (!TERMINAL_RUN_STATES.includes(run.status))
    throw new OrbError("illegal_transition", `the ${what} is ${run.status}`, {
      hint: "Cancel it first, or delete with force.",
    });
}

/** There may be very many, and they may have started others. If this process dies, whoever removes the rows goes on. */
export async function hideDescendants(context: Context, runs: readonly number[], now: number): Promise<void> {
  const { connection } = context;
  const parents = [...runs];
  for (let run = parents.pop(); run !== undefined; run = parents.pop()) {
    let part: { n: number; kind: string }[] = [];
    do {
      const from = { run, after: part.at(-1)?.n ?? 0, limit: AT_ONCE };
      if (!hasChildren(context, from)) break;
      part = connection.write(() => hideChildren(context, from, now));
      parents.push(...part.filter(({ kind }) => kind === "workflow").map(({ n }) => n));
      await setImmediate();
    } while (part.length === AT_ONCE);
  }
}

/** Most runs have none, and then nothing is written. */
function hasChildren({ connection }: Context, { run, after }: { run: number; after: number }): boolean {
  const child = "SELECT 1 FROM runs WHERE parent_run = ? AND n > ? AND removing_at IS NULL LIMIT 1";
  return connection.sql(child).get(run, after) !== undefined;
}

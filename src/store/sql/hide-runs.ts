/**
 * The row of a run that is to be removed is marked first, and every reader leaves marked runs out: nobody sees half of one,
 * and a removal that was interrupted goes on from the mark.
 */
import { setImmediate } from "node:timers/promises";
import { OrbError } from "../../base/errors.ts";
import { TERMINAL_RUN_STATES } from "../../domain/states.ts";
import { type Context, rows } from "./context.ts";
import { requireRun } from "./runs.ts";

/** Within a transaction of the caller's. */
export function hideRuns({ connection }: Context, runs: readonly number[], now: number): void {
  const list = JSON.stringify(runs);
  const these = "FROM runs WHERE n IN (SELECT CAST(value AS BIGINT) FROM json_each(?))";
  connection
    .sql("UPDATE runs SET removing_at = ? WHERE n IN (SELECT CAST(value AS BIGINT) FROM json_each(?))")
    .run(now, list);
  // A repeated call must not be answered with the id of something that is not there. As an expression the id lets the index serve.
  connection.sql(`DELETE FROM answers WHERE json_extract(answer, '$.id') IN (SELECT id || '' ${these})`).run(list);
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

export async function deleteWorkflow(context: Context, id: string, now: number): Promise<void> {
  const { connection } = context;
  const first = connection.write(
    () => {
      const { n, kind, status } = requireRun(context, id);
      if (kind !== "workflow") throw new OrbError("not_found", `the run ${id} is no workflow`);
      if (!TERMINAL_RUN_STATES.includes(status))
        throw new OrbError("illegal_transition", `the workflow is ${status}`, {
          hint: "Cancel it first, or delete with force.",
        });
      hideRuns(context, [n], now);
      return n;
    },
    { durable: true },
  );
  // There may be very many, and they may have started others. If this process dies, whoever removes the rows goes on.
  const parents = [first];
  for (let run = parents.pop(); run !== undefined; run = parents.pop()) {
    let part: { n: number; kind: string }[] = [];
    do {
      const from = { run, after: part.at(-1)?.n ?? 0, limit: AT_ONCE };
      part = connection.write(() => hideChildren(context, from, now));
      parents.push(...part.filter(({ kind }) => kind === "workflow").map(({ n }) => n));
      await setImmediate();
    } while (part.length === AT_ONCE);
  }
}

/** Bulk deletions: recorded first, then carried out in batches by any process. */
import { logChange } from "../kernel/audit-entry.ts";
import { randomUUID } from "node:crypto";
import { TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { DeletionFilter, RunDeletion } from "../../ports/retention-port.ts";
import { type Context, parseJson, rows } from "../kernel/context.ts";
import { forgetDeletedJobs } from "./expire-runs.ts";
import { hideDescendants, hideRuns } from "./hide-runs.ts";
import { conditionsOf } from "./run-lists.ts";

interface DeletionRow {
  n: number;
  id: string;
  filter: string;
  max_run: number;
  last_processed_run: number;
  matched: number;
  deleted: number;
  created_at: number;
  finished_at: number | null;
}

const toRecord = (row: DeletionRow): RunDeletion => ({
  id: row.id,
  filter: parseJson<DeletionFilter>(row.filter, {}),
  matched: row.matched,
  deleted: row.deleted,
  createdAt: row.created_at,
  finishedAt: row.finished_at,
});

/** Counting stops here: larger numbers tell the user no more. */
const MAX_MATCHED = 100_000;
/** Finished deletions kept. */
const MAX_KEPT = 100;

const ended = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");

/** Ended runs that nothing else needs, and that are not kept. */
function deletable(context: Context, filter: DeletionFilter): { condition: string; values: (string | number)[] } {
  const { includeKept = false, ...rest } = filter;
  const { condition, values } = conditionsOf(context, { ...rest, limit: 0 });
  const kept = includeKept ? "" : " AND kept = 0";
  return {
    condition: `${condition} AND parent_run IS NULL AND alias IS NULL AND status IN (${ended})${kept}`,
    values,
  };
}

export function countDeletable(context: Context, filter: DeletionFilter): number {
  const { condition, values } = deletable(context, filter);
  const count = context.connection.sql(
    `SELECT count(*) AS n FROM (SELECT 1 FROM runs WHERE ${condition} LIMIT ${MAX_MATCHED}) AS found`,
  );
  return (count.get(...values) as { n: number }).n;
}

/** Within the caller's transaction. */
export function insertDeletion(context: Context, filter: DeletionFilter, now: number): RunDeletion {
  const { connection } = context;
  const row = connection
    .sql(
      `INSERT INTO run_deletions (id, filter, max_run, matched, created_at)
       VALUES (?, ?, (SELECT coalesce(max(n), 0) FROM runs), ?, ?) RETURNING *`,
    )
    .get(randomUUID(), JSON.stringify(filter), countDeletable(context, filter), now) as unknown as DeletionRow;
  logChange(context, "runs.deleted", { kind: "run_deletion", id: row.id }, { after: { filter, matched: row.matched } });
  connection.sql("DELETE FROM run_deletions WHERE finished_at IS NOT NULL AND n <= ?").run(row.n - MAX_KEPT);
  return toRecord(row);
}

export function createDeletion(context: Context, filter: DeletionFilter, now: number): RunDeletion {
  return context.connection.write(() => insertDeletion(context, filter, now), { durable: true });
}

export function readDeletion({ connection }: Context, id: string): RunDeletion | null {
  const row = connection.sql("SELECT * FROM run_deletions WHERE id = ?").get(id) as DeletionRow | undefined;
  return row === undefined ? null : toRecord(row);
}

export function readDeletions({ connection }: Context, limit: number): RunDeletion[] {
  return rows<DeletionRow>(connection.sql("SELECT * FROM run_deletions ORDER BY n DESC LIMIT ?").all(limit)).map(
    toRecord,
  );
}

/**
 * Hides a batch of the oldest open deletion, oldest run first, and records its position: a crash repeats nothing, and
 * two processes do not interfere. True: there is more to do.
 */
export async function advanceDeletions(context: Context, limit: number, now: number): Promise<boolean> {
  const { connection } = context;
  const open = "SELECT * FROM run_deletions WHERE finished_at IS NULL ORDER BY n LIMIT 1";
  if (connection.sql(open).get() === undefined) return false;
  const hidden = connection.write(() => {
    const row = connection.sql(open).get() as DeletionRow | undefined;
    if (row === undefined) return null;
    const { condition, values } = deletable(context, parseJson<DeletionFilter>(row.filter, {}));
    const list = rows<{ n: number }>(
      connection
        .sql(`SELECT n FROM runs WHERE ${condition} AND n > ? AND n <= ? ORDER BY n LIMIT ?`)
        .all(...values, row.last_processed_run, row.max_run, limit),
    ).map(({ n }) => n);
    if (list.length > 0) hideRuns(context, list, now);
    const isOver = list.length < limit;
    connection
      .sql("UPDATE run_deletions SET last_processed_run = ?, deleted = deleted + ?, finished_at = ? WHERE n = ?")
      .run(list.at(-1) ?? row.last_processed_run, list.length, isOver ? now : null, row.n);
    if (isOver) forgetDeletedJobs(context);
    return list;
  });
  if (hidden === null) return false;
  await hideDescendants(context, hidden, now);
  return true;
}

export function countRemoving({ connection }: Context, limit: number): number {
  const count = "SELECT count(*) AS n FROM (SELECT 1 FROM runs WHERE removing_at IS NOT NULL LIMIT ?) AS found";
  return (connection.sql(count).get(limit) as { n: number }).n;
}

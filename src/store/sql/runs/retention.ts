import { decodeId } from "../../../domain/run/ids.ts";
import { TASK_STATES, type TaskState } from "../../../domain/run/states.ts";
import { STEP_LANES } from "../../../domain/workflow/definition.ts";
import type { DroppedFiles } from "../../ports/retention-port.ts";
import type { Changes, Collector } from "../kernel/connection.ts";
import { type Context, RANK, rows } from "../kernel/context.ts";
import { changeCounters } from "../kernel/counters.ts";
import { dropMonitorsWithoutJob } from "../monitors/changes.ts";
import { hideChildren } from "./hide-runs.ts";
import { ORPHANED_FILES } from "./orphaned-files.ts";

/**
 * The next removable run. Child runs have higher numbers than their workflow and go first: the workflow stays until
 * they are gone. Waits while a task of the run is running, or a lane of its steps has an owner.
 */
const NEXT_RUN = `SELECT n, removing_at FROM runs WHERE removing_at IS NOT NULL AND open_streams = 0
    AND NOT EXISTS (SELECT 1 FROM runs c WHERE c.parent_run = runs.n AND c.removing_at IS NOT NULL)
    AND (kind <> 'workflow' OR NOT EXISTS
      (SELECT 1 FROM streams s CROSS JOIN lanes l ON l.id = s.lane WHERE s.run = runs.n AND l.owner IS NOT NULL))
  ORDER BY n DESC LIMIT 1`;

export function removeExpired(context: Context, limit: number): number {
  const { connection } = context;
  if (connection.sql(NEXT_RUN).get() === undefined)
    return removeUselessPages(context, limit) || dropMonitorsWithoutJob(context, limit);
  return connection.write(() => {
    let removed = 0;
    // Page runs have few rows each, and there may be very many of them.
    for (let part = 1; part > 0 && removed < limit; removed += part) part = removeNext(context, limit - removed);
    return removed;
  });
}

const NEXT_WITH_PAGES = "SELECT run FROM run_pages WHERE run > ? ORDER BY run LIMIT 1";

/** No repair can use its pages: it was good, failed, or is not the newest that was compared, or its job is gone. */
const HAS_USELESS_PAGES = `SELECT 1 FROM runs r WHERE r.n = ?
  AND ((r.status IN ('failed', 'cancelled') AND NOT EXISTS (SELECT 1 FROM run_health h WHERE h.run = r.n))
    OR (r.status IN ('completed', 'partial') AND EXISTS (SELECT 1 FROM run_health h
      WHERE h.run = r.n AND h.generation = r.generation AND h.reasons IS NULL))
    OR EXISTS (SELECT 1 FROM run_health h WHERE h.job = r.job AND h.run > r.n)
    OR NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = r.job))`;

/** Few runs have pages: those that work, and the degraded ones. */
function runWithUselessPages({ connection }: Context): number | null {
  for (let run = 0; ;) {
    const next = connection.sql(NEXT_WITH_PAGES).get(run) as { run: number } | undefined;
    if (next === undefined) return null;
    ({ run } = next);
    if (connection.sql(HAS_USELESS_PAGES).get(run) !== undefined) return run;
  }
}

function removeUselessPages(context: Context, limit: number): number {
  if (runWithUselessPages(context) === null) return 0;
  return context.connection.write(() => {
    const run = runWithUselessPages(context);
    return run === null ? 0 : removePages(context, run, limit);
  });
}

/** In an order that keeps the counters consistent at any point: outputs, task, counters, run. */
function removeNext(context: Context, limit: number): number {
  const { connection } = context;
  const next = connection.sql(NEXT_RUN).get() as { n: number; removing_at: number } | undefined;
  if (next === undefined) return 0;
  const run = next.n;
  // The process that was hiding these has died.
  const hidden = hideChildren(context, { run, after: 0, limit }, next.removing_at).length;
  if (hidden > 0) return hidden;
  let removed = 0;
  for (const step of STEPS) {
    removed += step(context, run, limit - removed);
    if (removed >= limit) return removed;
  }
  return removed + Number(connection.sql("DELETE FROM runs WHERE n = ?").run(run).changes);
}

type Step = (context: Context, run: number, limit: number) => number;

/** Removes rows of the run, by the key of their table. */
const removeFrom =
  (table: string, key: string): Step =>
  ({ connection }, run, limit) =>
    Number(
      connection
        .sql(
          `DELETE FROM ${table} WHERE run = ?1 AND (${key}) IN (SELECT ${key} FROM ${table} WHERE run = ?1 LIMIT ?2)`,
        )
        .run(run, limit).changes,
    );

const removeArtifacts: Step = (context, run, limit) =>
  Number(dropArtifacts(context, "n IN (SELECT n FROM artifacts WHERE run = ? ORDER BY n LIMIT ?)", run, limit).changes);

const removePages: Step = (context, run, limit) =>
  dropPages(context, "n IN (SELECT n FROM run_pages WHERE run = ? ORDER BY n LIMIT ?)", run, limit);

/** Pages that nobody has compared. */
const removeMonitored: Step = ({ connection }, run, limit) => {
  const which = "n IN (SELECT n FROM monitor_pages WHERE run = ? ORDER BY n LIMIT ?)";
  for (const column of ["hash", "again_hash"])
    connection
      .sql(
        `INSERT INTO orphaned_files SELECT DISTINCT ${column} FROM monitor_pages WHERE ${column} IS NOT NULL AND ${which}
         ON CONFLICT DO NOTHING`,
      )
      .run(run, limit);
  return Number(connection.sql(`DELETE FROM monitor_pages WHERE ${which}`).run(run, limit).changes);
};

/** Removes rows and records their files, which a later sweep removes unless another row references them. */
export function dropArtifacts({ connection }: Context, which: string, ...values: (string | number)[]): Changes {
  connection
    .sql(`INSERT INTO orphaned_files SELECT DISTINCT hash FROM artifacts WHERE ${which} ON CONFLICT DO NOTHING`)
    .run(...values);
  // The files are deleted next.
  connection.dialect.outliveCrash(connection);
  return connection.sql(`DELETE FROM artifacts WHERE ${which}`).run(...values);
}

/** So many at once: the others are removed bit by bit, see `removeUselessPages`. */
const PAGES_AT_ONCE = 1000;

/** Removes the kept pages of a run. */
export function dropPagesOf(context: Context, run: number): void {
  removePages(context, run, PAGES_AT_ONCE);
}

/** Those of the runs of a job, or of its runs before a run. */
export function dropPagesOfJob(context: Context, job: number, { before }: { before?: number } = {}): void {
  const which = `n IN (SELECT n FROM run_pages WHERE job = ? AND run < ? ORDER BY n LIMIT ${PAGES_AT_ONCE})`;
  dropPages(context, which, job, before ?? Number.MAX_SAFE_INTEGER);
}

/** The same for the kept pages of runs. */
function dropPages({ connection }: Context, which: string, ...values: (string | number)[]): number {
  const found = connection.sql(`SELECT 1 FROM run_pages WHERE ${which} LIMIT 1`).get(...values);
  if (found === undefined) return 0;
  connection
    .sql(`INSERT INTO orphaned_files SELECT DISTINCT hash FROM run_pages WHERE ${which} ON CONFLICT DO NOTHING`)
    .run(...values);
  // The files are deleted next.
  connection.dialect.outliveCrash(connection);
  return Number(connection.sql(`DELETE FROM run_pages WHERE ${which}`).run(...values).changes);
}

export function dropFiles(context: Context, ids: readonly string[]): DroppedFiles {
  const { connection, instance } = context;
  const numbers = JSON.stringify(ids.map((id) => decodeId(instance, "artifact", id)).filter((row) => row !== null));
  const selected = "n IN (SELECT CAST(value AS BIGINT) FROM json_each(?))";
  return connection.write(() => {
    const files = rows<{ hash: string; size: number }>(
      connection.sql(`SELECT DISTINCT lower(hex(hash)) AS hash, size FROM artifacts WHERE ${selected}`).all(numbers),
    );
    const dropped = Number(dropArtifacts(context, selected, numbers).changes);
    const last = files.filter(({ hash }) => isOrphaned(context, hash));
    return { rows: dropped, bytes: last.reduce((sum, { size }) => sum + size, 0) };
  });
}

/** As `dropArtifacts`, while other runs may drop the same files. */
export function replaceArtifacts({ connection }: Context, which: string, ...values: (string | number)[]): void {
  const text = `SELECT json_group_array(lower(hex(hash))) AS hashes FROM artifacts WHERE ${which}`;
  const answer = connection.dialect.ask(connection, [{ text, values }]);
  connection.atEnd(ORPHANED_FILES, () => JSON.parse(String(answer()[0]?.["hashes"] ?? "[]")) as string[]);
  // The files are deleted next.
  connection.dialect.outliveCrash(connection);
  connection.sql(`DELETE FROM artifacts WHERE ${which}`).run(...values);
}

const removeTasks: Step = (context, run, limit) => {
  const { connection } = context;
  const list = rows<{ id: number; stream: number; state: number }>(
    connection
      .sql(
        // Worded like the partial index, so that it applies.
        `SELECT t.id, t.stream, t.state FROM streams s CROSS JOIN tasks t ON t.stream = s.id AND t.ended_at IS NOT NULL
         WHERE s.run = ? LIMIT ?`,
      )
      .all(run, limit),
  );
  const counts = new Map<number, Partial<Record<TaskState, number>>>();
  for (const { id, stream, state } of list) {
    connection.sql("DELETE FROM tasks WHERE id = ?").run(id);
    const name = TASK_STATES[state] as TaskState;
    const count = counts.get(stream) ?? {};
    counts.set(stream, { ...count, [name]: (count[name] ?? 0) - 1 });
  }
  for (const [stream, delta] of counts) changeCounters(context, stream, delta);
  return list.length;
};

/** The lanes of steps belong to their workflow. */
const removeStreams: Step = ({ connection }, run, limit) => {
  const lanes = rows<{ lane: number }>(
    connection
      .sql("DELETE FROM streams WHERE id IN (SELECT id FROM streams WHERE run = ? LIMIT ?) RETURNING lane")
      .all(run, limit),
  ).map(({ lane }) => lane);
  if (lanes.length > 0) connection.atEnd(EMPTY_LANES, lanes);
  return lanes.length;
};

const ARE_EMPTY = `id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))
  AND substr(lane, 1, ${STEP_LANES.length}) = '${STEP_LANES}' AND NOT EXISTS (SELECT 1 FROM streams s WHERE s.lane = lanes.id)`;

/** In order: heartbeats lock lanes at the same time. */
const EMPTY_LANES: Collector<readonly number[]> = {
  rank: RANK.lanes,
  write(connection, lists) {
    const lanes = JSON.stringify(lists.flat());
    if (connection.dialect.isShared)
      connection.sql(`SELECT 1 FROM lanes WHERE ${ARE_EMPTY} ORDER BY id FOR UPDATE`).run(lanes);
    connection.sql(`DELETE FROM lanes WHERE ${ARE_EMPTY}`).run(lanes);
  },
};

const STEPS: readonly Step[] = [
  // First, because the audit counts steps per row of `workflows`.
  removeFrom("workflows", "run"),
  removeFrom("workflow_snapshots", "run"),
  removeFrom("results", "n"),
  removeArtifacts,
  removePages,
  removeMonitored,
  removeTasks,
  removeFrom("steps", "task"),
  removeFrom("step_edges", "step, dependent"),
  removeStreams,
  removeFrom("page_aliases", "key_hash"),
  removeFrom("run_traps", "run"),
  removeFrom("run_errors", "code"),
  removeFrom("page_changes", "change, key_hash"),
  removeFrom("run_health", "run"),
  removeFrom("webhooks", "run"),
  removeFrom("webhook_calls", "n"),
  removeFrom("reusable_pages", "key"),
  removeFrom("events", "n"),
];

/** By the outputs of a task, or as a page that a run or its job keeps. */
const IS_REFERENCED = `(EXISTS (SELECT 1 FROM artifacts a WHERE a.hash = l.hash)
  OR EXISTS (SELECT 1 FROM run_pages p WHERE p.hash = l.hash)
  OR EXISTS (SELECT 1 FROM fixtures f WHERE f.hash = l.hash)
  OR EXISTS (SELECT 1 FROM monitor_states m WHERE m.hash = l.hash)
  OR EXISTS (SELECT 1 FROM monitor_pages p WHERE p.hash = l.hash)
  OR EXISTS (SELECT 1 FROM monitor_pages p WHERE p.again_hash = l.hash)
  OR EXISTS (SELECT 1 FROM monitor_files f WHERE f.hash = l.hash)
  OR EXISTS (SELECT 1 FROM tracked_pages t WHERE t.hash = l.hash))`;

export function orphanedFiles(
  { connection }: Context,
  options: { after?: string; limit: number },
): { orphaned: string[]; last: string | null } {
  const after = Buffer.from(options.after ?? "", "hex");
  const list = rows<{ hash: Uint8Array; named: number }>(
    connection
      .sql(`SELECT l.hash, ${IS_REFERENCED} AS named FROM orphaned_files l WHERE l.hash > ? ORDER BY l.hash LIMIT ?`)
      .all(after, options.limit),
  );
  const named = list.filter((row) => row.named === 1);
  if (named.length > 0)
    connection.write(() => {
      // Checked again: the referencing row may have been removed since.
      for (const { hash } of named)
        connection.sql(`DELETE FROM orphaned_files AS l WHERE l.hash = ? AND ${IS_REFERENCED}`).run(hash);
    });
  const hex = (row: { hash: Uint8Array }) => Buffer.from(row.hash).toString("hex");
  const last = list.length < options.limit ? undefined : list.at(-1);
  return { orphaned: list.filter((row) => row.named === 0).map(hex), last: last === undefined ? null : hex(last) };
}

export function isOrphaned({ connection }: Context, hash: string): boolean {
  const found = connection.sql(`SELECT 1 FROM orphaned_files l WHERE l.hash = ? AND NOT ${IS_REFERENCED}`);
  return found.get(Buffer.from(hash, "hex")) !== undefined;
}

export function forgetOrphanedFiles({ connection }: Context, hashes: readonly string[]): void {
  connection.write(() => {
    for (const hash of hashes)
      connection.sql("DELETE FROM orphaned_files WHERE hash = ?").run(Buffer.from(hash, "hex"));
  });
}

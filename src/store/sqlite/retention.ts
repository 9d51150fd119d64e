import { decodeId } from "../../domain/ids.ts";
import { TASK_STATES, type TaskState, TERMINAL_RUN_STATES } from "../../domain/states.ts";
import { type Context, rows } from "./context.ts";
import { changeCounters } from "./counters.ts";

const ended = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");

/**
 * The row of the run is marked first, and every reader leaves marked runs out: nobody sees half of one, and a removal
 * that was interrupted goes on from the mark. What is still in somebody's hands (open streams) is not touched.
 */
export function expireCrawls(context: Context, endedBefore: number, limit: number, now: number): number {
  const { connection } = context;
  const isOver = `kind = 'crawl' AND parent_run IS NULL AND removing_at IS NULL AND finished_at <= ?1 AND status IN (${ended}) AND open_streams = 0`;
  const withoutJob = `SELECT n, id FROM runs INDEXED BY runs_expiring WHERE job IS NULL AND ${isOver} ORDER BY finished_at LIMIT ?2`;
  const ofDeletedJobs = `SELECT n, id FROM deleted_jobs d CROSS JOIN runs INDEXED BY runs_by_job ON runs.job = d.job
    WHERE d.deleted_at <= ?1 AND ${isOver} LIMIT ?2`;
  const expired = () =>
    [withoutJob, ofDeletedJobs]
      .flatMap((find) => rows<{ n: number; id: string }>(connection.sql(find).all(endedBefore, limit)))
      .slice(0, limit);
  // Most of the time there is nothing to do, and then nothing is written.
  if (expired().length === 0) return 0;
  return connection.write(() => {
    const list = expired();
    for (const { n, id } of list) {
      connection.sql("UPDATE runs SET removing_at = ? WHERE n = ?").run(now, n);
      // A repeated call must not be answered with the id of something that is not there.
      connection.sql("DELETE FROM answers WHERE json_extract(answer, '$.id') = ?").run(id);
      connection.sql("DELETE FROM budgets WHERE key = (SELECT budget FROM runs WHERE n = ?)").run(n);
    }
    connection
      .sql(
        `DELETE FROM deleted_jobs WHERE NOT EXISTS
           (SELECT 1 FROM runs WHERE runs.job = deleted_jobs.job AND kind = 'crawl' AND removing_at IS NULL)`,
      )
      .run();
    return list.length;
  });
}

/** In an order in which the books are right at any point: what a task has yielded, the task, what counts it, the run. */
export function removeExpired(context: Context, limit: number): number {
  const { connection } = context;
  const find = connection.sql("SELECT n FROM runs WHERE removing_at IS NOT NULL ORDER BY n LIMIT 1");
  if (find.get() === undefined) return 0;
  return connection.write(() => {
    const run = (find.get() as { n: number } | undefined)?.n;
    if (run === undefined) return 0;
    let removed = 0;
    for (const step of STEPS) {
      removed += step(context, run, limit - removed);
      if (removed >= limit) return removed;
    }
    return removed + Number(connection.sql("DELETE FROM runs WHERE n = ?").run(run).changes);
  });
}

type Step = (context: Context, run: number, limit: number) => number;

/** Removes rows that name the run, by the key of their table. */
const removeFrom =
  (table: string, key: string): Step =>
  ({ connection }, run, limit) =>
    Number(
      connection
        .sql(`DELETE FROM ${table} WHERE run = ?1 AND ${key} IN (SELECT ${key} FROM ${table} WHERE run = ?1 LIMIT ?2)`)
        .run(run, limit).changes,
    );

const removeArtifacts: Step = (context, run, limit) =>
  dropArtifacts(context, "n IN (SELECT n FROM artifacts WHERE run = ? ORDER BY n LIMIT ?)", run, limit);

/** Removes rows, and notes their files, which a later sweep removes unless another row names them. */
export function dropArtifacts({ connection }: Context, which: string, ...values: (string | number)[]): number {
  connection
    .sql(`INSERT INTO loose_files SELECT DISTINCT hash FROM artifacts WHERE ${which} ON CONFLICT DO NOTHING`)
    .run(...values);
  return Number(connection.sql(`DELETE FROM artifacts WHERE ${which}`).run(...values).changes);
}

/** By their public ids. */
export function dropFiles(context: Context, ids: readonly string[]): number {
  const numbers = ids.map((id) => decodeId(context.instance, "artifact", id)).filter((row) => row !== null);
  if (numbers.length === 0) return 0;
  return context.connection.write(() =>
    dropArtifacts(context, "n IN (SELECT value FROM json_each(?))", JSON.stringify(numbers)),
  );
}

/** Files that were stored for rows which are not written. */
export function noteLoose({ connection }: Context, files: readonly { hash: string }[]): void {
  for (const { hash } of files)
    connection.sql("INSERT INTO loose_files VALUES (?) ON CONFLICT DO NOTHING").run(Buffer.from(hash, "hex"));
}

const removeTasks: Step = (context, run, limit) => {
  const { connection } = context;
  const list = rows<{ id: number; stream: number; state: number }>(
    connection
      .sql(
        // Said as the partial index says it.
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

const STEPS: readonly Step[] = [
  removeFrom("results", "n"),
  removeArtifacts,
  removeTasks,
  removeFrom("streams", "id"),
  removeFrom("aliases", "key_hash"),
  removeFrom("contents", "hash"),
  removeFrom("run_traps", "run"),
  removeFrom("run_errors", "code"),
  removeFrom("events", "n"),
];

const IS_NAMED = "EXISTS (SELECT 1 FROM artifacts a WHERE a.hash = l.hash)";

export function looseFiles(
  { connection }: Context,
  options: { after?: string; limit: number },
): { loose: string[]; last: string | null } {
  const after = Buffer.from(options.after ?? "", "hex");
  const list = rows<{ hash: Uint8Array; named: number }>(
    connection
      .sql(`SELECT l.hash, ${IS_NAMED} AS named FROM loose_files l WHERE l.hash > ? ORDER BY l.hash LIMIT ?`)
      .all(after, options.limit),
  );
  const named = list.filter((row) => row.named === 1);
  if (named.length > 0)
    connection.write(() => {
      // Asked again: who named it may have been removed since.
      for (const { hash } of named)
        connection.sql(`DELETE FROM loose_files AS l WHERE l.hash = ? AND ${IS_NAMED}`).run(hash);
    });
  const hex = (row: { hash: Uint8Array }) => Buffer.from(row.hash).toString("hex");
  const last = list.length < options.limit ? undefined : list.at(-1);
  return { loose: list.filter((row) => row.named === 0).map(hex), last: last === undefined ? null : hex(last) };
}

export function isLoose({ connection }: Context, hash: string): boolean {
  const found = connection.sql(`SELECT 1 FROM loose_files l WHERE l.hash = ? AND NOT ${IS_NAMED}`);
  return found.get(Buffer.from(hash, "hex")) !== undefined;
}

export function forgetLoose({ connection }: Context, hashes: readonly string[]): void {
  connection.write(() => {
    for (const hash of hashes) connection.sql("DELETE FROM loose_files WHERE hash = ?").run(Buffer.from(hash, "hex"));
  });
}

/** Pages of a run that are kept until its records are compared with those before. */
import { encodeId } from "../../../domain/run/ids.ts";
import type { BodyForm } from "../../../domain/page/fixture.ts";
import type { TaskState } from "../../../domain/run/states.ts";
import type { SettledTask } from "../../ports/port.ts";
import type { RunPageRecord } from "../../ports/repair-port.ts";
import { type Context, rows } from "../kernel/context.ts";
import { recordOrphanedFiles } from "./orphaned-files.ts";

interface PageRow {
  n: number;
  task: number;
  url: string;
  content_type: string | null;
  form: string;
  hash: Uint8Array;
  size: number;
  sealed: number;
}

/** Whether the task may have ended before with a page that was kept, and was tried again. */
export function mayHavePage({ attempts, runKind }: SettledTask["task"]): boolean {
  return (
    runKind !== "workflow" &&
    attempts.some(({ failure_reason: reason }) => reason === null || reason === "field_missing")
  );
}

/** Keeps the page of an ended task, in place of the one that an earlier end of the task kept. */
export function keepRunPage(context: Context, { task, report }: SettledTask, run: number, state: TaskState): void {
  const page = state === "skipped" ? undefined : report?.keptPage;
  if (page === undefined) {
    // The task gives other records now.
    if (mayHavePage(task)) replacePage(context, task.row);
    return;
  }
  const { connection } = context;
  // A task without a history has no page yet.
  if (task.attempts.length > 0) replacePage(context, task.row);
  connection
    .sql(
      `INSERT INTO run_pages (job, run, task, url, content_type, form, hash, size, sealed)
       SELECT j.n, r.n, ?, ?, ?, ?, ?, ?, ? FROM runs r JOIN jobs j ON j.id = r.job WHERE r.n = ?`,
    )
    .run(
      task.row,
      page.url,
      page.contentType,
      page.form,
      Buffer.from(page.hash, "hex"),
      page.size,
      page.isSealed ? 1 : 0,
      run,
    );
}

function replacePage(context: Context, task: number): void {
  const { connection } = context;
  const before = connection.sql("SELECT hash FROM run_pages WHERE task = ?").get(task) as
    | { hash: Uint8Array }
    | undefined;
  if (before === undefined) return;
  recordOrphanedFiles(context, [Buffer.from(before.hash).toString("hex")]);
  // The file is deleted next.
  connection.dialect.outliveCrash(connection);
  connection.sql("DELETE FROM run_pages WHERE task = ?").run(task);
}

export function readRunPages(
  { connection, instance }: Context,
  runId: string,
  { after = 0, limit }: { after?: number; limit: number },
): RunPageRecord[] {
  const list = connection
    .sql(
      `SELECT p.n, p.task, p.url, p.content_type, p.form, p.hash, p.size, p.sealed
       FROM runs r JOIN run_pages p ON p.run = r.n WHERE r.id = ? AND r.removing_at IS NULL AND p.n > ?
       ORDER BY p.n LIMIT ?`,
    )
    .all(runId, after, limit);
  return rows<PageRow>(list).map((row) => ({
    number: row.n,
    taskId: encodeId(instance, "task", row.task),
    url: row.url,
    contentType: row.content_type,
    form: row.form as BodyForm,
    hash: Buffer.from(row.hash).toString("hex"),
    size: row.size,
    isSealed: row.sealed === 1,
  }));
}

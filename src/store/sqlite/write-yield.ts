/** Files and records that tasks leave. */
import type { TaskArtifact } from "../../domain/outcome.ts";
import type { ClaimedTask, SettledTask } from "../port.ts";
import type { Context } from "./context.ts";
import { duplicateOf } from "./frontier.ts";
import { dropArtifacts } from "./retention.ts";

/** Files and records of a task. Settling a task again replaces all of them. */
export function writeYield(
  context: Context,
  settled: SettledTask,
  verdict: Extract<SettledTask["verdict"], { kind: "completed" }>,
  now: number,
): void {
  const { connection } = context;
  const { task } = settled;
  if (task.attempts.length > 0) {
    dropArtifacts(context, REPLACED, task.row);
    connection.sql("DELETE FROM results WHERE task = ?").run(task.row);
  }
  writeArtifacts(context, task, verdict.artifacts, now);
  const first = duplicateOf(context, settled);
  for (const [ordinal, result] of verdict.results.entries()) {
    const data = first === null ? result : { ...(result as object), duplicate_of: first };
    connection
      .sql(
        "INSERT INTO results (task, ordinal, data, created_at, run) VALUES (?, ?, ?, ?, (SELECT run FROM streams WHERE id = ?))",
      )
      .run(task.row, ordinal, JSON.stringify(data ?? null), now, task.streamId);
  }
}

/** What sent the page to another site stays: it is not asked there again. */
export const REPLACED = "task = ? AND role IS NOT 'redirect'";

export function writeArtifacts(
  { connection }: Context,
  task: ClaimedTask,
  files: readonly TaskArtifact[],
  now: number,
): void {
  for (const file of files) {
    connection
      .sql(
        `INSERT INTO artifacts (task, ordinal, hash, size, content_type, url, created_at, role, run)
         VALUES (?1, (SELECT coalesce(max(ordinal) + 1, 0) FROM artifacts WHERE task = ?1), ?2, ?3, ?4, ?5, ?6, ?7,
           (SELECT run FROM streams WHERE id = ?8))`,
      )
      .run(
        task.row,
        Buffer.from(file.hash, "hex"),
        file.size,
        file.contentType,
        file.url,
        now,
        file.role ?? null,
        task.streamId,
      );
  }
}

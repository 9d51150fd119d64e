import type { Failure, FailureCode, FailureReason } from "../../domain/failure.ts";
import { encodeId } from "../../domain/ids.ts";
import type { RunErrorRecord } from "../progress-port.ts";
import { type Context, rows, STATE } from "./context.ts";

interface ErrorRow {
  code: FailureCode;
  reason: FailureReason;
  count: number;
  example_task: number;
  example_message: string;
}

/** What failed of a run, by reason; its index begins with the run. */
export function errorRows({ connection }: Context, run: number): ErrorRow[] {
  return rows<ErrorRow>(connection.sql("SELECT * FROM run_errors WHERE run = ? ORDER BY count DESC, reason").all(run));
}

export function readErrors(context: Context, run: number): RunErrorRecord[] {
  const { connection, instance } = context;
  return errorRows(context, run).map((row) => ({
    code: row.code,
    reason: row.reason,
    count: row.count,
    exampleTaskId: encodeId(instance, "task", row.example_task),
    exampleUrl: (connection.sql("SELECT url FROM tasks WHERE id = ?").get(row.example_task)?.["url"] ?? null) as
      | string
      | null,
    exampleMessage: row.example_message,
  }));
}

/** Counts a task that failed, in the transaction in which it did. */
export function countError({ connection }: Context, task: { row: number; runId: string }, failure: Failure): void {
  connection
    .sql(
      `INSERT INTO run_errors (run, code, reason, count, example_task, example_message)
       SELECT n, ?, ?, 1, ?, ? FROM runs WHERE id = ? ON CONFLICT DO UPDATE SET count = count + 1`,
    )
    .run(failure.code, failure.reason, task.row, failure.message, task.runId);
}

/** Failed tasks were given another try: they count no more, and what they were the example of gets another one. */
export function uncountErrors({ connection }: Context, run: number, requeued: ReadonlyMap<string, number>): void {
  for (const [reason, count] of requeued) {
    connection.sql("UPDATE run_errors SET count = count - ? WHERE run = ? AND reason = ?").run(count, run, reason);
    connection.sql("DELETE FROM run_errors WHERE run = ? AND reason = ? AND count <= 0").run(run, reason);
    connection
      .sql(
        `UPDATE run_errors AS e SET (example_task, example_message) =
           (SELECT t.id, json_extract(t.outcome, '$.failure.message') FROM streams s
            JOIN tasks t ON t.stream = s.id AND t.state = ${STATE.failed} AND json_extract(t.outcome, '$.failure.reason') = e.reason
            WHERE s.run = e.run AND s.failed > 0 AND s.aside = 0 LIMIT 1)
         WHERE e.run = ? AND e.reason = ? AND (SELECT state FROM tasks WHERE id = e.example_task) <> ${STATE.failed}`,
      )
      .run(run, reason);
  }
}

import type { Failure, FailureCode, FailureReason } from "../../../domain/run/failure.ts";
import { encodeId } from "../../../domain/run/ids.ts";
import { RETRIES_READ, type RunErrorRecord } from "../../ports/progress-port.ts";
import { type Context, mergeFacts, rows, STATE } from "../kernel/context.ts";

interface ErrorRow {
  code: FailureCode;
  reason: FailureReason;
  count: number;
  example_task: number;
  example_message: string;
}

/** Failures of a run by reason; the primary key begins with the run. */
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

const RETRY_REASONS = `SELECT g.code, g.reason, g.count, g.task, g.next, t.url,
    json_extract(t.outcome, '$.failure.message') AS message FROM (
  SELECT code, reason, count(*) AS count, min(id) AS task, min(ready_at) AS next FROM (
    SELECT t.id, t.ready_at, json_extract(t.outcome, '$.failure.code') AS code, json_extract(t.outcome, '$.failure.reason') AS reason
    FROM streams s INDEXED BY streams_retrying_of_run JOIN tasks t ON t.stream = s.id AND t.state = ${STATE.retrying}
    WHERE s.run = ? AND s.retrying > 0 AND s.auxiliary = 0 LIMIT ${RETRIES_READ}
  ) AS seen WHERE reason IS NOT NULL GROUP BY code, reason
) AS g JOIN tasks t ON t.id = g.task ORDER BY g.count DESC, g.reason`;

export function readRetryReasons({ connection, instance }: Context, run: number): RunErrorRecord[] {
  type RetryRow = Pick<ErrorRow, "code" | "reason" | "count"> & {
    task: number;
    next: number;
    url: string | null;
    message: string;
  };
  return rows<RetryRow>(connection.sql(RETRY_REASONS).all(run)).map((row) => ({
    code: row.code,
    reason: row.reason,
    count: row.count,
    exampleTaskId: encodeId(instance, "task", row.task),
    exampleUrl: row.url,
    exampleMessage: row.message,
    nextTryAt: row.next,
  }));
}

const COUNT = `INSERT INTO run_errors (run, code, reason, count, example_task, example_message)
  SELECT n, ?, ?, 1, ?, ? FROM runs WHERE id = ? ON CONFLICT (run, code, reason) DO UPDATE SET count = run_errors.count + 1`;
/** The first failure with a screenshot or snapshot becomes the example. */
const COUNT_SHOWN = `${COUNT}, (example_task, example_message) = (
    SELECT task, message FROM (
      SELECT 0 AS priority, run_errors.example_task AS task, run_errors.example_message AS message
      WHERE EXISTS (SELECT 1 FROM artifacts a WHERE a.task = run_errors.example_task AND a.role IN ('screenshot', 'snapshot'))
      UNION ALL SELECT 1, excluded.example_task, excluded.example_message
    ) AS found ORDER BY priority LIMIT 1)`;

/** Counts a failed task, in the transaction of its failure. `isShown`: there is evidence to look at. */
export function countError(
  { connection }: Context,
  task: { row: number; runId: string },
  failure: Failure,
  isShown = false,
): void {
  connection
    .sql(isShown ? COUNT_SHOWN : COUNT)
    .run(failure.code, failure.reason, task.row, failure.message, task.runId);
}

/** Uncounts requeued tasks, and replaces examples among them. */
export function uncountErrors({ connection }: Context, run: number, requeued: ReadonlyMap<string, number>): void {
  for (const [reason, count] of requeued) {
    connection.sql("UPDATE run_errors SET count = count - ? WHERE run = ? AND reason = ?").run(count, run, reason);
    connection.sql("DELETE FROM run_errors WHERE run = ? AND reason = ? AND count <= 0").run(run, reason);
    connection
      .sql(
        `UPDATE run_errors AS e SET (example_task, example_message) =
           (SELECT t.id, json_extract(t.outcome, '$.failure.message') FROM streams s
            JOIN tasks t ON t.stream = s.id AND t.state = ${STATE.failed} AND json_extract(t.outcome, '$.failure.reason') = e.reason
            WHERE s.run = e.run AND s.failed > 0 AND s.auxiliary = 0 LIMIT 1)
         WHERE e.run = ? AND e.reason = ? AND (SELECT state FROM tasks WHERE id = e.example_task) <> ${STATE.failed}`,
      )
      .run(run, reason);
  }
}

/** A page that ended without an attempt (its site was given up) still reports why, not an earlier reason. */
export function recordFailureFacts(context: Context, runId: string, { code, reason, message }: Failure): void {
  const { n } = context.connection.sql("SELECT n FROM runs WHERE id = ?").get(runId) as { n: number };
  mergeFacts(context, n, { failure_code: code, failure_reason: reason, error_message: message });
}

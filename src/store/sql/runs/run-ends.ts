import { logChange } from "../kernel/audit-entry.ts";
import { OrbError } from "../../../base/errors.ts";
import { failure } from "../../../domain/run/failure.ts";
import type { RunFacts } from "../../../domain/run/run-facts.ts";
import { TERMINAL_RUN_STATES, type TaskState } from "../../../domain/run/states.ts";
import type { RunRecord } from "../../ports/port.ts";
import {
  appendEvent,
  bumpControl,
  type Context,
  mergeFacts,
  rows,
  stampIdleLanesOfRun,
  STATE,
} from "../kernel/context.ts";
import { moveRun } from "./move-run.ts";
import { changeCounters } from "../kernel/counters.ts";
import { endRunIfDone } from "./end-run.ts";
import { readRun, requireRun } from "./runs.ts";
import { isFree } from "../lanes/owner-rule.ts";
import { lockRuns } from "../kernel/lock-runs.ts";

const WAITING: readonly TaskState[] = ["pending", "queued", "retrying"];
const ended = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");

export const ENDED_RUN_WITH_OPEN_TASKS = `SELECT 1 FROM runs r WHERE r.status IN (${ended}) AND r.open_streams > 0`;

const LANE_IS_UNOWNED = isFree("l", "?2");

/**
 * Cancels tasks that ended runs left waiting, in batches: a million tasks must not hold the lock. Includes running
 * tasks of dead owners, since lanes of ended runs are offered to no later owner that would requeue them.
 */
export function sweepEnded(context: Context, limit: number, now: number, runId?: string): number {
  const { connection, leaseNow } = context;
  // Usually nothing is left, and then nothing is written.
  if (runId === undefined && connection.sql(`${ENDED_RUN_WITH_OPEN_TASKS} LIMIT 1`).get() === undefined) return 0;
  return connection.write(() => {
    const run = runId === undefined ? null : requireRun(context, runId).n;
    const streams = rows<{ id: number; orphaned: number } & Record<TaskState, number>>(
      connection
        .sql(
          `SELECT s.*, ${LANE_IS_UNOWNED} AS orphaned FROM runs r JOIN streams s ON s.run = r.n
             JOIN lanes l ON l.id = s.lane
           WHERE r.status IN (${ended}) AND r.open_streams > 0 AND (CAST(?1 AS BIGINT) IS NULL OR r.n = ?1)
             AND (s.pending + s.queued + s.retrying > 0 OR (s.running > 0 AND ${LANE_IS_UNOWNED}))
           ORDER BY r.n LIMIT 1000`,
        )
        .all(run, leaseNow()),
    );
    let swept = 0;
    for (const stream of streams) {
      for (const state of stream.orphaned === 1 ? [...WAITING, "running" as const] : WAITING) {
        if (stream[state] === 0 || swept >= limit) continue;
        const changed = Number(
          connection
            .sql(
              `UPDATE tasks SET state = ${STATE.cancelled}, ended_at = ? WHERE id IN
               (SELECT id FROM tasks WHERE stream = ? AND state = ${STATE[state]} LIMIT ?)`,
            )
            .run(now, stream.id, limit - swept).changes,
        );
        changeCounters(context, stream.id, { [state]: -changed, cancelled: changed });
        swept += changed;
      }
    }
    return swept;
  });
}

/** A person's answer: a session to continue with, or to skip the page. */
export function answerHuman(
  context: Context,
  id: string,
  answer: { sessionId: string } | { skip: string },
  now: number,
): RunRecord {
  const { connection } = context;
  return connection.write(
    () => {
      lockRuns(context, [id]);
      const run = requireRun(context, id);
      if (run.status !== "waiting_for_human")
        throw new OrbError("illegal_transition", `the run is ${run.status} and does not wait for a person`);
      logChange(context, "run.answered", { kind: "run", id }, { after: answer });
      if ("sessionId" in answer) {
        mergeFacts(context, run.n, { session_id: answer.sessionId });
        // Answered tasks no longer wait: a later skip is for others.
        connection
          .sql(
            `UPDATE tasks SET outcome = json_remove(outcome, '$.human') WHERE state = ${STATE.queued}
               AND stream IN (SELECT id FROM streams WHERE run = ? AND queued > 0) AND json_extract(outcome, '$.human') IS NOT NULL`,
          )
          .run(run.n);
        const message = "Run resumed: a person supplied a session";
        const meta = { session_id: answer.sessionId };
        moveRun(context, run.n, "running", { type: "run.resumed", message, meta }, now);
        stampIdleLanesOfRun(context, run.n);
      } else skipWaiting(context, run, answer.skip, now);
      bumpControl(context);
      return readRun(context, id) as RunRecord;
    },
    { durable: true },
  );
}

function skipWaiting(context: Context, run: { n: number; kind: string }, why: string, now: number): void {
  const { connection } = context;
  const what = failure("human_skipped", why);
  const streams = rows<{ id: number }>(
    connection.sql("SELECT id FROM streams WHERE run = ? AND queued > 0").all(run.n),
  );
  for (const { id } of streams) {
    const skipped = Number(
      connection
        .sql(
          `UPDATE tasks SET state = ${STATE.skipped}, ended_at = ?, outcome = ? WHERE stream = ? AND state = ${STATE.queued}
             AND json_extract(outcome, '$.human') IS NOT NULL`,
        )
        .run(now, JSON.stringify({ why, failure: what }), id).changes,
    );
    if (skipped > 0) changeCounters(context, id, { queued: -skipped, skipped });
  }
  if (run.kind !== "page") {
    const message = "Run resumed: a person skipped the waiting page";
    moveRun(context, run.n, "running", { type: "run.resumed", message }, now);
    stampIdleLanesOfRun(context, run.n);
    endRunIfDone(context, run.n, now);
    return;
  }
  const facts: RunFacts = { failure_code: what.code, failure_reason: what.reason, error_message: why };
  mergeFacts(context, run.n, facts);
  moveRun(context, run.n, "failed", { type: "run.failed", message: `Run failed: ${why}`, meta: facts }, now);
}

/** Makes a run wait for a person; if it was paused meanwhile, that happens when it continues. */
export function waitForHuman(context: Context, run: number, message: string, meta: unknown, now: number): void {
  const { connection } = context;
  const { status } = connection.sql("SELECT status FROM runs WHERE n = ?").get(run) as { status: string };
  const event = { type: "run.waiting_for_human", message, meta } as const;
  if (status === "running") moveRun(context, run, "waiting_for_human", event, now);
  else appendEvent(context, run, { ...event, level: "warn" }, now);
  bumpControl(context);
}

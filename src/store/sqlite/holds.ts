/** Runs that wait for something else to happen: they are offered to nobody until they are released. */
import type { Failure } from "../../domain/failure.ts";
import type { RunFacts } from "../../domain/run-facts.ts";
import { type HoldReason, type RunHold, waitForTurn } from "../../domain/run-hold.ts";
import { type RunState, TERMINAL_RUN_STATES } from "../../domain/states.ts";
import type { HoldVerbs } from "../hold-port.ts";
import { appendEvent, bumpControl, type Context, mergeFacts, parseJson, rows, stampIdleLanesOfRun } from "./context.ts";
import { STREAM_IS_OPEN } from "./lanes.ts";
import { letGoOn, moveRun, RAN_UNTIL } from "./move-run.ts";
import { runBegins } from "./site-deps.ts";
import { readRun, requireRun, tellHold } from "./runs.ts";

export function holdVerbs(context: Context): HoldVerbs {
  return {
    holdRun: async (id, hold, now) => holdRun(context, id, hold, now),
    releaseRuns: async (ids, reason, event, now) => releaseRuns(context, ids, reason, event, now),
    failHeldRun: async (id, reason, failure, now) => failHeldRun(context, id, reason, failure, now),
    heldRuns: async (reason, limit) => readHeldRuns(context, reason, limit),
  };
}

function holdRun(context: Context, id: string, hold: RunHold, now: number): boolean {
  return context.connection.write(
    () => {
      const run = requireRun(context, id);
      if (run.hold !== null || TERMINAL_RUN_STATES.includes(run.status)) return false;
      putOnHold(context, run.n, hold, now);
      // Whoever has taken tasks of it and not begun them gives them back.
      bumpControl(context);
      return true;
    },
    { durable: true },
  );
}

interface HeldRow {
  n: number;
  id: string;
  kind: string;
  status: RunState;
}

const HELD_FOR = "hold IS NOT NULL AND json_extract(hold, '$.reason') = ?";

function releaseRuns(
  context: Context,
  ids: readonly string[],
  reason: HoldReason,
  event: { level: "info" | "warn"; message: string },
  now: number,
): { released: string[]; lanes: string[] } {
  const { connection } = context;
  return connection.write(
    () => {
      const held = rows<HeldRow>(
        connection
          .sql(
            `SELECT n, id, kind, status FROM runs WHERE ${HELD_FOR} AND id IN (SELECT value FROM json_each(?)) ORDER BY n`,
          )
          .all(reason, JSON.stringify(ids)),
      );
      const lanes = new Set<string>();
      for (const run of held) {
        const { n } = run;
        appendEvent(context, n, event, now);
        goesOn(context, run, now);
        stampIdleLanesOfRun(context, n);
        const own = connection
          .sql(
            `SELECT DISTINCT l.lane FROM streams s JOIN lanes l ON l.id = s.lane WHERE s.run = ? AND ${STREAM_IS_OPEN}`,
          )
          .all(n);
        for (const { lane } of rows<{ lane: string }>(own)) lanes.add(lane);
      }
      if (held.length > 0) bumpControl(context);
      return { released: held.map(({ id }) => id), lanes: [...lanes] };
    },
    { durable: true },
  );
}

/** A crawl that had begun has given its place back. Whoever needs none goes on at once. */
function goesOn(context: Context, { n, kind, status }: HeldRow, now: number): void {
  if (kind === "crawl" && status === "running") putOnHold(context, n, waitForTurn(now), now);
  else {
    letGoOn(context, n, now);
    runBegins(context, n);
  }
}

/** Its time stands still, and the place of a crawl is free for another one. */
function putOnHold(context: Context, run: number, hold: RunHold, now: number): void {
  context.connection
    .sql(`UPDATE runs SET hold = ?1, ran_ms = ${RAN_UNTIL("?2")}, running_since = NULL WHERE n = ?3`)
    .run(JSON.stringify(hold), now, run);
  tellHold(context, run, hold, now);
}

function failHeldRun(context: Context, id: string, reason: HoldReason, failure: Failure, now: number): boolean {
  return context.connection.write(
    () => {
      const run = requireRun(context, id);
      if (parseJson<RunHold | null>(run.hold, null)?.reason !== reason) return false;
      const { code, reason: why, message } = failure;
      const told = { failure_code: code, failure_reason: why, error_message: message };
      // What was not begun goes on when the run is tried again.
      const left = { ...parseJson<RunFacts>(run.facts, {}).left, proxies: true };
      mergeFacts(context, run.n, { ...told, left });
      if (run.kind === "workflow")
        context.connection
          .sql("UPDATE workflows SET error_message = coalesce(error_message, ?) WHERE run = ?")
          .run(message, run.n);
      moveRun(context, run.n, "failed", `Run failed: ${message}`, now, told);
      bumpControl(context);
      return true;
    },
    { durable: true },
  );
}

function readHeldRuns(context: Context, reason: HoldReason, limit: number): Awaited<ReturnType<HoldVerbs["heldRuns"]>> {
  const held = context.connection.sql(`SELECT id FROM runs WHERE ${HELD_FOR} ORDER BY n LIMIT ?`).all(reason, limit);
  return rows<{ id: string }>(held).flatMap(({ id }) => {
    const run = readRun(context, id);
    return run === null || run.hold === null ? [] : [{ ...run, hold: run.hold }];
  });
}

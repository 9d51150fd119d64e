import { randomUUID } from "node:crypto";
import { OrbError } from "../../base/errors.ts";
import { encodeId } from "../../domain/ids.ts";
import { canRunMove, TERMINAL_RUN_STATES, type RunState } from "../../domain/states.ts";
import type { EventRecord, NewRun, RunRecord } from "../port.ts";
import {
  appendEvent,
  bumpControl,
  type Context,
  endRunIfDone,
  moveRun,
  parseJson,
  reopenRun,
  rows,
  stampIdleLanesOfRun,
} from "./context.ts";

interface RunRow {
  n: number;
  id: string;
  kind: string;
  alias: string | null;
  status: RunState;
  generation: number;
  open_streams: number;
  max_attempts: number | null;
  snapshot: string;
  message: string | null;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
}

function toRecord(row: RunRow): RunRecord {
  return {
    id: row.id,
    kind: row.kind,
    alias: row.alias,
    status: row.status,
    generation: row.generation,
    maxAttempts: row.max_attempts,
    snapshot: JSON.parse(row.snapshot),
    message: row.message,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}

export function runRow({ connection }: Context, id: string): RunRow | null {
  return (connection.sql("SELECT * FROM runs WHERE id = ?").get(id) as RunRow | undefined) ?? null;
}

export function requireRun(context: Context, id: string): RunRow {
  const row = runRow(context, id);
  if (row === null) throw new OrbError("not_found", `there is no run with the id ${id}`);
  return row;
}

export function readRun(context: Context, id: string): RunRecord | null {
  const row = runRow(context, id);
  return row === null ? null : toRecord(row);
}

export function readRunByAlias({ connection }: Context, alias: string): RunRecord | null {
  const row = connection.sql("SELECT * FROM runs WHERE alias = ?").get(alias) as RunRow | undefined;
  return row === undefined ? null : toRecord(row);
}

export function openRun(context: Context, run: NewRun, now: number): RunRecord {
  const { connection } = context;
  return connection.write(
    () => {
      const existing = run.alias === undefined ? null : readRunByAlias(context, run.alias);
      if (existing !== null) return existing;
      const row = connection
        .sql(
          `INSERT INTO runs (id, kind, alias, status, max_attempts, snapshot, created_at)
           VALUES (?, ?, ?, 'queued', ?, ?, ?) RETURNING *`,
        )
        .get(
          randomUUID(),
          run.kind,
          run.alias ?? null,
          run.maxAttempts,
          JSON.stringify(run.snapshot ?? null),
          now,
        ) as unknown as RunRow;
      appendEvent(context, row.n, { level: "info", message: "Run created", meta: { kind: run.kind } }, now);
      return toRecord(row);
    },
    { durable: true },
  );
}

export function changeRun(context: Context, id: string, to: RunState, message: string, now: number): RunRecord {
  return context.connection.write(
    () => {
      const row = requireRun(context, id);
      if (!canRunMove(row.status, to)) {
        throw new OrbError("illegal_transition", `a run that is ${row.status} cannot become ${to}`);
      }
      if (TERMINAL_RUN_STATES.includes(row.status)) reopenRun(context, row.n, message, now, to);
      else moveRun(context, row.n, to, message, now);
      if (to === "running") {
        stampIdleLanesOfRun(context, row.n);
        // What was in flight when the run was paused may have been the last of it.
        endRunIfDone(context, row.n, now);
      }
      bumpControl(context);
      return toRecord(requireRun(context, id));
    },
    { durable: true },
  );
}

interface EventRow {
  n: number;
  seq: number;
  level: EventRecord["level"];
  message: string;
  meta: string | null;
  created_at: number;
}

export function readEvents(context: Context, runId: string, options: { after?: number; limit: number }): EventRecord[] {
  const run = requireRun(context, runId);
  const list = context.connection
    .sql("SELECT n, seq, level, message, meta, created_at FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?")
    .all(run.n, options.after ?? 0, options.limit);
  return rows<EventRow>(list).map((row) => ({
    id: encodeId(context.instance, "event", row.n),
    seq: row.seq,
    level: row.level,
    message: row.message,
    meta: parseJson(row.meta, {}),
    createdAt: row.created_at,
  }));
}

/** Runs on hold: they are offered to no owner until they are released. */
import type { Failure } from "../../../domain/run/failure.ts";
import { type HeldRun, type HoldReason, type RunHold, waitForTurn } from "../../../domain/run/run-hold.ts";
import { type RunState, TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { HoldStore } from "../../ports/hold-port.ts";
import { appendEvent, bumpControl, type Context, parseJson, rows, stampIdleLanesOfRun } from "../kernel/context.ts";
import { endWithoutProxies } from "./end-run.ts";
import { STREAM_IS_OPEN } from "../lanes/lanes.ts";
import { clearHold } from "./move-run.ts";
import { requireRun } from "./runs.ts";
import { stampStartEvent } from "../sites/site-deps.ts";
import { proxyHoldOfRun, STOPPED, writeHold } from "../lanes/write-hold.ts";

export function holdStore(context: Context): HoldStore {
  return {
    holdRun: async (id, hold, now, triedMs = 0) => holdRun(context, id, hold, now, triedMs),
    releaseRuns: async (ids, reason, event, now) => releaseRuns(context, ids, reason, event, now),
    failHeldRun: async (id, reason, failure, now) => failHeldRun(context, id, reason, failure, now),
    heldRuns: async (reason, limit, after) => readHeldRuns(context, reason, limit, after),
  };
}

function holdRun(context: Context, id: string, hold: RunHold, now: number, triedMs: number): boolean {
  return context.connection.write(
    () => {
      const run = requireRun(context, id);
      if (run.hold !== null || TERMINAL_RUN_STATES.includes(run.status)) return false;
      const before = stallOf(context, run);
      const stall: Stall = { ...before, ms: before.ms + triedMs, waits: before.waits + 1 };
      context.connection.sql("UPDATE runs SET stall = ? WHERE n = ?").run(JSON.stringify(stall), run.n);
      const until = hold.until === null ? null : Math.max(now, hold.until - before.ms);
      writeHold(context, run.n, { ...hold, until }, now);
      // Owners release tasks they have claimed but not started.
      bumpControl(context);
      return true;
    },
    { durable: true },
  );
}

/** How long a run has made no progress, and how often it was held meanwhile. */
interface Stall {
  ms: number;
  waits: number;
  /** Ended tasks at that time. */
  ended: number;
}

/** Resets as soon as a task has ended since. */
function stallOf({ connection }: Context, run: { n: number; stall: string | null }): Stall {
  const { ended } = connection
    .sql("SELECT coalesce(sum(completed + failed + skipped), 0) AS ended FROM streams WHERE run = ?")
    .get(run.n) as { ended: number };
  const known = parseJson<Stall | null>(run.stall, null);
  return known?.ended === ended ? known : { ms: 0, waits: 0, ended };
}

interface HeldRow {
  n: number;
  id: string;
  kind: string;
  status: RunState;
}

const HELD_FOR = "hold IS NOT NULL AND json_extract(hold, '$.reason') = ?1";

/** Only for runs that have started. */
function addHoldTime({ connection }: Context, run: number, now: number): void {
  const row = connection.sql("SELECT stall, hold FROM runs WHERE n = ?").get(run) as {
    stall: string | null;
    hold: string;
  };
  if (row.stall === null) return;
  const before = JSON.parse(row.stall) as { ms: number };
  const { since } = JSON.parse(row.hold) as RunHold;
  const stall = { ...before, ms: before.ms + Math.max(0, now - since) };
  connection.sql("UPDATE runs SET stall = ? WHERE n = ?").run(JSON.stringify(stall), run);
}

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
            `SELECT n, id, kind, status FROM runs WHERE ${HELD_FOR} AND id IN (SELECT value FROM json_each(?2)) ORDER BY n`,
          )
          .all(reason, JSON.stringify(ids)),
      );
      const lanes = new Set<string>();
      const released: string[] = [];
      for (const run of held) {
        const { n, id } = run;
        addHoldTime(context, n, now);
        appendEvent(context, n, { type: "run.released", ...event, meta: { waited_for: reason } }, now);
        const proxyHold = reason === "proxies" ? null : proxyHoldOfRun(context, n, now);
        if (proxyHold !== null) {
          writeHold(context, n, proxyHold, now);
          continue;
        }
        resumeRun(context, run, now);
        released.push(id);
        stampIdleLanesOfRun(context, n);
        const openLanes = connection
          .sql(
            `SELECT DISTINCT l.lane FROM streams s JOIN lanes l ON l.id = s.lane WHERE s.run = ? AND ${STREAM_IS_OPEN}`,
          )
          .all(n);
        for (const { lane } of rows<{ lane: string }>(openLanes)) lanes.add(lane);
      }
      if (held.length > 0) bumpControl(context);
      return { released, lanes: [...lanes] };
    },
    { durable: true },
  );
}

/** A crawl that had started lost its slot and queues again; other runs continue at once. */
function resumeRun(context: Context, { n, kind, status }: HeldRow, now: number): void {
  if (kind === "crawl" && status === "running") writeHold(context, n, waitForTurn(now), now);
  else {
    clearHold(context, n, now);
    stampStartEvent(context, n);
  }
}

function failHeldRun(context: Context, id: string, reason: HoldReason, failure: Failure, now: number): boolean {
  return context.connection.write(
    () => {
      const run = requireRun(context, id);
      if (parseJson<RunHold | null>(run.hold, null)?.reason !== reason || STOPPED.has(run.status)) return false;
      endWithoutProxies(context, run.n, failure, now);
      return true;
    },
    { durable: true },
  );
}

function readHeldRuns(
  { connection }: Context,
  reason: HoldReason,
  limit: number,
  after: string | undefined,
): HeldRun[] {
  const list = connection
    .sql(
      `SELECT id, hold, CAST(coalesce(json_extract(stall, '$.waits'), '0') AS BIGINT) AS waits FROM runs
       WHERE ${HELD_FOR} AND status NOT IN ('paused', 'waiting_for_human')
         AND n > coalesce((SELECT n FROM runs WHERE id = ?2), 0)
       ORDER BY n LIMIT ?3`,
    )
    .all(reason, after ?? null, limit);
  return rows<{ id: string; hold: string; waits: number }>(list).map(({ id, hold, waits }) => {
    return { id, hold: JSON.parse(hold) as RunHold, waits };
  });
}

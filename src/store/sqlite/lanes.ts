import { FAILED_PROBES_BEFORE_GIVING_UP } from "../../domain/circuit.ts";
import type { LaneGrant, LaneHold, LaneWork } from "../port.ts";
import { type Context, HAS_PLACE, NEVER, rows, STATE, RUN_MAY_WORK } from "./context.ts";
import { changeCounters } from "./counters.ts";
import { JOIN_WAITS, SITE_MAY_WORK, withSiteWaits } from "./site-deps.ts";
import { siteOfLane } from "./sites.ts";

/** Written as the partial index has it, so that SQLite uses the index. */
export const STREAM_IS_OPEN = "(s.queued > 0 OR s.running > 0 OR s.retrying > 0)";

/** When the first of a stream's tasks that wait to be tried again is ready: one look into an index. */
export const FIRST_RETRY = `(SELECT ready_at FROM tasks WHERE stream = s.id AND state = ${STATE.retrying} ORDER BY ready_at LIMIT 1)`;

/** In one statement: thousands of steps may sleep, each in a lane of its own. */
export function lanesWithWork({ connection, leaseNow }: Context, owner = ""): LaneWork[] {
  // Steps that wait for something else than time have nothing to do before it has come. Said in one SELECT with the rest,
  // that would look for the next retry twice.
  const open = rows<LaneRow>(
    connection
      .sql(
        `${withSiteWaits("")}, open AS MATERIALIZED (SELECT l.lane, l.owner = ? AS ours,
           sum(CASE WHEN ${HAS_PLACE} THEN s.queued ELSE 0 END + CASE WHEN l.owner = ? THEN 0 ELSE s.running END) AS ready,
           sum(CASE WHEN r.time_limit_ms IS NULL THEN s.queued ELSE 0 END) AS endless,
           min(CASE WHEN s.retrying > 0 THEN ${FIRST_RETRY} END) AS retry_at,
           coalesce(p.hold_until, 0) AS held_until, coalesce(p.breaker_open_until, 0) AS open_until,
           coalesce(p.breaker_failed_probes, 0) AS failed_probes
         FROM streams s JOIN lanes l ON l.id = s.lane JOIN runs r ON r.n = s.run
           LEFT JOIN sites p ON p.site = s.site ${JOIN_WAITS}
         WHERE ${STREAM_IS_OPEN} AND ${RUN_MAY_WORK} AND ${SITE_MAY_WORK} AND coalesce(p.paused, 0) = 0
           AND (${HAS_PLACE} OR s.running > 0 OR s.retrying > 0)
           AND (l.owner IS NULL OR l.owner = ? OR l.lease_until < ?)
         GROUP BY l.id)
         SELECT * FROM open WHERE ready > 0 OR (ours IS NOT 1 AND coalesce(retry_at, 0) < ${NEVER})`,
      )
      .all(owner, owner, owner, leaseNow()),
  );
  return open.map((row) => ({ lane: row.lane, readyAt: readyAt(row) }));
}

interface LaneRow {
  lane: string;
  ready: number;
  /** Ready tasks of runs without a time limit. */
  endless: number;
  /** When the first of those is ready that wait to be tried again; null: there is none. */
  retry_at: number | null;
  held_until: number;
  open_until: number;
  failed_probes: number;
}

/** A site that asked for patience has nothing to do before: taking its lane would only cost two transactions. */
function readyAt({ ready, endless, retry_at, held_until, open_until, failed_probes }: LaneRow): number {
  if (failed_probes < FAILED_PROBES_BEFORE_GIVING_UP || open_until === 0)
    return Math.max(held_until, open_until, ready > 0 ? 0 : (retry_at ?? 0));
  // Of a site that was given up, tasks of runs without a time limit end at once; the others wait until it is tried again.
  return endless > 0 ? 0 : Math.min(Math.max(held_until, open_until), retry_at ?? open_until);
}

export function takeLane(context: Context, lane: string, owner: string, ttlMs: number): LaneGrant | null {
  const { connection, leaseNow } = context;
  return connection.write(() => {
    const now = leaseNow();
    const row = connection
      .sql(
        `UPDATE lanes SET owner = ?, epoch = epoch + 1, lease_until = ?
         WHERE lane = ? AND (owner IS NULL OR lease_until < ?) AND EXISTS (SELECT 1 FROM engine WHERE holder = ?)
         RETURNING id, epoch`,
      )
      .get(owner, now + ttlMs, lane, now, owner) as { id: number; epoch: number } | undefined;
    if (row === undefined) return null;
    const left = rows<{ id: number }>(
      connection.sql(`SELECT s.id FROM streams s WHERE s.lane = ? AND ${STREAM_IS_OPEN} AND s.running > 0`).all(row.id),
    );
    const recovered = takeBack(
      context,
      left.map(({ id }) => id),
    );
    return { lane, laneId: row.id, epoch: row.epoch, owner, site: siteOfLane(context, row.id), recovered };
  });
}

/** A lane that was just taken, or left, has no task in flight: what says so was left by the owner before. */
export function takeBack(context: Context, streams: readonly number[]): number {
  const { connection } = context;
  let recovered = 0;
  for (const id of streams) {
    const changes = Number(
      connection.sql(`UPDATE tasks SET state = ${STATE.queued} WHERE stream = ? AND state = ${STATE.running}`).run(id)
        .changes,
    );
    changeCounters(context, id, { running: -changes, queued: changes });
    recovered += changes;
  }
  return recovered;
}

export function holdsLane({ connection }: Context, hold: LaneHold): boolean {
  return (
    connection
      .sql("SELECT 1 FROM lanes WHERE id = ? AND epoch = ? AND owner = ?")
      .get(hold.laneId, hold.epoch, hold.owner) !== undefined
  );
}

export function releaseLane(context: Context, hold: LaneHold): void {
  const { connection, leaseNow } = context;
  connection.write(() => {
    connection
      .sql("UPDATE lanes SET owner = NULL, lease_until = ? WHERE id = ? AND epoch = ? AND owner = ?")
      .run(leaseNow(), hold.laneId, hold.epoch, hold.owner);
  });
}

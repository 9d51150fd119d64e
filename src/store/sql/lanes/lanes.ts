import { FAILED_PROBES_BEFORE_GIVING_UP } from "../../../domain/lane/circuit.ts";
import type { LaneWork } from "../../ports/owner-port.ts";
import type { LaneGrant, LaneHold } from "../../ports/port.ts";
import type { Connection, Query } from "../kernel/connection.ts";
import { type Context, HAS_QUOTA, NEVER, rows, STATE, RUN_MAY_WORK } from "../kernel/context.ts";
import { changeCounters } from "../kernel/counters.ts";
import { IS_FREE, IS_OWNER } from "./owner-rule.ts";
import { JOIN_WAITS, SITE_MAY_WORK, withSiteWaits } from "../sites/site-deps.ts";
import { reshard, LANES_OF_PARENT, MAY_BE_TAKEN, othersHaveLanes } from "./shards.ts";
import { healthOfShard, siteOfLane } from "../sites/sites.ts";

/** Worded like the partial index, so that SQLite uses it. */
export const STREAM_IS_OPEN = "(s.queued > 0 OR s.running > 0 OR s.retrying > 0)";

/** When a stream's first retry is ready: one index lookup. */
export const FIRST_RETRY = `(SELECT ready_at FROM tasks WHERE stream = s.id AND state = ${STATE.retrying} ORDER BY ready_at LIMIT 1)`;

/** One statement: thousands of steps may sleep, each in its own lane. */
export function lanesWithWork({ connection, leaseNow, wallNow }: Context, owner = "", lane?: string): LaneWork[] {
  // Steps that do not wait for time have no work until they are woken. As one SELECT, this would look up the next retry
  // twice.
  const open = rows<LaneRow>(
    connection
      .sql(
        `${withSiteWaits("")}, open AS MATERIALIZED (SELECT l.lane, l.owner = ? AS ours,
           sum(CASE WHEN ${HAS_QUOTA} THEN s.queued ELSE 0 END + CASE WHEN l.owner = ? THEN 0 ELSE s.running END) AS ready,
           sum(CASE WHEN r.time_limit_ms IS NULL THEN s.queued ELSE 0 END) AS endless,
           min(CASE WHEN s.retrying > 0 THEN ${FIRST_RETRY} END) AS retry_at,
           coalesce(p.hold_until, 0) AS held_until, coalesce(p.breaker_open_until, 0) AS open_until,
           coalesce(p.breaker_failed_probes, 0) AS failed_probes, ${REST_UNTIL} AS rest_until
         FROM streams s JOIN lanes l ON l.id = s.lane JOIN runs r ON r.n = s.run
           LEFT JOIN sites p ON p.site = s.site ${JOIN_WAITS}
         WHERE ${STREAM_IS_OPEN} AND ${RUN_MAY_WORK} AND ${SITE_MAY_WORK} AND coalesce(p.paused, 0) = 0
           AND (${HAS_QUOTA} OR s.running > 0 OR s.retrying > 0)
           AND (l.owner IS NULL OR l.owner = ? OR l.lease_until < ?) AND ${MAY_BE_TAKEN} ${lane === undefined ? "" : "AND l.lane = ?"}
         GROUP BY l.id, l.lane, l.owner, l.epoch, l.rest_epoch, l.rest_until, p.hold_until, p.breaker_open_until, p.breaker_failed_probes)
         SELECT * FROM open WHERE ready > 0 OR (ours IS NOT TRUE AND coalesce(retry_at, 0) < ${NEVER})`,
      )
      .all(owner, owner, owner, leaseNow(), leaseNow(), ...(lane === undefined ? [] : [lane])),
  );
  const [wall, lease] = [wallNow(), leaseNow()];
  const restsUntil = ({ rest_until }: LaneRow) => (rest_until > lease ? wall + rest_until - lease : 0);
  return open.map((row) => ({ lane: row.lane, readyAt: Math.max(readyAt(row), restsUntil(row)) }));
}

/** As its last owner left it; void once another has taken it. */
const REST_UNTIL = "coalesce(CASE WHEN l.rest_epoch = l.epoch THEN l.rest_until END, 0)";

interface LaneRow {
  lane: string;
  ready: number;
  /** Ready tasks of runs without a time limit. */
  endless: number;
  /** When the first retry is ready; null: there is none. */
  retry_at: number | null;
  held_until: number;
  open_until: number;
  failed_probes: number;
  /** On the lease clock. */
  rest_until: number;
}

/** A held site has no work before its time: taking its lane would only cost two transactions. */
function readyAt({ ready, endless, retry_at, held_until, open_until, failed_probes }: LaneRow): number {
  if (failed_probes < FAILED_PROBES_BEFORE_GIVING_UP || open_until === 0)
    return Math.max(held_until, open_until, ready > 0 ? 0 : (retry_at ?? 0));
  // At a site that was given up, tasks of runs without a time limit end at once; the others wait for the next probe.
  return endless > 0 ? 0 : Math.min(Math.max(held_until, open_until), retry_at ?? open_until);
}

export function takeLane(context: Context, lane: string, owner: string, ttlMs: number): LaneGrant | null {
  const { connection } = context;
  const isShared = connection.dialect.isShared;
  try {
    return connection.write(() => tryTakeLane(context, lane, owner, ttlMs, isShared));
  } catch (error) {
    if (!(error instanceof NeedsExclusive)) throw error;
    return connection.write(() => tryTakeLane(context, lane, owner, ttlMs, false), { exclusive: true });
  }
}

/** Rolls back: the transaction has to write runs that it did not lock. */
class NeedsExclusive extends Error {}

/** Runs with tasks that the last owner of a lane left running. */
const RUNNING_IN_LANE =
  "SELECT s.run AS n FROM lanes l JOIN streams s ON s.lane = l.id WHERE l.lane = ? AND s.running > 0";

/** Waits until a heartbeat of the lane's owner that is being written is visible. */
const LOCK_OWNER = "SELECT 1 FROM owners WHERE owner = (SELECT owner FROM lanes WHERE lane = ?)";

function tryTakeLane(
  context: Context,
  lane: string,
  owner: string,
  ttlMs: number,
  isShared: boolean,
): LaneGrant | null {
  const { connection, leaseNow } = context;
  const { dialect } = connection;
  const isLocked = dialect.lockRuns(connection, { text: RUNNING_IN_LANE, values: [lane] });
  if (dialect.isShared) connection.sql(`${LOCK_OWNER} ${dialect.forUpdate}`).run(lane);
  const now = leaseNow();
  const row = connection
    .sql(
      `UPDATE lanes SET owner = ?, epoch = epoch + 1, lease_until = ? WHERE lane = ? AND ${IS_FREE} AND ${IS_OWNER}
       RETURNING id, epoch, parent_lane, shard, rest_until, rest_epoch`,
    )
    .get(owner, now + ttlMs, lane, now, now, owner) as TakenLane | undefined;
  if (row === undefined) return null;
  const parentLane = row.parent_lane ?? row.id;
  let site = siteOfLane(context, parentLane);
  let opened: string[] | undefined;
  if (site !== null && site.shardCount !== site.targetShardCount) {
    // Resharding moves streams of all runs at the site.
    if (isShared) throw new NeedsExclusive();
    // Other owners keep their limit shares until they release their lanes: until then nothing starts here.
    if (othersHaveLanes(context, parentLane, row.id)) {
      connection.sql("UPDATE lanes SET owner = NULL, lease_until = ? WHERE id = ?").run(now, row.id);
      return null;
    }
    opened = reshard(context, site, parentLane);
    site = siteOfLane(context, parentLane);
  }
  const left = rows<{ id: number; run: number }>(
    connection
      .sql(`SELECT s.id, s.run FROM streams s WHERE s.lane = ? AND ${STREAM_IS_OPEN} AND s.running > 0`)
      .all(row.id),
  );
  // The former owner may have claimed tasks of another run at the last moment.
  if (isShared && !left.every(({ run }) => isLocked(run))) throw new NeedsExclusive();
  const recovered = requeueRunning(
    context,
    left.map(({ id }) => id),
  );
  const grant = {
    lane,
    laneId: row.id,
    epoch: row.epoch,
    owner,
    recovered,
    ...(row.rest_until !== null && row.rest_epoch === row.epoch - 1
      ? { restMs: Math.max(0, row.rest_until - now) }
      : {}),
    ...(opened === undefined ? {} : { opened }),
  };
  if (site === null || site.shardCount === 1) return { ...grant, site };
  const shard = { index: row.shard, of: site.shardCount };
  return { ...grant, shard, site: { ...site, health: healthOfShard(context, site.site, row) } };
}

interface TakenLane {
  id: number;
  epoch: number;
  parent_lane: number | null;
  shard: number;
  rest_until: number | null;
  rest_epoch: number | null;
}

/** A lane that was just taken or left has no task in flight: `running` is a leftover of the previous owner. */
export function requeueRunning(context: Context, streams: readonly number[]): number {
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

export function holdsLane(context: Context, hold: LaneHold): boolean {
  const { text, values } = holdQuery(context.connection, hold);
  return context.connection.sql(text).get(...values) !== undefined;
}

/** Also locks the lane: nobody takes it over before the transaction ends. Several are locked in the order of their ids. */
export function holdQuery({ dialect }: Connection, { laneId, epoch, owner }: LaneHold): Query {
  const text = `SELECT 1 FROM lanes WHERE id = ? AND epoch = ? AND owner = ? ${dialect.forUpdate}`;
  return { text, values: [laneId, epoch, owner] };
}

/** A single engine remembers waits itself, and its clock ends with the machine. */
export function releaseLane(context: Context, hold: LaneHold, restMs?: number): void {
  const { connection, leaseNow, singleEngine } = context;
  connection.write(() => {
    const now = leaseNow();
    const restUntil = restMs === undefined || singleEngine ? null : now + restMs;
    connection
      .sql(
        "UPDATE lanes SET owner = NULL, lease_until = ?, rest_until = ?, rest_epoch = epoch WHERE id = ? AND epoch = ? AND owner = ?",
      )
      .run(now, restUntil, hold.laneId, hold.epoch, hold.owner);
  });
}

/** The limits have changed: a rest by the old ones means nothing. Within a transaction. */
export function forgetRest({ connection }: Context, lane: number): void {
  const text = `UPDATE lanes SET rest_until = NULL WHERE rest_until IS NOT NULL AND id IN ${LANES_OF_PARENT}`;
  connection.sql(text).run(lane, lane);
}

import { isOrbError } from "../../../base/errors.ts";
import type { EngineCandidate, EngineHolder } from "../../records/engine-records.ts";
import { type Context, rows } from "../kernel/context.ts";
import { STREAM_IS_OPEN } from "./lanes.ts";
import { dropOwner, renewOwner } from "./owners.ts";

interface EngineRow {
  holder: string | null;
  epoch: number;
  lease_until: number;
  boot: string;
  pid: number;
  pid_start: string;
  address: string;
}

export function engineHolder({ connection, leaseNow }: Context): EngineHolder | null {
  const row = connection.sql("SELECT * FROM engine").get() as unknown as EngineRow;
  if (row.holder === null) return null;
  return {
    id: row.holder,
    boot: row.boot,
    pid: row.pid,
    pidStart: row.pid_start,
    address: row.address,
    epoch: row.epoch,
    remainingMs: row.lease_until - leaseNow(),
  };
}

export function takeEngine(
  context: Context,
  candidate: EngineCandidate,
  ttlMs: number,
  evict?: string,
): { taken: boolean; holder: EngineHolder } {
  const { connection, leaseNow, singleEngine } = context;
  return connection.write(() => {
    if (connection.dialect.isShared) connection.sql(`SELECT 1 FROM engine ${connection.dialect.forUpdate}`).run();
    const current = engineHolder(context);
    const isFree =
      current === null ||
      current.id === candidate.id ||
      current.id === evict ||
      // The monotonic clock restarts with the machine: a lease of another boot means nothing.
      (singleEngine && current.boot !== candidate.boot) ||
      current.remainingMs < 0;
    if (!isFree) return { taken: false, holder: current };
    connection
      .sql(
        "UPDATE engine SET holder = ?, epoch = epoch + 1, lease_until = ?, boot = ?, pid = ?, pid_start = ?, address = ?",
      )
      .run(candidate.id, leaseNow() + ttlMs, candidate.boot, candidate.pid, candidate.pidStart, candidate.address);
    if (singleEngine && current?.id !== candidate.id) {
      // Also refreshes unowned lanes with work: their stamps may be of another boot, and their wait for this engine
      // starts now. Other lanes are stamped when they get work; there may be any number of them.
      connection.sql("UPDATE lanes SET owner = NULL, lease_until = ? WHERE owner IS NOT NULL").run(leaseNow());
      connection
        .sql(
          `UPDATE lanes SET lease_until = ? WHERE id IN
           (SELECT s.lane FROM streams s INDEXED BY streams_open WHERE ${STREAM_IS_OPEN})`,
        )
        .run(leaseNow());
      connection.sql("DELETE FROM budget_permits").run();
      connection.sql("DELETE FROM owners").run();
      connection
        .sql("INSERT INTO owners (owner, lease_until, boot, pid, pid_start) VALUES (?, 0, ?, ?, ?)")
        .run(candidate.id, candidate.boot, candidate.pid, candidate.pidStart);
    }
    return { taken: true, holder: engineHolder(context) as EngineHolder };
  });
}

export function releaseEngine(context: Context, holder: string): void {
  const { connection } = context;
  connection.write(() => {
    const { changes } = connection.sql("UPDATE engine SET holder = NULL, lease_until = 0 WHERE holder = ?").run(holder);
    if (changes === 1 && context.singleEngine) dropOwner(context, holder);
  });
}

/** A lane whose lease has less than this part of it left is waited for, if a claim or settle has locked it. */
const LATE = 0.5;
/** But not longer than this part of a lease. */
const WAIT = 0.1;

/**
 * Waits for nobody: the lease of the owner is on record when a lane is waited for, and nobody takes a lane whose owner
 * has a lease.
 */
export function heartbeat(context: Context, owner: string, ttlMs: number): Set<number> | null {
  const lanes = renewLeases(context, owner, ttlMs);
  if (lanes === null) return null;
  if (lanes.some(({ late }) => late === 1)) renewLateLanes(context, owner, ttlMs);
  return new Set(lanes.map(({ id }) => id));
}

interface RenewedLane {
  id: number;
  /** It was locked, and has little of its lease left. */
  late: number;
}

/** A lane that a claim or settle has locked follows with the next heartbeat. */
function renewLeases(context: Context, owner: string, ttlMs: number): RenewedLane[] | null {
  const { connection, leaseNow } = context;
  return connection.write(() => {
    const until = leaseNow() + ttlMs;
    if (!(context.singleEngine ? renewEngine(context, owner, until) : renewOwner(context, owner, until))) return null;
    const { isShared, unlessLocked } = connection.dialect;
    const which = isShared ? `id IN (SELECT id FROM lanes WHERE owner = ? ${unlessLocked})` : "owner = ?";
    connection.sql(`UPDATE lanes SET lease_until = ? WHERE ${which}`).run(until, owner);
    const held = "SELECT id, lease_until < ? AS late FROM lanes WHERE owner = ?";
    return rows<RenewedLane>(connection.sql(held).all(until - ttlMs * LATE, owner));
  });
}

/** In the order in which settles lock lanes. */
function renewLateLanes({ connection, leaseNow }: Context, owner: string, ttlMs: number): void {
  const { forUpdate } = connection.dialect;
  try {
    connection.write(
      () => {
        const until = leaseNow() + ttlMs;
        const late = `SELECT id FROM lanes WHERE owner = ? AND lease_until < ? ORDER BY id ${forUpdate}`;
        connection
          .sql(`UPDATE lanes SET lease_until = ? WHERE id IN (${late})`)
          .run(until, owner, until - ttlMs * LATE);
      },
      { lockMs: ttlMs * WAIT },
    );
  } catch (error) {
    // The next heartbeat tries again.
    if (!isOrbError(error, "database_busy")) throw error;
  }
}

/** Within a transaction. */
function renewEngine({ connection }: Context, holder: string, until: number): boolean {
  return connection.sql("UPDATE engine SET lease_until = ? WHERE holder = ?").run(until, holder).changes === 1;
}

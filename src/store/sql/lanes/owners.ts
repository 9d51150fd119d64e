import type { ProcessIdentity } from "../../../base/machine.ts";
import type { LaneLease, OwnerRecord, OwnerStore } from "../../ports/owner-port.ts";
import { permitContenders } from "./budgets.ts";
import { type Context, rows, RUN_MAY_WORK } from "../kernel/context.ts";
import { lanePriorities } from "./lane-priorities.ts";
import { lanesWithWork, STREAM_IS_OPEN } from "./lanes.ts";

export function ownerStore(context: Context): OwnerStore {
  return {
    joinOwners: async (owner, ttlMs, identity) => joinOwners(context, owner, ttlMs, identity),
    owners: async () => readOwners(context),
    laneLeases: async (lanes) => readLeases(context, lanes),
    leaveOwners: async (owner) => leaveOwners(context, owner),
    leaveLane: async (lane, owner) => leaveLane(context, lane, owner),
    // Sites of a group may be ready at different times.
    laneWork: async (lane) => lanesWithWork(context, "", lane).toSorted((a, b) => a.readyAt - b.readyAt)[0] ?? null,
    lanePriorities: async (lanes) => lanePriorities(context, lanes),
    permitContenders: async (key) => permitContenders(context, key),
    laneShares: async () => laneShares(context),
  };
}

function joinOwners(context: Context, owner: string, ttlMs: number, identity?: ProcessIdentity): void {
  const { connection, leaseNow } = context;
  connection.write(() => {
    dropExpiredOwners(context);
    connection
      .sql(
        `INSERT INTO owners (owner, lease_until, boot, pid, pid_start) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (owner) DO UPDATE SET lease_until = excluded.lease_until`,
      )
      .run(owner, leaseNow() + ttlMs, identity?.boot ?? null, identity?.pid ?? null, identity?.pidStart ?? null);
  });
}

interface IdentityRow {
  boot: string | null;
  pid: number | null;
  pid_start: string | null;
}

function identityOf({ boot, pid, pid_start: pidStart }: IdentityRow): ProcessIdentity | null {
  return boot === null || pid === null || pidStart === null ? null : { boot, pid, pidStart };
}

function readLeases({ connection, leaseNow }: Context, lanes: readonly string[]): LaneLease[] {
  const now = leaseNow();
  const list = connection
    .sql(
      `SELECT l.lane, l.lease_until, o.boot, o.pid, o.pid_start FROM lanes l JOIN owners o ON o.owner = l.owner
       WHERE l.lane IN (SELECT value FROM json_each(?)) AND l.lease_until >= ?`,
    )
    .all(JSON.stringify(lanes), now);
  return rows<IdentityRow & { lane: string; lease_until: number }>(list).map(
    ({ lane, lease_until: until, ...row }) => ({
      lane,
      identity: identityOf(row),
      remainingMs: until - now,
    }),
  );
}

function readOwners({ connection, leaseNow, singleEngine }: Context): OwnerRecord[] {
  // With a single engine, the lease of its lock counts.
  const list = singleEngine
    ? connection
        .sql("SELECT o.* FROM owners o JOIN engine e ON e.holder = o.owner WHERE e.lease_until >= ?")
        .all(leaseNow())
    : connection.sql("SELECT * FROM owners WHERE lease_until >= ? ORDER BY owner").all(leaseNow());
  return rows<IdentityRow & { owner: string }>(list).map((row) => ({ owner: row.owner, identity: identityOf(row) }));
}

function leaveOwners(context: Context, owner: string): void {
  context.connection.write(() => dropOwner(context, owner));
}

function leaveLane({ connection, leaseNow }: Context, lane: string, owner: string): void {
  connection.write(() => {
    const text = "UPDATE lanes SET owner = NULL, lease_until = ? WHERE lane = ? AND owner = ?";
    connection.sql(text).run(leaseNow(), lane, owner);
  });
}

/** Within a transaction. */
export function dropOwner({ connection, leaseNow }: Context, owner: string): void {
  connection.sql("DELETE FROM owners WHERE owner = ?").run(owner);
  connection.sql("UPDATE lanes SET owner = NULL, lease_until = ? WHERE owner = ?").run(leaseNow(), owner);
  connection.sql("DELETE FROM budget_permits WHERE owner = ?").run(owner);
}

/** False when it was too late: others may have taken its lanes. Within a transaction. */
export function renewOwner({ connection, leaseNow }: Context, owner: string, until: number): boolean {
  const renew = connection.sql("UPDATE owners SET lease_until = ? WHERE owner = ? AND lease_until >= ?");
  return renew.run(until, owner, leaseNow()).changes === 1;
}

export function hasExpiredOwners({ connection, leaseNow, singleEngine }: Context): boolean {
  if (singleEngine) return false;
  return connection.sql("SELECT 1 FROM owners WHERE lease_until < ? LIMIT 1").get(leaseNow()) !== undefined;
}

/** Removes owners whose lease has ended, with their permits: they may no longer write. Within a transaction. */
export function dropExpiredOwners(context: Context): void {
  const { connection, leaseNow } = context;
  const text = `SELECT owner FROM owners WHERE lease_until < ? ORDER BY owner ${connection.dialect.forUpdate}`;
  const expired = connection.sql(text).all(leaseNow());
  for (const { owner } of expired as { owner: string }[]) dropOwner(context, owner);
}

function laneShares({ connection, leaseNow }: Context): { owners: number; openLanes: number } {
  const row = connection
    .sql(
      `SELECT (SELECT count(*) FROM owners WHERE lease_until >= ?) AS owners, (SELECT count(DISTINCT s.lane)
         FROM streams s JOIN runs r ON r.n = s.run WHERE ${STREAM_IS_OPEN} AND ${RUN_MAY_WORK}) AS lanes`,
    )
    .get(leaseNow()) as { owners: number; lanes: number };
  return { owners: row.owners, openLanes: row.lanes };
}

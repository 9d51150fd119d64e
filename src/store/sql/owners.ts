import type { OwnerVerbs } from "../owner-port.ts";
import { borrowers } from "./budgets.ts";
import { type Context, RUN_MAY_WORK } from "./context.ts";
import { lanePriorities } from "./lane-priorities.ts";
import { lanesWithWork, STREAM_IS_OPEN } from "./lanes.ts";

export function ownerVerbs(context: Context): OwnerVerbs {
  return {
    joinOwners: async (owner, ttlMs) => joinOwners(context, owner, ttlMs),
    leaveOwners: async (owner) => leaveOwners(context, owner),
    leaveLane: async (lane, owner) => leaveLane(context, lane, owner),
    // Sites of a group may be ready at different times.
    laneWork: async (lane) => lanesWithWork(context, "", lane).toSorted((a, b) => a.readyAt - b.readyAt)[0] ?? null,
    lanePriorities: async (lanes) => lanePriorities(context, lanes),
    borrowers: async (key) => borrowers(context, key),
    laneShares: async () => laneShares(context),
  };
}

function joinOwners(context: Context, owner: string, ttlMs: number): void {
  const { connection, leaseNow } = context;
  connection.write(() => {
    forgetDead(context);
    connection
      .sql(
        "INSERT INTO owners (owner, lease_until) VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET lease_until = excluded.lease_until",
      )
      .run(owner, leaseNow() + ttlMs);
  });
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
  connection.sql("DELETE FROM loans WHERE owner = ?").run(owner);
}

/** False when it was too late: others may have taken what it had. Within a transaction. */
export function prolongOwner(context: Context, owner: string, until: number): boolean {
  forgetDead(context);
  const { changes } = context.connection.sql("UPDATE owners SET lease_until = ? WHERE owner = ?").run(until, owner);
  return changes === 1;
}

/** Whoever let its lease end may write nothing any more, and what it borrowed comes back. Within a transaction. */
function forgetDead(context: Context): void {
  const gone = context.connection.sql("SELECT owner FROM owners WHERE lease_until < ?").all(context.leaseNow());
  for (const { owner } of gone as { owner: string }[]) dropOwner(context, owner);
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

import { logChange } from "../kernel/audit-entry.ts";
import type { Collector, Connection } from "../kernel/connection.ts";
import { bumpControl, type Context, RANK } from "../kernel/context.ts";

/** The key of waiting requests: holders of permits see it, and release what exceeds an even share. */
export const waitingKeyOf = (key: string) => `waiting:${key}`;

export function acquirePermits(
  { connection }: Context,
  key: string,
  owner: string,
  units: number,
  cap: number,
): number {
  return connection.write(() => {
    connection.dialect.lockName(connection, `budget:${key}`);
    // Permits end with their owner's lease. A replaced owner gets none: nothing would ever release them.
    if (!staysOwner(connection, owner)) return 0;
    const stored = connection.sql("SELECT cap FROM budgets WHERE key = ?").get(key) as
      | { cap: number | null }
      | undefined;
    const limit = stored?.cap ?? cap;
    const totals = connection
      .sql(
        `SELECT coalesce(sum(units), 0) AS all_units, coalesce(sum(CASE WHEN owner = ? THEN units END), 0) AS mine
         FROM budget_permits WHERE key = ?`,
      )
      .get(owner, key) as { all_units: number; mine: number };
    const granted = Math.max(0, Math.min(units, limit - totals.all_units - waitingBefore(connection, key, owner)));
    if (granted > 0) {
      connection
        .sql(
          "INSERT INTO budget_permits VALUES (?, ?, ?) ON CONFLICT (key, owner) DO UPDATE SET units = budget_permits.units + excluded.units",
        )
        .run(key, owner, granted);
    }
    const held = totals.mine + granted;
    if (units > 0 && held === 0 && limit > 0) enqueueRequest(connection, key, owner);
    // An owner that holds units counts as a contender by its permits.
    else if (totals.mine === 0 && granted > 0) withdrawRequest(connection, key, owner);
    return held;
  });
}

/** Whether it is an owner, and stays one until the end of the transaction. */
function staysOwner(connection: Connection, owner: string): boolean {
  const { forKeyShare } = connection.dialect;
  return connection.sql(`SELECT 1 FROM owners WHERE owner = ? ${forKeyShare}`).get(owner) !== undefined;
}

/** `units` of a waiting request is its sequence number: requests are served first come, first served, however often they are repeated. */
function enqueueRequest(connection: Connection, key: string, owner: string): void {
  connection
    .sql(
      `INSERT INTO budget_permits SELECT ?1, ?2, coalesce(max(units), 0) + 1 FROM budget_permits WHERE key = ?1
       ON CONFLICT (key, owner) DO NOTHING`,
    )
    .run(waitingKeyOf(key), owner);
}

function waitingBefore(connection: Connection, key: string, owner: string): number {
  const row = connection
    .sql(
      `SELECT count(*) AS n FROM budget_permits WHERE key = ?1 AND owner <> ?2
         AND units < coalesce((SELECT units FROM budget_permits WHERE key = ?1 AND owner = ?2), ${Number.MAX_SAFE_INTEGER})`,
    )
    .get(waitingKeyOf(key), owner);
  return (row as { n: number }).n;
}

/** Owners that hold permits of a budget or wait for some. */
export function permitContenders({ connection }: Context, key: string): number {
  const row = connection
    .sql("SELECT count(DISTINCT owner) AS n FROM budget_permits WHERE key IN (?, ?)")
    .get(key, waitingKeyOf(key));
  return (row as { n: number }).n;
}

function withdrawRequest(connection: Connection, key: string, owner: string): void {
  connection.sql("DELETE FROM budget_permits WHERE key = ? AND owner = ?").run(waitingKeyOf(key), owner);
}

/** With 0 units the owner's waiting request is withdrawn. With `wantsAgain` it queues again at the end, unless it still holds units. */
export function releasePermits(
  { connection }: Context,
  key: string,
  owner: string,
  units: number,
  wantsAgain: boolean = false,
): void {
  connection.write(() => {
    connection.dialect.lockName(connection, `budget:${key}`);
    if (units === 0) return withdrawRequest(connection, key, owner);
    // As with permits: nothing would ever remove the request of a replaced owner.
    const mayWait = wantsAgain && staysOwner(connection, owner);
    connection.sql("DELETE FROM budget_permits WHERE key = ? AND owner = ? AND units <= ?").run(key, owner, units);
    connection.sql("UPDATE budget_permits SET units = units - ? WHERE key = ? AND owner = ?").run(units, key, owner);
    if (!mayWait) return undefined;
    const holds = connection.sql("SELECT 1 FROM budget_permits WHERE key = ? AND owner = ?").get(key, owner);
    if (holds === undefined) enqueueRequest(connection, key, owner);
    return undefined;
  });
}

export function budgetCap({ connection }: Context, key: string): number | null {
  const row = connection.sql("SELECT cap FROM budgets WHERE key = ?").get(key) as { cap: number | null } | undefined;
  return row?.cap ?? null;
}

/** Within the caller's transaction. */
export function writeCap({ connection }: Context, key: string, cap: number | null): void {
  connection.atEnd(CAPS, { key, cap });
}

/** In order: several calls that share a commit may name the same budgets as others. */
const CAPS: Collector<{ key: string; cap: number | null }> = {
  rank: RANK.budgets,
  write(connection, list) {
    const caps = new Map(list.map(({ key, cap }) => [key, cap]));
    for (const [key, cap] of [...caps].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      connection
        .sql("INSERT INTO budgets VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET cap = excluded.cap")
        .run(key, cap);
  },
};

export function setBudgetCap(context: Context, key: string, cap: number | null): void {
  const { connection } = context;
  connection.write(
    () => {
      const limits = { before: { limit: budgetCap(context, key) }, after: { limit: cap } };
      logChange(context, "concurrency_key.updated", { kind: "concurrency_key", id: key }, limits);
      writeCap(context, key, cap);
      bumpControl(context);
    },
    { durable: true },
  );
}

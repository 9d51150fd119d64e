import { IS_OWNER } from "./owner-rule.ts";
import type { Connection } from "./connection.ts";
import { bumpControl, type Context } from "./context.ts";

/** Who wants units that others have stands here, under this key: they see it, and give up what is beyond an even share. */
const wishOf = (key: string) => `wish:${key}`;

export function borrow({ connection }: Context, key: string, owner: string, units: number, cap: number): number {
  return connection.write(() => {
    // Loans end with their owner's lease. One that was replaced gets none: it would never come back.
    if (connection.sql(`SELECT 1 AS one WHERE ${IS_OWNER}`).get(owner) === undefined) return 0;
    const stored = connection.sql("SELECT cap FROM budgets WHERE key = ?").get(key) as
      | { cap: number | null }
      | undefined;
    const limit = stored?.cap ?? cap;
    const lent = connection
      .sql(
        `SELECT coalesce(sum(units), 0) AS all_units, coalesce(sum(CASE WHEN owner = ? THEN units END), 0) AS mine
         FROM loans WHERE key = ?`,
      )
      .get(owner, key) as { all_units: number; mine: number };
    const granted = Math.max(0, Math.min(units, limit - lent.all_units));
    if (granted > 0) {
      connection
        .sql(
          "INSERT INTO loans VALUES (?, ?, ?) ON CONFLICT (key, owner) DO UPDATE SET units = loans.units + excluded.units",
        )
        .run(key, owner, granted);
    }
    const held = lent.mine + granted;
    if (units > 0 && held === 0 && lent.all_units > 0)
      connection.sql("INSERT INTO loans VALUES (?, ?, 1) ON CONFLICT (key, owner) DO NOTHING").run(wishOf(key), owner);
    // Whoever has some is seen by that.
    else if (lent.mine === 0 && granted > 0) withdrawWish(connection, key, owner);
    return held;
  });
}

/** How many owners have units of a budget, or want some and have none. */
export function borrowers({ connection }: Context, key: string): number {
  const row = connection.sql("SELECT count(DISTINCT owner) AS n FROM loans WHERE key IN (?, ?)").get(key, wishOf(key));
  return (row as { n: number }).n;
}

function withdrawWish(connection: Connection, key: string, owner: string): void {
  connection.sql("DELETE FROM loans WHERE key = ? AND owner = ?").run(wishOf(key), owner);
}

/** With no units it withdraws its wish for some. */
export function giveBack({ connection }: Context, key: string, owner: string, units: number): void {
  connection.write(() => {
    if (units === 0) return withdrawWish(connection, key, owner);
    connection.sql("DELETE FROM loans WHERE key = ? AND owner = ? AND units <= ?").run(key, owner, units);
    connection.sql("UPDATE loans SET units = units - ? WHERE key = ? AND owner = ?").run(units, key, owner);
  });
}

export function budgetCap({ connection }: Context, key: string): number | null {
  const row = connection.sql("SELECT cap FROM budgets WHERE key = ?").get(key) as { cap: number | null } | undefined;
  return row?.cap ?? null;
}

/** Within a transaction of the caller's. */
export function writeCap({ connection }: Context, key: string, cap: number | null): void {
  connection.sql("INSERT INTO budgets VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET cap = excluded.cap").run(key, cap);
}

export function setBudgetCap(context: Context, key: string, cap: number | null): void {
  const { connection } = context;
  connection.write(
    () => {
      writeCap(context, key, cap);
      bumpControl(context);
    },
    { durable: true },
  );
}

import { bumpControl, type Context } from "./context.ts";

export function borrow({ connection }: Context, key: string, owner: string, units: number, cap: number): number {
  return connection.write(() => {
    // Loans end with the engine's lease. One that was replaced gets none: it would never come back.
    if (connection.sql("SELECT 1 FROM engine WHERE holder = ?").get(owner) === undefined) return 0;
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
        .sql("INSERT INTO loans VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET units = units + excluded.units")
        .run(key, owner, granted);
    }
    return lent.mine + granted;
  });
}

export function giveBack({ connection }: Context, key: string, owner: string, units: number): void {
  connection.write(() => {
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
  connection.sql("INSERT INTO budgets VALUES (?, ?) ON CONFLICT DO UPDATE SET cap = excluded.cap").run(key, cap);
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

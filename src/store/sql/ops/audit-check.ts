import { type Context, rows } from "../kernel/context.ts";

/** An invariant; `find` returns its violations. */
export interface Check {
  name: string;
  find(context: Context): string[];
}

export function all<T>({ connection }: Context, sql: string, ...values: (string | number)[]): T[] {
  return rows<T>(connection.sql(sql).all(...values));
}

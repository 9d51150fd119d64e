import type { Context } from "./context.ts";

/** Locks runs by id for this transaction; see `Dialect.lockRuns`. */
export function lockRuns({ connection }: Context, ids: readonly string[]): (run: number) => boolean {
  const text = "SELECT n FROM runs WHERE id IN (SELECT value FROM json_each(?))";
  return connection.dialect.lockRuns(connection, { text, values: [JSON.stringify(ids)] });
}

import type { Context } from "./context.ts";

/** One index lookup per id. */
export const RUNS_BY_ID = "SELECT (SELECT r.n FROM runs r WHERE r.id = j.value) AS n FROM json_each(?) AS j";

/** Locks runs by id for this transaction; see `Dialect.lockRuns`. */
export function lockRuns({ connection }: Context, ids: readonly string[]): (run: number) => boolean {
  return connection.dialect.lockRuns(connection, { text: RUNS_BY_ID, values: [JSON.stringify(ids)] });
}

import type { Turn } from "../../ports/claim-port.ts";
import type { RunLocks } from "./connection.ts";
import type { Context } from "./context.ts";

/** One index lookup per id. */
export const RUNS_BY_ID = "SELECT (SELECT r.n FROM runs r WHERE r.id = j.value) AS n FROM json_each(?) AS j";

/** Locks runs by id for this transaction; see `Dialect.lockRuns`. */
export function lockRuns({ connection }: Context, ids: readonly string[], turn?: Turn): RunLocks {
  return connection.dialect.lockRuns(connection, { text: RUNS_BY_ID, values: [JSON.stringify(ids)] }, turn);
}

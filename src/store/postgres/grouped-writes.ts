import type { WriteScope } from "../ports/access.ts";
import type { Connection, SharedLocks } from "../sql/kernel/connection.ts";
import { RUNS_BY_ID } from "../sql/kernel/lock-runs.ts";

/** One of several calls that share a transaction. */
export interface GroupedWrite {
  scope: WriteScope;
  locks: SharedLocks;
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

const WIDEST_FIRST: readonly WriteScope[] = ["all", "runs", "row"];

export function widestScope(list: readonly GroupedWrite[]): WriteScope {
  return WIDEST_FIRST.find((wanted) => list.some((write) => write.scope === wanted)) as WriteScope;
}

export const NO_LOCKS: SharedLocks = { names: [], runs: [] };

/** In order, as another process may do the same with some of them. */
export function lockTogether(connection: Connection, list: readonly GroupedWrite[]): void {
  const { dialect } = connection;
  const names = new Set(list.flatMap(({ locks }) => locks.names));
  const runs = new Set(list.flatMap(({ locks }) => locks.runs));
  for (const name of [...names].toSorted()) dialect.lockName(connection, name);
  if (runs.size > 0) dialect.lockRuns(connection, { text: RUNS_BY_ID, values: [JSON.stringify([...runs])] });
}

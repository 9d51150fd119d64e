/** Writes holds of runs. All functions run within the caller's transaction. */
import { holdOf, type RunHold, waitForProxies } from "../../../domain/run/run-hold.ts";
import { LONGEST_STEP_MS } from "../../../domain/run/running-time.ts";
import type { RunState } from "../../../domain/run/states.ts";
import type { NewRun } from "../../ports/port.ts";
import { appendEvent, type Context, parseJson } from "../kernel/context.ts";
import { countProxies } from "../catalog/proxy-counts.ts";

export function appendHoldEvent(context: Context, run: number, { reason, until, message }: RunHold, now: number): void {
  const meta = { waiting_for: reason, until: until === null ? null : new Date(until).toISOString() };
  appendEvent(context, run, { type: "run.held", level: "info", message, meta }, now);
}

/** The run's running time up to now. A clock change must not use up its time. */
export const RAN_UNTIL = (now: string) =>
  `ran_ms + max(0, min(${LONGEST_STEP_MS}, ${now} - coalesce(running_since, ${now})))`;

/** Stops the run's clock, and frees a crawl's slot. */
export function writeHold(context: Context, run: number, hold: RunHold, now: number): void {
  context.connection
    .sql(`UPDATE runs SET hold = ?1, ran_ms = ${RAN_UNTIL("?2")}, running_since = NULL WHERE n = ?3`)
    .run(JSON.stringify(hold), now, run);
  appendHoldEvent(context, run, hold, now);
}

/** Counts in the transaction that starts the run: no task of it can start before. */
export function proxyHoldFor(context: Context, proxies: NewRun["proxies"] | null, now: number): RunHold | null {
  if (proxies === undefined || proxies === null) return null;
  const { atLeast, waitMs } = proxies;
  const counts = countProxies(context);
  return counts.usable >= atLeast ? null : waitForProxies(counts, atLeast, { now, waitMs });
}

/** A run that could start is held when it needs more proxies than are usable. */
export function proxyHoldOfRun(context: Context, run: number, now: number): RunHold | null {
  const { proxies } = context.connection.sql("SELECT proxies FROM runs WHERE n = ?").get(run) as {
    proxies: string | null;
  };
  return proxyHoldFor(context, parseJson<NewRun["proxies"] | null>(proxies, null), now);
}

/** States in which a run waits for a person's decision. */
export const STOPPED: ReadonlySet<RunState> = new Set<RunState>(["paused", "waiting_for_human"]);

/** The hold's deadline is suspended while the run is paused or waits for a person. */
export function moveHold({ connection }: Context, run: number, hold: string, to: RunState, now: number): void {
  const moved = JSON.stringify(holdOf(JSON.parse(hold) as RunHold, STOPPED.has(to), now));
  if (moved !== hold) connection.sql("UPDATE runs SET hold = ? WHERE n = ?").run(moved, run);
}

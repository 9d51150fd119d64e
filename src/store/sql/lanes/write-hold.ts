/** What keeps a run from its work, as it stands on its row. All of this within a transaction of the caller's. */
import { holdOf, type RunHold, waitForProxies } from "../../../domain/run/run-hold.ts";
import { LONGEST_STEP_MS } from "../../../domain/run/running-time.ts";
import type { RunState } from "../../../domain/run/states.ts";
import type { NewRun } from "../../ports/port.ts";
import { appendEvent, type Context, parseJson } from "../kernel/context.ts";
import { countProxies } from "../catalog/proxy-counts.ts";

/** Its log says what it waits for. */
export function tellHold(context: Context, run: number, { reason, until, message }: RunHold, now: number): void {
  const meta = { waiting_for: reason, until: until === null ? null : new Date(until).toISOString() };
  appendEvent(context, run, { type: "run.held", level: "info", message, meta }, now);
}

/** What the run has been at work, up to this moment. A clock that was set must not take its time away. */
export const RAN_UNTIL = (now: string) =>
  `ran_ms + max(0, min(${LONGEST_STEP_MS}, ${now} - coalesce(running_since, ${now})))`;

/** Its time stands still, and the place of a crawl is free for another one. */
export function writeHold(context: Context, run: number, hold: RunHold, now: number): void {
  context.connection
    .sql(`UPDATE runs SET hold = ?1, ran_ms = ${RAN_UNTIL("?2")}, running_since = NULL WHERE n = ?3`)
    .run(JSON.stringify(hold), now, run);
  tellHold(context, run, hold, now);
}

/** Counted in the transaction that lets the run begin: no task of it can begin before. */
export function shortOfProxies(context: Context, proxies: NewRun["proxies"] | null, now: number): RunHold | null {
  if (proxies === undefined || proxies === null) return null;
  const { atLeast, waitMs } = proxies;
  const there = countProxies(context);
  return there.usable >= atLeast ? null : waitForProxies(there, atLeast, { now, waitMs });
}

/** A run that could begin now waits all the same when it needs proxies and there are too few. */
export function shortOf(context: Context, run: number, now: number): RunHold | null {
  const { proxies } = context.connection.sql("SELECT proxies FROM runs WHERE n = ?").get(run) as {
    proxies: string | null;
  };
  return shortOfProxies(context, parseJson<NewRun["proxies"] | null>(proxies, null), now);
}

/** Nobody wants a run in these states to go on. */
export const STOPPED: ReadonlySet<RunState> = new Set<RunState>(["paused", "waiting_for_human"]);

/** Its time to wait stands still while it is paused, or waits for a person. */
export function moveHold({ connection }: Context, run: number, hold: string, to: RunState, now: number): void {
  const moved = JSON.stringify(holdOf(JSON.parse(hold) as RunHold, STOPPED.has(to), now));
  if (moved !== hold) connection.sql("UPDATE runs SET hold = ? WHERE n = ?").run(moved, run);
}

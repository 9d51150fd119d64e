/** Runs that wait for proxies: they go on as soon as there are enough, and never wait for ever. */
import { failure } from "../../domain/failure.ts";
import { TERMINAL_RUN_STATES } from "../../domain/states.ts";
import { admitCrawls, type TurnDeps } from "../crawls/turns.ts";
import { dropWork } from "../runs/control.ts";
import { type RefreshDeps, refreshProxies } from "./refresh.ts";

const AT_ONCE = 500;
/** A check that ended so lately would find nothing else now. */
const REFRESHED_LATELY_MS = 60_000;
const WRITTEN_AFTER_MS = 3000;
/** Proxies that were used so lately are in use. */
const USED_LATELY_MS = 60_000;

type Deps = RefreshDeps & TurnDeps;

/** Looks after those that wait. Says how many there were. */
export async function lookAfterHeldRuns(deps: Deps): Promise<number> {
  const { store, clock, proxyRules: rules } = deps;
  const held = await store.heldRuns("proxies", AT_ONCE);
  if (held.length === 0) return 0;
  const { usable, total } = await store.countProxies();
  const enough = Math.max(1, rules.atLeast);
  const now = clock.now();
  // A run that was held in its middle, when the last proxy had failed, goes on with one; but what is known of the last
  // one is written a moment later than the run is held.
  const mayGoOn = held.filter(({ startedAt, hold }) =>
    startedAt === null ? usable >= enough : usable > 0 && Math.abs(now - hold.since) >= WRITTEN_AFTER_MS,
  );
  await release(deps, mayGoOn, { level: "info", message: `Run goes on: ${countOf(usable)} usable` });
  const waiting = held.filter((run) => !mayGoOn.includes(run));
  // What somebody has paused waits for that person.
  const overdue = waiting.filter(({ hold, status }) => status !== "paused" && (hold.until ?? now) <= now);
  if (overdue.length > 0 && usable > 0 && rules.shortage === "use_fewer")
    await release(deps, overdue, {
      level: "warn",
      message: `Run goes on with fewer proxies than wanted: ${countOf(usable)} usable, at least ${enough} were waited for`,
    });
  else
    for (const { id } of overdue) {
      const waited = `no longer waits for proxies: ${countOf(usable)} usable of ${total}, at least ${enough} are wanted`;
      if (await store.failHeldRun(id, "proxies", failure("no_proxies", `it ${waited}`), now))
        await dropWork(deps, [id]);
    }
  if (waiting.length > overdue.length) await refreshUnlessFresh(deps);
  return held.length;
}

const countOf = (usable: number) => (usable === 1 ? "1 proxy is" : `${usable} proxies are`);

async function release(
  deps: Deps,
  runs: readonly { id: string }[],
  event: { level: "info" | "warn"; message: string },
): Promise<void> {
  if (runs.length === 0) return;
  const ids = runs.map(({ id }) => id);
  const { lanes } = await deps.store.releaseRuns(ids, "proxies", event, deps.clock.now());
  if (lanes.length > 0) await deps.wake(lanes);
  await admitCrawls(deps);
}

/** Checks all proxies, unless that is being done or was done a moment ago. */
async function refreshUnlessFresh(deps: Deps): Promise<void> {
  const { store, clock } = deps;
  if (!isStale(await store.lastRefresh(), clock.now(), REFRESHED_LATELY_MS)) return;
  if ((await store.countProxies()).total > 0) await refreshProxies(deps);
}

type LastRefresh = Awaited<ReturnType<Deps["store"]["lastRefresh"]>>;

function isStale(last: LastRefresh, now: number, afterMs: number): boolean {
  if (last === null) return true;
  if (!TERMINAL_RUN_STATES.includes(last.status)) return false;
  // A clock that was set back must not keep checks away for long.
  return Math.abs(now - (last.finishedAt ?? last.createdAt)) >= afterMs;
}

/** Checks all proxies in their rhythm, and sooner when there are new ones, or when those in use have become too few. */
export async function keepProxiesFresh(deps: Deps): Promise<void> {
  const { store, clock, proxyRules: rules } = deps;
  const { total, disabled, unchecked, usable, usedAt } = await store.countProxies();
  if (total === disabled) return;
  const last = await store.lastRefresh();
  const now = clock.now();
  const inUse = usedAt !== null && now - usedAt < USED_LATELY_MS;
  const tooFew = inUse && usable < Math.min(rules.atLeast, total - disabled);
  const every = unchecked > 0 ? Math.min(REFRESHED_LATELY_MS, rules.refreshEveryMs) : rules.refreshEveryMs;
  const isDue = rules.refreshEveryMs > 0 && isStale(last, now, every);
  if (isDue || (tooFew && isStale(last, now, REFRESHED_LATELY_MS))) await refreshProxies(deps);
}

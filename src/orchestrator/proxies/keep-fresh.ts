/** When proxies are checked automatically. */
import { TERMINAL_RUN_STATES } from "../../domain/run/states.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import { checkProxies, type RefreshDeps } from "./refresh.ts";

/** A check that ended this recently would find the same now. */
const REFRESHED_LATELY_MS = 60_000;
/** Proxies used this recently count as in use. */
const USED_LATELY_MS = 60_000;
/** With no usable proxy, checks of all proxies are this many of their durations apart. */
const SELDOM = 4;

function isStale(last: RunRecord | null, now: number, afterMs: number): boolean {
  if (last === null) return true;
  if (!TERMINAL_RUN_STATES.includes(last.status)) return false;
  // A clock that was set back must not suppress checks for long.
  return Math.abs(now - (last.finishedAt ?? last.createdAt)) >= afterMs;
}

/** Runs wait for proxies: checks candidates, unless one just finished. */
export async function checkForNeed(deps: RefreshDeps): Promise<void> {
  const { store, clock, proxyRules: rules } = deps;
  const now = clock.now();
  if (!isStale(await store.lastRefresh(), now, REFRESHED_LATELY_MS)) return;
  const { usable } = await store.countProxies();
  if (usable > 0) return void (await checkProxies(deps, "wanting"));
  // With no usable proxy, also checks long-resting ones: no run may fail without that.
  const all = await store.lastRefresh(["all"]);
  const took = all === null ? 0 : Math.abs((all.finishedAt ?? now) - all.createdAt);
  const isDue = isStale(all, now, Math.max(REFRESHED_LATELY_MS, rules.waitMs, SELDOM * took));
  await checkProxies(deps, isDue ? "all" : "wanting");
}

/** Checks proxies periodically, and sooner when there are new ones or too few in use. */
export async function keepProxiesFresh(deps: RefreshDeps): Promise<void> {
  const { store, clock, proxyRules: rules } = deps;
  const { total, disabled, unchecked, usable, usedAt } = await store.countProxies();
  if (total === disabled) return;
  const now = clock.now();
  const last = await store.lastRefresh();
  const every = rules.refreshEveryMs;
  if (every > 0 && isStale(last, now, Math.min(REFRESHED_LATELY_MS, every))) {
    if (isStale(await store.lastRefresh(["all", "due"]), now, every)) return void (await checkProxies(deps, "due"));
    if (unchecked > 0) return void (await checkProxies(deps, "wanting"));
  }
  const inUse = usedAt !== null && now - usedAt < USED_LATELY_MS;
  const tooFew = inUse && usable < Math.min(rules.atLeast, total - disabled);
  if (tooFew && isStale(last, now, REFRESHED_LATELY_MS)) await checkProxies(deps, "wanting");
}

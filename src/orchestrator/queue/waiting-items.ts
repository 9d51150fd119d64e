import { configuredLimit } from "../../domain/lane/lane.ts";
import type { WaitingView } from "../../domain/run/waiting.ts";
import { waitingSentence } from "../../domain/run/waiting-sentence.ts";
import type { KeyUse } from "../../store/ports/key-use-port.ts";
import type { Store, TaskRecord } from "../../store/ports/port.ts";
import type { RunSiteDeps } from "../runs/sites.ts";
import { resolverLimit } from "./resolvers.ts";

/** Longer than a lane takes to move between workers, during which nothing uses the key. */
const RECENT_MS = 1000;
const UNUSED: KeyUse = { running: 0, granted: 0, waiting: 0 };

/** When this process last saw each key in use, in monotonic time. */
const seenInUse = new WeakMap<Store, Map<string, number>>();

/** Keys that are in use, or were within `RECENT_MS`. */
async function recentUse({ store, clock }: RunSiteDeps, runId: string, keys: string[]): Promise<Map<string, KeyUse>> {
  if (keys.length === 0) return new Map();
  const used = await store.keyUse(runId, keys);
  const now = clock.monotonic();
  const seen = seenInUse.get(store) ?? new Map<string, number>();
  seenInUse.set(store, seen);
  for (const [key, at] of seen) if (at < now - RECENT_MS) seen.delete(key);
  for (const key of used.keys()) seen.set(key, now);
  return new Map(keys.filter((key) => seen.has(key)).map((key) => [key, used.get(key) ?? UNUSED]));
}

/** By concurrency key: what queued items under it wait for. Keys with capacity left are absent. */
export async function usedUpLimits(
  deps: RunSiteDeps,
  runId: string,
  tasks: readonly TaskRecord[],
): Promise<ReadonlyMap<string, WaitingView>> {
  const names = tasks.flatMap(({ state, resolver }) => (state === "queued" && resolver !== null ? [resolver] : []));
  const resolvers = [...new Set(names)];
  const waits = new Map<string, WaitingView>();
  for (const [key, use] of await recentUse(deps, runId, resolvers)) {
    const limit = (await resolverLimit(deps, key)) ?? configuredLimit(deps.maxPerResolver ?? {}, key);
    if (limit === null || !(await isUsedUp(deps, runId, { key, limit, use }))) continue;
    const reason = "concurrency_key";
    const message = waitingSentence({ reason, until: null, key });
    waits.set(key, { reason, until: null, message, last_failure: null });
  }
  return waits;
}

/** Between two tasks nothing runs, but a unit that one item is about to use is not free for the others. */
async function isUsedUp(
  { store, siteDefaults }: RunSiteDeps,
  runId: string,
  { key, limit, use }: { key: string; limit: number; use: KeyUse },
): Promise<boolean> {
  if (use.running >= limit || use.waiting > 0) return true;
  // Each lane has at least one item, so `limit + 1` lanes are enough to decide.
  const lanes = await store.openUnderKey(runId, key, limit + 1);
  const open = lanes.reduce((sum, lane) => sum + lane.open, 0);
  if (open <= limit) return false;
  // Where the sites' own limits admit fewer, items wait for those.
  const bySite = Map.groupBy(lanes, ({ site }) => site);
  let admitted = 0;
  for (const [site, list] of bySite) {
    const most = site === "" ? Number.POSITIVE_INFINITY : (list[0]?.maxConcurrency ?? siteDefaults.maxPerSite);
    admitted += Math.min(
      list.reduce((sum, lane) => sum + lane.open, 0),
      Math.max(1, most),
    );
  }
  return admitted >= limit;
}

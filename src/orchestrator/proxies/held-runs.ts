/** Runs that wait for proxies: they resume when there are enough, and the wait has a limit. */
import { failure } from "../../domain/run/failure.ts";
import { afterWaiting, type HeldRun, type HoldEnd, leastOf, type ProxiesThere } from "../../domain/run/run-hold.ts";
import { admitCrawls, type AdmissionDeps } from "../crawls/turns.ts";
import { dropWork } from "../runs/control.ts";
import { checkForNeed } from "./keep-fresh.ts";
import type { RefreshDeps } from "./refresh.ts";

const AT_ONCE = 500;

type Deps = RefreshDeps & AdmissionDeps;

/** Checks runs that wait for proxies; returns their number. */
export async function checkHeldRuns(deps: Deps): Promise<number> {
  const { store } = deps;
  let proxyCounts: ProxiesThere | null = null;
  let count = 0;
  let stillWait = false;
  for (let after: string | undefined; ;) {
    const held = await store.heldRuns("proxies", AT_ONCE, after);
    if (held.length > 0) {
      proxyCounts ??= await store.countProxies();
      if (await checkHeld(deps, held, proxyCounts)) stillWait = true;
    }
    count += held.length;
    after = held.at(-1)?.id;
    if (held.length < AT_ONCE) break;
  }
  if (stillWait) await checkForNeed(deps);
  return count;
}

/** Whether some of them keep waiting. */
async function checkHeld(deps: Deps, held: readonly HeldRun[], proxyCounts: ProxiesThere): Promise<boolean> {
  const { clock, proxyRules: rules } = deps;
  const now = clock.now();
  const ends = new Map<HoldEnd, HeldRun[]>();
  for (const run of held) {
    const end = afterWaiting(run, proxyCounts, rules, now);
    ends.set(end, [...(ends.get(end) ?? []), run]);
  }
  const usable = countOf(proxyCounts.usable);
  await release(deps, ends.get("goes_on") ?? [], { level: "info", message: `Run continues: ${usable} usable` });
  await release(deps, ends.get("goes_on_with_fewer") ?? [], {
    level: "warn",
    message: `Run continues with fewer proxies than required: ${usable} usable, ${leastOf(rules)} required`,
  });
  for (const run of ends.get("fails") ?? []) await giveUp(deps, run, proxyCounts, now);
  return ends.has("waits");
}

const countOf = (usable: number) => (usable === 1 ? "1 proxy is" : `${usable} proxies are`);

async function giveUp(deps: Deps, { id, waits }: HeldRun, proxyCounts: ProxiesThere, now: number): Promise<void> {
  const { store, proxyRules: rules } = deps;
  const usable = `${proxyCounts.usable} of ${proxyCounts.total} proxies usable`;
  const least = leastOf(rules);
  const why =
    waits > 0
      ? `for too long, no page could be fetched through a proxy: ${usable}`
      : `the run waited too long for proxies: ${usable}, at least ${least} required`;
  if (await store.failHeldRun(id, "proxies", failure("no_proxies", why), now)) await dropWork(deps, [id]);
}

async function release(
  deps: Deps,
  runs: readonly HeldRun[],
  event: { level: "info" | "warn"; message: string },
): Promise<void> {
  if (runs.length === 0) return;
  const ids = runs.map(({ id }) => id);
  const { lanes } = await deps.store.releaseRuns(ids, "proxies", event, deps.clock.now());
  if (lanes.length > 0) await deps.wake(lanes);
  await admitCrawls(deps);
}

/** How busy the server is. There are no credits and no tokens here: nothing is counted, and nothing runs out. */
import type { FirecrawlDeps } from "./deps.ts";

export async function showConcurrency({ live }: FirecrawlDeps) {
  const { workers } = await live.overview();
  const { in_flight: concurrency, capacity: maxConcurrency } = workers;
  return { success: true, concurrency, maxConcurrency, data: { concurrency, maxConcurrency } };
}

const DAY_MS = 24 * 3_600_000;

export async function showQueue({ live, store, clock }: FirecrawlDeps) {
  const { workers, queued, retrying } = await live.overview();
  const [newest] = await store.runs({ status: ["completed"], limit: 1 });
  const at = newest?.finishedAt ?? null;
  const waiting = queued + retrying;
  return {
    success: true,
    jobsInQueue: workers.in_flight + waiting,
    activeJobsInQueue: workers.in_flight,
    waitingJobsInQueue: waiting,
    maxConcurrency: workers.capacity,
    mostRecentSuccess: at === null || at < clock.now() - DAY_MS ? null : new Date(at).toISOString(),
  };
}

/** As many as JSON can say: programs that stop when few are left go on. */
const ENDLESS = Number.MAX_SAFE_INTEGER;

export function showCredits(what: "credits" | "tokens", version: "v1" | "v2") {
  const name = what === "credits" ? "Credits" : "Tokens";
  const data =
    version === "v1"
      ? {
          [`remaining_${what}`]: ENDLESS,
          [`plan_${what}`]: ENDLESS,
          billing_period_start: null,
          billing_period_end: null,
        }
      : { [`remaining${name}`]: ENDLESS, [`plan${name}`]: ENDLESS, billingPeriodStart: null, billingPeriodEnd: null };
  return { success: true, data };
}

import { type Clock, sleep } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { type DiskBudget, NEAR_BUDGET } from "../../domain/run/retention.ts";
import type { DiskUse } from "../../store/ports/retention-port.ts";
import type { Store } from "../../store/ports/port.ts";
import { DISK_BUDGET_KEY, diskBudget, type Raise } from "../alerts.ts";
import type { Duty } from "../duties.ts";

/** Artifacts summed per query. */
const CHUNK = 2000;
const REST_MS = 5;
/** Maximum of runs deleted before usage is measured again. */
const AT_ONCE = 1000;
/** Time for operators to free space or to mark runs to keep. */
const GRACE_MS = 86_400_000;
/** Deletes until usage is well below the budget: a new warning precedes the next deletion. */
const ENOUGH = 0.75;

interface BudgetDeps {
  store: Store;
  clock: Clock;
  log: Log;
  raise: Raise;
  budget: DiskBudget;
}

/**
 * Measures storage usage. Near the budget it warns once; above it, it deletes the oldest ended runs if configured, and
 * not within a day of the warning.
 */
export function watchBudget({ store, clock, log, raise, budget }: BudgetDeps): Duty {
  return {
    name: "measure disk usage",
    everyMs: 3_600_000,
    async run(signal) {
      let use = await measure(signal);
      if (use === null || budget.bytes === 0) return;
      if (use.warnedAt === null) await store.alertOver(DISK_BUDGET_KEY);
      else await raise([diskBudget(use, budget.bytes, budget.action)]);
      if (!mayRemove(use)) return;
      let removed = 0;
      while (use !== null && use.bytes > budget.bytes * ENOUGH && !signal.aborted) {
        const part = await expireSome(use.bytes);
        if (part === 0) break;
        removed += part;
        while (!signal.aborted && (await store.removeExpired(500)) > 0) await sleep(clock, REST_MS, signal);
        use = await measure(signal);
      }
      log.warn("the disk budget was used up: the oldest runs were deleted", { runs: removed, bytes: use?.bytes });
    },
  };

  /** The newest result of a job is deleted last. */
  async function expireSome(bytes: number): Promise<number> {
    const most = await tooMany(bytes);
    const older = await store.expireOldest(most, clock.now());
    if (older > 0) return older;
    const last = await store.expireOldest(most, clock.now(), { lastResults: true });
    if (last > 0)
      log.warn("the disk budget is too small for the newest result of each job: the oldest of them are deleted", {
        runs: last,
        hint: "Raise APP_DISK_BUDGET_MB, or keep the runs that you need (POST /jobs/runs/{id}/keep).",
      });
    return last;
  }

  /** Half of the surplus, at the average run size; measured again afterwards. */
  async function tooMany(bytes: number): Promise<number> {
    const share = (bytes - budget.bytes * ENOUGH) / bytes;
    return Math.max(1, Math.min(AT_ONCE, Math.ceil((share * (await store.countDeletable({}))) / 2)));
  }

  function mayRemove({ bytes, warnedAt }: DiskUse): boolean {
    const isDue = warnedAt !== null && clock.now() - warnedAt >= GRACE_MS;
    return budget.action === "remove" && bytes > budget.bytes && isDue;
  }

  async function measure(signal: AbortSignal): Promise<DiskUse | null> {
    let bytes = await store.databaseBytes();
    for (let after: number | null = 0; after !== null;) {
      if (signal.aborted) return null;
      const part: { bytes: number; last: number | null } = await store.storedBytes({ after, limit: CHUNK });
      bytes += part.bytes;
      after = part.last;
      if (after !== null) await sleep(clock, REST_MS, signal);
    }
    const isNear = budget.bytes > 0 && bytes >= budget.bytes * NEAR_BUDGET;
    return store.noteDiskUse({ bytes, isNear }, clock.now());
  }
}

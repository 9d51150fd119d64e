import { integerBelow, type Random, seededRandom } from "../../../src/base/random.ts";
import { type ClusterPlan, clusterPlan } from "./plan.ts";
import { type ClusterReport, simulate } from "./report.ts";

const pick = <T>(random: Random, list: readonly T[]): T => list[integerBelow(random, list.length)] as T;

/**
 * A small cluster in which much goes wrong, decided by the seed: few runs whose writers wait for each other, slow lines,
 * transactions of others that take longer than a lock is waited for, and workers that are killed and frozen in the middle.
 */
function schedulePlan(seed: number): ClusterPlan {
  const random = seededRandom(seed);
  const workers = 2 + integerBelow(random, 4);
  const leaseTtlMs = pick(random, [15_000, 30_000, 60_000]);
  return clusterPlan(workers, {
    seed,
    slots: pick(random, [2, 4, 8]),
    sites: 2 + integerBelow(random, 8),
    pagesPerSite: 5 + integerBelow(random, 20),
    latencyMs: pick(random, [20, 200, 400]),
    leaseTtlMs,
    reconcileMs: 5000,
    roundTripMs: pick(random, [0.5, 2, 20, 150]),
    writeMs: pick(random, [0.5, 1, 20]),
    cores: 1 + integerBelow(random, 3),
    runs: pick(random, [1, 2, 3, 8, 100]),
    jobs: pick(random, [0, 0, 1, 2]),
    admitMs: pick(random, [200, 1000]),
    longestAdmitMs: pick(random, [0, 0, 2000, 20_000, 40_000]),
    pauseMs: pick(random, [1, 20, 400]),
    faultAtMs: 2000 + integerBelow(random, 4000),
    killed: integerBelow(random, Math.min(3, workers)),
    frozen: integerBelow(random, 2),
    frozenMs: pick(random, [1000, 7000, leaseTtlMs - 1000, leaseTtlMs + 15_000]),
    restartMs: pick(random, [100, 5000]),
  });
}

export interface SchedulesReport {
  schedules: number;
  pages: number;
  transactions: number;
  lockWaits: number;
  lockTimeouts: number;
  longestLockWaitMs: number;
  pauses: number;
  repeated: number;
  refetched: number;
  killed: number;
  frozen: number;
}

/** Plays schedules from one seed on. Throws at the first with a violation, and tells its seed. */
export function playSchedules(
  from: number,
  count: number,
  each: (report: SchedulesReport) => void = () => {},
  broken: ClusterPlan["broken"] = null,
): SchedulesReport {
  const sum: SchedulesReport = {
    ...{ schedules: 0, pages: 0, transactions: 0, lockWaits: 0, lockTimeouts: 0, longestLockWaitMs: 0 },
    ...{ pauses: 0, repeated: 0, refetched: 0, killed: 0, frozen: 0 },
  };
  for (let seed = from; seed < from + count; seed += 1) {
    add(sum, playSchedule(seed, broken));
    each(sum);
  }
  return sum;
}

function playSchedule(seed: number, broken: ClusterPlan["broken"]): ClusterReport {
  let violations: readonly string[];
  try {
    const report = simulate({ ...schedulePlan(seed), broken });
    if (report.violations.length === 0) return report;
    violations = report.violations;
  } catch (error) {
    violations = [String(error)];
  }
  throw new Error(
    `seed ${seed}: ${violations.slice(0, 5).join("; ")}; repeat it with: npm run simulate -- --writers --seed ${seed}`,
  );
}

function add(sum: SchedulesReport, report: ClusterReport): void {
  sum.schedules += 1;
  sum.pages += report.pages;
  sum.transactions += Math.round(report.transactionsPerPage * report.pages);
  for (const name of ["lockWaits", "lockTimeouts", "pauses", "repeated", "refetched"] as const)
    sum[name] += report[name];
  sum.longestLockWaitMs = Math.max(sum.longestLockWaitMs, report.longestLockWaitMs);
  sum.killed += report.plan.killed;
  sum.frozen += report.plan.frozen;
}

export function sentenceOf(sum: SchedulesReport): string {
  return `${sum.schedules} schedules of concurrent writers, 0 violations: ${sum.pages} pages, ${sum.transactions} transactions, ${sum.lockWaits} waits for locks (the longest ${(sum.longestLockWaitMs / 1000).toFixed(1)} s), ${sum.lockTimeouts} beyond lock_timeout, ${sum.pauses} pauses that ended, ${sum.repeated} transactions begun again, ${sum.killed} workers killed, ${sum.frozen} frozen, ${sum.refetched} pages fetched twice`;
}

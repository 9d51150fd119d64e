import { Cluster, type Recovery } from "./cluster.ts";
import type { Second } from "./database.ts";
import type { ClusterPlan } from "./plan.ts";

export interface Spread {
  least: number;
  middle: number;
  most: number;
}

export interface ClusterReport {
  plan: ClusterPlan;
  pages: number;
  seconds: number;
  /** In a middling second of the busy time: one with at least half as many pages as the best. */
  pagesPerSecond: number;
  transactionsPerSecond: number;
  rowsPerSecond: number;
  /** The part of the time in which the server's cores execute write transactions. */
  writerBusy: number;
  transactionsPerPage: number;
  settlesPerPage: number;
  rowsPerPage: number;
  longestWaitMs: number;
  lanes: Spread;
  pagesOfWorkers: Spread;
  /** Most requests at once at a site, as a part of what it allows. */
  fullest: number;
  violations: readonly string[];
  lockWaits: number;
  /** Transactions that waited for longer than the server allows. */
  lockTimeouts: number;
  longestLockWaitMs: number;
  /** Transactions that were begun again, because the server had ended their connection. */
  repeated: number;
  /** Times at which a worker paused, because the store was busy, and went on. */
  pauses: number;
  ownerChanges: number;
  recoveredAfterKill: Spread;
  recoveredAfterFreeze: Spread;
  /** Pages that were under way when their owner was lost, and were got once more. */
  refetched: number;
  /** Workers that lost their lease and began anew; those that were frozen have to. */
  fences: number;
}

/** Plays a plan to its end and says how it went. */
export function simulate(plan: ClusterPlan): ClusterReport {
  const cluster = new Cluster(plan);
  cluster.run();
  const { database, web, lanes, workers } = cluster;
  const best = Math.max(...database.seconds.map(({ pages }) => pages));
  const busy = database.seconds.filter(({ pages }) => pages >= best / 2);
  const middle = (value: (second: Second) => number) => spread(busy.map(value)).middle;
  const transactions = Object.values(database.transactions).reduce((sum, count) => sum + count, 0);
  const after = (by: Recovery["by"]) => spread(cluster.recoveries.filter((one) => one.by === by).map(({ ms }) => ms));
  return {
    plan,
    pages: cluster.pages,
    seconds: cluster.timeline.now() / 1000,
    pagesPerSecond: middle(({ pages }) => pages),
    transactionsPerSecond: middle((second) => second.transactions),
    rowsPerSecond: middle(({ rows }) => rows),
    writerBusy: middle(({ busyMs }) => Math.min(1, busyMs / 1000)),
    transactionsPerPage: transactions / cluster.pages,
    settlesPerPage: database.transactions.settle / cluster.pages,
    rowsPerPage: database.rows / cluster.pages,
    longestWaitMs: database.longestWaitMs,
    lanes: spread(cluster.balance.map((one) => one.lanes)),
    pagesOfWorkers: spread(cluster.balance.map((one) => one.pages)),
    fullest: web.fullest,
    violations: [
      ...web.violations,
      ...database.violations,
      ...database.locks.deadlocks.map((circle) => `deadlock: ${circle}`),
      ...workers.flatMap((worker) => (worker.lostAlive ? ["a worker that was not frozen lost its lanes"] : [])),
    ],
    lockWaits: database.locks.waits,
    lockTimeouts: database.locks.timeouts,
    longestLockWaitMs: database.locks.longestWaitMs,
    repeated: database.repeated,
    pauses: workers.reduce((sum, worker) => sum + worker.pauses, 0),
    ownerChanges: lanes.reduce((sum, lane) => sum + lane.ownerChanges, 0),
    recoveredAfterKill: after("kill"),
    recoveredAfterFreeze: after("freeze"),
    refetched: lanes.reduce((sum, lane) => sum + lane.recovered, 0),
    fences: workers.reduce((sum, worker) => sum + worker.fences, 0),
  };
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return { least: sorted[0] ?? 0, middle: sorted[sorted.length >> 1] ?? 0, most: sorted.at(-1) ?? 0 };
}

const whole = (value: number) => Math.round(value).toLocaleString("en-US");
const inSeconds = (ms: number) => (ms / 1000).toFixed(1);
const three = ({ least, middle, most }: Spread, show: (value: number) => string) =>
  `${show(least)} / ${show(middle)} / ${show(most)}`;

const ROWS: readonly [string, (report: ClusterReport) => string][] = [
  ["workers", ({ plan }) => whole(plan.workers)],
  ["sites", ({ plan }) => whole(plan.sites)],
  ["pages", ({ pages }) => whole(pages)],
  ["pages/s, all workers", ({ pagesPerSecond }) => whole(pagesPerSecond)],
  ["pages/s, one worker", ({ pagesPerSecond, plan }) => (pagesPerSecond / plan.workers).toFixed(1)],
  ["lanes per worker, min / median / max", ({ lanes }) => three(lanes, whole)],
  ["pages per worker before the faults", ({ pagesOfWorkers }) => three(pagesOfWorkers, whole)],
  ["peak concurrency of a site, of its limit", ({ fullest }) => `${Math.round(fullest * 100)} %`],
  ["violations of limits, locks and leases", ({ violations }) => whole(violations.length)],
  ["owner changes", ({ ownerChanges }) => whole(ownerChanges)],
  ["workers killed, frozen", ({ plan }) => `${plan.killed}, ${plan.frozen}`],
  ["s until lanes of a killed worker resume", (report) => three(report.recoveredAfterKill, inSeconds)],
  ["s until lanes of a frozen worker resume", (report) => three(report.recoveredAfterFreeze, inSeconds)],
  ["pages fetched twice", ({ refetched }) => whole(refetched)],
  ["leases lost", ({ fences }) => whole(fences)],
  ["write transactions/s", ({ transactionsPerSecond }) => whole(transactionsPerSecond)],
  ["rows written/s", ({ rowsPerSecond }) => whole(rowsPerSecond)],
  ["write transactions per page", ({ transactionsPerPage }) => transactionsPerPage.toFixed(3)],
  ["rows written per page", ({ rowsPerPage }) => rowsPerPage.toFixed(2)],
  ["waits for locks, longest in s", (report) => `${whole(report.lockWaits)}, ${inSeconds(report.longestLockWaitMs)}`],
  ["database busy", ({ writerBusy }) => `${Math.round(writerBusy * 100)} %`],
  ["longest write, s", ({ longestWaitMs }) => inSeconds(longestWaitMs)],
  ["simulated s", ({ seconds }) => whole(seconds)],
];

/** A column per report, in Markdown. */
export function tableOf(reports: readonly ClusterReport[]): string {
  const lines = ROWS.map(([name, show]) => [name, ...reports.map(show)]);
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const draw = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const rule = `|${widths.map((width, column) => `${"-".repeat(width + 1)}${column === 0 ? "-" : ":"}`).join("|")}|`;
  const [head = [], ...rest] = lines;
  return `${[draw(head), rule, ...rest.map(draw)].join("\n")}\n`;
}

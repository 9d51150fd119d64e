/** Throughput by number of workers, when the way to Postgres takes time: how many writers work concurrently. */
import { type ChildProcess, fork } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { print, verdict } from "../support/measure.ts";
import { BenchCluster, pause, printLoad } from "./cluster.ts";
import { Counters } from "./counters.ts";
import { Sites } from "./sites.ts";

const SITES = 24;
const STEPS = [1, 2, 4, 8];
/** How much more than one worker does. */
const WANTED: Readonly<Record<number, number>> = { 4: 3, 8: 4.5 };
/** The delay at which that is wanted. */
const DECIDES_MS = 2;
/** The CPU is the limit above this share of it. */
const CPU_IS_LIMIT = 0.85;
const LATENCY_MS = 20;
/** Of a large worker: one alone uses most of two cores. */
const MANY_SLOTS = 64;
/** Of a small worker: there is CPU time left for four of them on two cores. */
const FEW_SLOTS = 2;
const PAGES = 1500;
const WARM_UP_MS = 10_000;

export async function benchWriters(seconds: number, delays: readonly number[] = [1, 2, 5]): Promise<boolean> {
  print(`\nwriters: ${SITES} crawls of fast sites, Postgres behind a line that delays each way`);
  printLoad();
  const results: boolean[] = [];
  const series = [
    ...delays.map((ms) => ({ ms, slots: MANY_SLOTS })),
    ...delays.filter((ms) => ms === DECIDES_MS).map((ms) => ({ ms, slots: FEW_SLOTS })),
  ];
  for (const { ms, slots } of series) {
    const steps: Measured[] = [];
    for (const workers of STEPS) {
      const measured = await measure({ ms, slots, workers, seconds });
      steps.push(measured);
      const { rate, transactions, cpu } = measured;
      print(
        `${ms} ms, ${workers} workers of ${slots} slots: ${rate.toFixed(0)} pages/s (${(rate / (steps[0]?.rate ?? rate)).toFixed(2)}×), ` +
          `${transactions.toFixed(0)} transactions/s, CPU ${(100 * cpu).toFixed(0)} %`,
      );
    }
    if (ms !== DECIDES_MS) continue;
    for (const [index, workers] of STEPS.entries()) {
      const wanted = WANTED[workers];
      const [one, step] = [steps[0] as Measured, steps[index] as Measured];
      if (wanted === undefined) continue;
      if (step.cpu > CPU_IS_LIMIT) print(`${workers} workers use all of the CPU: it is the limit`);
      else results.push(verdict(`${workers} workers against one`, step.rate / one.rate, wanted));
    }
  }
  return results.every(Boolean);
}

interface Measured {
  rate: number;
  transactions: number;
  /** The share of all cores. */
  cpu: number;
}

interface Setting {
  ms: number;
  slots: number;
  workers: number;
  seconds: number;
}

async function measure({ ms, slots, workers, seconds }: Setting): Promise<Measured> {
  using sites = await Sites.start({ sites: SITES, pages: PAGES, latencyMs: LATENCY_MS });
  let line: ChildProcess | null = null;
  const through = async (url: string) => {
    const { hostname, port } = new URL(url);
    line = fork(fileURLToPath(new URL("delay-line.ts", import.meta.url)), [hostname, port, String(ms)]);
    const own = await new Promise<number>((resolve) => line?.once("message", (at) => resolve(at as number)));
    return url.replace(`:${port}`, `:${own}`);
  };
  await using cluster = await BenchCluster.start({
    workers,
    through,
    env: { APP_MAX_WORKERS: String(slots), APP_MAX_PER_HOST: "8", APP_MAX_CONCURRENT_TASKS: String(SITES) },
  });
  await using counters = await Counters.open(cluster.postgres.url);
  await Promise.all(sites.starts.map((url) => cluster.crawl([url], PAGES)));
  await pause(WARM_UP_MS);
  const [before, counted, cpu] = [await sites.count(), await counters.read(), busy()];
  const begun = performance.now();
  await pause(seconds * 1000);
  const after = await sites.count();
  const tookMs = performance.now() - begun;
  const used = busy();
  const end = await counters.read();
  (line as ChildProcess | null)?.kill();
  return {
    rate: ((after.total - before.total) * 1000) / tookMs,
    transactions: ((end.writing - counted.writing) * 1000) / (end.at - counted.at),
    cpu: (used.busy - cpu.busy) / (used.all - cpu.all),
  };
}

function busy(): { busy: number; all: number } {
  const sum = { busy: 0, all: 0 };
  for (const { times } of cpus()) {
    const all = Object.values(times).reduce((total, time) => total + time, 0);
    sum.all += all;
    sum.busy += all - times.idle;
  }
  return sum;
}

/** Throughput by number of workers, when neither the sites nor their limits are the bottleneck. */
import { print, verdict } from "../support/measure.ts";
import { BenchCluster, pause, printLoad } from "./cluster.ts";
import { Sites } from "./sites.ts";

const WANTED = 1.8;
const STEPS = [1, 2, 4];
const SITES = 24;
const SLOTS = 8;
const LATENCY_MS = 200;
/** Slots are the limit: the few lanes of one of four workers allow more than its slots. */
const PER_SITE = 8;
/** Until all workers take part, lanes are rebalanced. */
const SETTLE_MS = 8000;
const PATIENCE_MS = 60_000;

export async function benchScaling(seconds: number): Promise<boolean> {
  print(`\nscaling: ${STEPS.join(", ")} workers of ${SLOTS} slots, ${SITES} sites that answer after ${LATENCY_MS} ms`);
  printLoad();
  const most = (Math.max(...STEPS) * SLOTS * 1000) / LATENCY_MS;
  // More than can be done meanwhile, so that no site runs out of pages.
  const pages = Math.ceil((most * (seconds + PATIENCE_MS / 1000) * STEPS.length) / SITES);
  using sites = await Sites.start({ sites: SITES, pages, latencyMs: LATENCY_MS });
  await using cluster = await BenchCluster.start({
    workers: 0,
    env: { APP_MAX_WORKERS: String(SLOTS), APP_MAX_PER_HOST: String(PER_SITE) },
  });
  await cluster.crawl(sites.starts, pages * SITES);
  const rates: number[] = [];
  for (const workers of STEPS) {
    await cluster.addWorkers(workers - cluster.workers);
    await allTakePart(cluster, sites);
    await pause(SETTLE_MS);
    const before = await sites.count();
    const begun = performance.now();
    await pause(seconds * 1000);
    const after = await sites.count();
    const rate = ((after.total - before.total) * 1000) / (performance.now() - begun);
    rates.push(rate);
    const each = Object.entries(after.by).map(([name, count]) => count - (before.by[name] ?? 0));
    const bound = (workers * SLOTS * 1000) / LATENCY_MS;
    print(
      `${workers} workers: ${rate.toFixed(1)} pages/s (${((100 * rate) / bound).toFixed(0)} % of what slots allow), of each worker ${each.join(", ")}`,
    );
  }
  return rates
    .slice(1)
    .map((rate, index) => verdict(`${STEPS[index]} → ${STEPS[index + 1]} workers`, rate / (rates[index] ?? 1), WANTED))
    .every(Boolean);
}

async function allTakePart(cluster: BenchCluster, sites: Sites): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { by } = await sites.count();
    if (Object.keys(by).length >= cluster.workers) return;
    if (performance.now() > deadline)
      throw new Error(`not all of ${cluster.workers} workers take part: ${JSON.stringify(by)}`);
    await pause(100);
  }
}

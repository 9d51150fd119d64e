/** Database cost of a crawled page: Postgres' own counters, minus those of an idle cluster in the same time. */
import { print, verdictAtMost } from "../support/measure.ts";
import { BenchCluster, pause, printLoad } from "./cluster.ts";
import { type Counted, Counters } from "./counters.ts";
import { Sites } from "./sites.ts";

const WANTED = { rows: 5, transactions: 0.1 };
const SITES = 16;
const WORKERS = 2;
const LATENCY_MS = 200;
const IDLE_MS = 10_000;

const rowsOf = ({ rows }: Counted) => [...rows.values()].reduce((sum, count) => sum + count, 0);

/** Per-second rates. */
function perSecond(before: Counted, after: Counted) {
  const seconds = (after.at - before.at) / 1000;
  return {
    transactions: (after.transactions - before.transactions) / seconds,
    writing: (after.writing - before.writing) / seconds,
    rows: (rowsOf(after) - rowsOf(before)) / seconds,
    walBytes: (after.walBytes - before.walBytes) / seconds,
  };
}

export async function benchCost(pages: number): Promise<boolean> {
  const perSite = Math.ceil(pages / SITES);
  const total = perSite * SITES;
  print(`\ncost: a crawl of ${total} pages of ${SITES} sites that answer after ${LATENCY_MS} ms, ${WORKERS} workers`);
  printLoad();
  using sites = await Sites.start({ sites: SITES, pages: perSite, latencyMs: LATENCY_MS });
  await using cluster = await BenchCluster.start({ workers: WORKERS });
  await using counters = await Counters.open(cluster.postgres.url);
  await pause(2000);
  const resting = await counters.read();
  await pause(IDLE_MS);
  const before = await counters.read();
  const idle = perSecond(resting, before);
  const sizeBefore = await counters.size();
  // A higher page limit than there are pages: the last pages below a limit are claimed one by one.
  const id = await cluster.crawl(sites.starts, 10 * total);
  const begun = performance.now();
  // Polling the product would be counted, too; poll the sites instead.
  while ((await sites.count()).total < total) await pause(100);
  for (let status = ""; status !== "completed";) {
    await pause(500);
    ({ status } = await cluster.get<{ status: string }>(`/scraping/tasks/${id}/status`));
    if (status === "failed" || status === "cancelled") throw new Error(`the crawl has ended as ${status}`);
  }
  const took = (performance.now() - begun) / 1000;
  const after = await counters.read();
  const size = (await counters.size()) - sizeBefore;
  const { total: requests } = await sites.count();
  if (requests !== total) throw new Error(`${requests} requests were made for ${total} pages`);
  const busy = perSecond(before, after);
  const seconds = (after.at - before.at) / 1000;
  const perPage = (name: keyof typeof busy) => ((busy[name] - idle[name]) * seconds) / total;
  print(`${(total / took).toFixed(0)} pages/s`);
  print(
    `idle, per second: ${idle.transactions.toFixed(1)} transactions, ${idle.writing.toFixed(1)} of them write; ${idle.rows.toFixed(1)} rows`,
  );
  print(
    `per page: ${perPage("transactions").toFixed(3)} transactions, ${perPage("writing").toFixed(3)} of them write; ${Math.round(perPage("walBytes"))} bytes of WAL, ${Math.round(size / total)} bytes on disk`,
  );
  const byTable = [...after.rows]
    .map(([table, count]) => [table, (count - (before.rows.get(table) ?? 0)) / total] as const)
    .filter(([, count]) => count >= 0.01)
    .toSorted(([, a], [, b]) => b - a)
    .map(([table, count]) => `${table} ${count.toFixed(2)}`);
  print(`rows per page, by table: ${byTable.join(", ")}`);
  return [
    verdictAtMost("rows written per page", perPage("rows"), WANTED.rows, ""),
    verdictAtMost("transactions per page", perPage("transactions"), WANTED.transactions, ""),
  ].every(Boolean);
}

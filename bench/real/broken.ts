/** A site of 1,000 pages with and without permanently failing pages, crawled with orb's defaults. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { orbCommand } from "../crawl/contestants.ts";
import { type Ran, run } from "../crawl/process.ts";
import { writeSite } from "../crawl/site.ts";
import { print, verdictAtMost } from "../support/measure.ts";
import { startNginx } from "../support/services.ts";
import { lastGoodRequest, RETRY_SECONDS } from "./explained-time.ts";
import { type FaultRates, NO_FAULTS } from "./faults.ts";
import { breakerOpenings, readTitles } from "./results.ts";
import { type ProxyRequest, startFaultProxy } from "./start-proxy.ts";
import { printTable } from "./table.ts";

const PAGES = 1000;
/** The latency of a remote site; without it process startup would dominate. */
const ANSWER_MS = 50;

interface Crawl {
  ran: Ran;
  requests: ProxyRequest[];
  results: number;
  failing: number;
  /** Time of the last successful page, from the first request on. */
  lastGood: number;
  openings: number;
}

async function crawl(origin: string, dir: string, rates: FaultRates): Promise<Crawl> {
  mkdirSync(dir, { recursive: true });
  const proxy = await startFaultProxy(origin, { log: join(dir, "asked.log"), sound: ["/"], rates });
  // Raise the limits and allow this machine; everything else is default.
  const args = ["crawl", `${proxy.url}/`, "--json", "--depth", "100", "--max-pages", String(PAGES * 2)];
  const { env: _, ...command } = orbCommand(args, dir);
  let ran: Ran;
  let requests: ProxyRequest[] = [];
  try {
    ran = await run({ ...command, env: { APP_ALLOW_PRIVATE_NETWORKS: "true" } });
  } finally {
    requests = await proxy.stop();
  }
  return {
    ran,
    requests,
    results: (await readTitles(dir)).size,
    failing: new Set(requests.filter(({ status }) => status === 500).map(({ path }) => path)).size,
    lastGood: lastGoodRequest(requests),
    openings: await breakerOpenings(dir),
  };
}

export async function broken(folder: string): Promise<boolean> {
  print(
    `\n${PAGES} pages that answer after ${ANSWER_MS} ms, with the defaults of orb: without and with 2 % that always fail`,
  );
  const site = join(folder, "broken-site");
  mkdirSync(site);
  writeSite(site, PAGES);
  const server = await startNginx(site);
  if (server === null) throw new Error("nginx could not be fetched with apt-get download");
  try {
    const rates = { ...NO_FAULTS, everyMs: ANSWER_MS };
    const without = await crawl(server.url, join(folder, "broken-without"), rates);
    const with2 = await crawl(server.url, join(folder, "broken-with"), { ...rates, serverError: 20 });
    const row = (name: string, { ran, results, failing, requests, lastGood, openings }: Crawl, explained: number) => [
      name,
      String(results),
      String(failing),
      String(requests.filter(({ status }) => status === 500).length),
      String(openings),
      lastGood.toFixed(1),
      (lastGood / without.lastGood).toFixed(2),
      ran.wallSeconds.toFixed(1),
      explained.toFixed(1),
    ];
    const explained = Math.round(1.1 * without.ran.wallSeconds + RETRY_SECONDS);
    printTable(
      [
        "2 % broken",
        "results",
        "broken pages",
        "500s",
        "breaker opened",
        "last good page at s",
        "× without",
        "took s",
        "wanted ≤ s",
      ],
      [row("without", without, without.ran.wallSeconds), row("with", with2, explained)],
    );
    print(
      `the retries of a broken page take ${RETRY_SECONDS} s at most (10, 30 and 90 s, each up to 10 % longer), beside the other pages`,
    );
    return [
      verdictAtMost("pages missing", PAGES - with2.results - with2.failing, 0, ""),
      verdictAtMost("openings of the breaker", with2.openings, 0, ""),
      verdictAtMost("last good page against without", with2.lastGood / without.lastGood, 1.1),
      verdictAtMost("time with broken pages", with2.ran.wallSeconds, explained, " s"),
    ].every(Boolean);
  } finally {
    await server.stop();
  }
}

/** Each set through a proxy with faults: all pages but the broken ones, within the time that the faults explain. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { CONCURRENCY, orb } from "../crawl/contestants.ts";
import { type Ran, run } from "../crawl/process.ts";
import { print, verdictAtMost } from "../support/measure.ts";
import { startNginx, USUAL_TYPES } from "../support/services.ts";
import { type FaultRates, isBroken, NO_FAULTS, USUAL_FAULTS } from "./faults.ts";
import { reachable, readLinkGraph } from "./link-graph.ts";
import { endOfRetries, RETRY_SECONDS, secondsHeld } from "./explained-time.ts";
import type { Part } from "./plain.ts";
import { breakerOpenings, readTitles } from "./results.ts";
import type { FoundSet } from "./sets.ts";
import { type ProxyRequest, startFaultProxy } from "./start-proxy.ts";
import { printNames, printTable } from "./table.ts";

interface Pass {
  ran: Ran;
  requests: ProxyRequest[];
  results: Set<string>;
  breakerOpenings: number;
}

async function pass(origin: string, set: FoundSet, dir: string, rates: FaultRates): Promise<Pass> {
  mkdirSync(dir, { recursive: true });
  const sound = [`/${set.start}`];
  const proxy = await startFaultProxy(origin, { log: join(dir, "asked.log"), sound, rates });
  let requests: ProxyRequest[] = [];
  let ran: Ran;
  try {
    ran = await run(orb("article").command(`${proxy.url}/${set.start}`.replace(/\/$/, ""), dir));
  } finally {
    requests = await proxy.stop();
  }
  const titles = await readTitles(dir);
  return { ran, requests, results: new Set(titles.keys()), breakerOpenings: await breakerOpenings(dir) };
}

const FAULTS = USUAL_FAULTS;
const HEADER = [
  "set",
  "pages",
  "broken",
  "behind them",
  "missing",
  "more",
  "429",
  "slow",
  "breaker",
  "clean s",
  "explained s",
  "took s",
  "ratio",
];

async function crawlSet(set: FoundSet, { folder }: Part): Promise<{ row: string[]; good: boolean }> {
  print(`\n${set.name} through a proxy with faults`);
  const graph = await readLinkGraph(set.root, set.start);
  const server = await startNginx(set.root, { types: USUAL_TYPES });
  if (server === null) throw new Error("nginx could not be fetched with apt-get download");
  const dir = join(folder, `faults-${set.name}`);
  let clean: Pass;
  let faulty: Pass;
  try {
    clean = await pass(server.url, set, join(dir, "clean"), NO_FAULTS);
    faulty = await pass(server.url, set, join(dir, "faulty"), FAULTS);
  } finally {
    await server.stop();
  }
  const broken = (path: string) => path !== graph.start && isBroken(path, FAULTS);
  const wanted = reachable(graph, broken);
  const missing = [...wanted].filter((path) => !faulty.results.has(path));
  const more = [...faulty.results].filter((path) => graph.pages.has(path) && !wanted.has(path));
  printNames("pages that are missing though a way without faults leads there", missing);
  printNames("pages that are there though every way to them is broken", more);
  const count = (fault: string) => faulty.requests.filter((one) => one.fault === fault).length;
  const slow = (count("slow") * FAULTS.slowMs) / 1000 / CONCURRENCY;
  const limits = faulty.requests.filter(({ status }) => status === 429);
  const alone = clean.ran.wallSeconds + slow + secondsHeld(limits);
  // A broken page that was discovered late for another reason explains nothing.
  const retried = Math.min(endOfRetries(faulty.requests), alone + RETRY_SECONDS);
  const explained = Math.max(alone, retried);
  const ratio = faulty.ran.wallSeconds / explained;
  const all = [...graph.pages.keys()];
  const brokenPages = all.filter(broken).length;
  const row = [
    set.name,
    graph.pages.size,
    brokenPages,
    graph.pages.size - brokenPages - wanted.size,
    missing.length,
    more.length,
    limits.length,
    count("slow"),
    faulty.breakerOpenings,
    clean.ran.wallSeconds.toFixed(1),
    explained.toFixed(1),
    faulty.ran.wallSeconds.toFixed(1),
    ratio.toFixed(2),
  ].map(String);
  const good = [
    verdictAtMost("pages missing without faults", all.filter((path) => !clean.results.has(path)).length, 0, ""),
    verdictAtMost("pages missing with faults", missing.length, 0, ""),
    verdictAtMost("pages that should not be there", more.length, 0, ""),
    verdictAtMost("openings of the breaker", faulty.breakerOpenings, 0, ""),
    verdictAtMost("time against what the faults explain", ratio, 1.5),
  ].every(Boolean);
  printTable(HEADER, [row]);
  return { row, good };
}

export async function faults(part: Part): Promise<boolean> {
  const rows: string[][] = [];
  let reached = true;
  for (const set of part.sets) {
    const done = await crawlSet(set, part);
    rows.push(done.row);
    reached &&= done.good;
  }
  print(
    "\nbroken: always 500 (2 %), 404 (1 %) or a redirect loop (1 %); behind them: pages that only broken ones lead to;",
  );
  print(
    "clean: through the proxy without faults; explained: clean, the slow answers and the seconds that 429 asks for,",
  );
  print("or from the last broken page on its retries after 10, 30 and 90 s, whichever is longer");
  printTable(HEADER, rows);
  return reached;
}

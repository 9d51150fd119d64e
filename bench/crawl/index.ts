/** Crawls of a static site: ours against Crawlee, Scrapy, wget2 and a bare loop; --part selects other parts. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { print, verdict, verdictAtMost } from "../support/measure.ts";
import { startNginx } from "../support/services.ts";
import { articleIsRight, fieldsAreRight } from "./check.ts";
import { bare, CONCURRENCY, type Contestant, crawlee, orb, scrapy, wget2 } from "./contestants.ts";
import { raceKills } from "./kill.ts";
import { type Rate, raceRates } from "./rate.ts";
import { writeSite } from "./site.ts";
import { tracedCrawl } from "./telemetry.ts";
import { longCrawl, restartWithLongQueue } from "./tiny.ts";

export const defaultRounds = 3;

interface Request {
  rounds: number;
  /** Default: the part's own size. */
  pages?: number;
  /** Contestants by name prefix; ours always runs. */
  only?: string[];
}

const PARTS: Record<string, (request: Request) => Promise<boolean>> = {
  rate,
  article,
  kill,
  tiny,
  restart,
  telemetry,
};

export async function run(
  rounds: number,
  { part = "rate", pages, only }: { part?: string; pages?: string; only?: string },
): Promise<boolean> {
  const parts = part === "all" ? Object.values(PARTS) : [PARTS[part]];
  const names = Object.keys(PARTS).join(", ");
  if (parts.includes(undefined)) throw new Error(`there is no part ${part}: the parts are ${names} and all`);
  const request: Request = { rounds };
  if (pages !== undefined) request.pages = Number(pages);
  if (only !== undefined) request.only = only.toLowerCase().split(",");
  let reached = true;
  for (const one of parts) reached = (await one!(request)) && reached;
  if (part !== "all") print(`\nthis was the part ${part}; --part takes ${names} and all`);
  return reached;
}

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "orb-bench-crawl-"));
  try {
    return await work(folder);
  } finally {
    // Only now: on ext4 deleting thousands of files slows down the next creations of any process.
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Serves the site with nginx; `log` receives every request. */
async function withSite<T>(
  folder: string,
  pages: number,
  work: (origin: string) => Promise<T>,
  log?: string,
): Promise<T> {
  const site = join(folder, "site");
  mkdirSync(site);
  const { bytes } = writeSite(site, pages);
  const server = await startNginx(site, { accessLog: log });
  if (server === null) throw new Error("nginx is not there: apt-get install nginx");
  try {
    print(`  a page has ${Math.round(bytes / pages / 1024)} KiB on average`);
    return await work(server.url);
  } finally {
    await server.stop();
  }
}

function chosen(list: (Contestant | null)[], only: readonly string[] | undefined): Contestant[] {
  const there = list.filter((one) => one !== null);
  if (only === undefined) return there;
  return there.filter(({ name }, index) => index === 0 || only.some((start) => name.toLowerCase().startsWith(start)));
}

/** Our throughput against another's; null if that did not run. */
function compare(rates: Map<string, Rate>, own: Contestant, other: Contestant, text: string, wanted: number): boolean {
  const [ours, theirs] = [rates.get(own.name), rates.get(other.name)];
  if (ours === undefined || theirs === undefined) return true;
  return verdict(text, ours.pagesPerSecond / theirs.pagesPerSecond, wanted);
}

const allCrawled = (rates: Map<string, Rate>) => [...rates.values()].every(({ complaint }) => complaint === null);

async function rate({ rounds, pages = 5000, only }: Request): Promise<boolean> {
  print(
    `\n${pages} static pages, title and three fields of each, ${CONCURRENCY} at a time, median of ${rounds} rounds`,
  );
  const [own, disk] = [orb("fields"), crawlee("disk", "fields")];
  const guests = [scrapy("memory"), scrapy("JOBDIR"), wget2()];
  const list = chosen([own, bare, crawlee("memory", "fields"), disk, ...guests], only);
  const rates = await withFolder((folder) =>
    withSite(folder, pages, (origin) => raceRates(list, { origin, folder, pages, rounds, judge: fieldsAreRight })),
  );
  if (guests[0] === null) print("  Scrapy is not there: apt-get install python3-scrapy");
  if (guests[2] === null) print("  wget2 is not there: apt-get install wget2");
  return [
    compare(rates, own, bare, "against the bare loop", 0.9),
    compare(rates, own, disk, "against Crawlee on disk", 8),
    verdictAtMost("peak memory", rates.get(own.name)!.peakMegabytes, 350, " MB"),
    allCrawled(rates),
  ].every(Boolean);
}

async function article({ rounds, pages = 5000, only }: Request): Promise<boolean> {
  print(`\n${pages} static pages, text and Markdown of each, ${CONCURRENCY} at a time, median of ${rounds} rounds`);
  const [own, peer] = [orb("article"), crawlee("disk", "article")];
  const rates = await withFolder((folder) =>
    withSite(folder, pages, (origin) =>
      raceRates(chosen([own, peer], only), { origin, folder, pages, rounds, judge: articleIsRight }),
    ),
  );
  return [compare(rates, own, peer, "against Crawlee on disk", 5), allCrawled(rates)].every(Boolean);
}

async function kill({ pages = 5000, only }: Request): Promise<boolean> {
  print(`\nkill -9 at 40 % of ${pages} static pages, then started again`);
  const list = chosen([orb("fields"), bare, crawlee("disk", "fields"), scrapy("JOBDIR")], only);
  return withFolder((folder) => {
    const log = join(folder, "asked.log");
    return withSite(folder, pages, (origin) => raceKills(list, { origin, folder, log, pages }), log);
  });
}

function tiny({ pages = 200_000 }: Request): Promise<boolean> {
  return withFolder((folder) => longCrawl(join(folder, "orb"), pages));
}

function restart({ rounds, pages = 1_000_000 }: Request): Promise<boolean> {
  return withFolder((folder) => restartWithLongQueue(join(folder, "orb"), pages, rounds));
}

function telemetry({ rounds, pages = 20_000 }: Request): Promise<boolean> {
  return withFolder((folder) => tracedCrawl(folder, pages, rounds));
}

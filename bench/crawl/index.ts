/** Crawls of a static site: ours against Crawlee, Scrapy, wget2 and a bare loop; other parts are chosen by --part. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { print, verdict, verdictAtMost } from "../support/measure.ts";
import { startNginx } from "../support/services.ts";
import { articleIsRight, fieldsAreRight } from "./check.ts";
import { bare, CONCURRENCY, type Contestant, crawlee, orb, scrapy, wget2 } from "./contestants.ts";
import { type Rate, raceRates } from "./rate.ts";
import { writeSite } from "./site.ts";

export const defaultRounds = 3;

interface Request {
  rounds: number;
  pages: number;
}

const PARTS: Record<string, (request: Request) => Promise<boolean>> = { rate, article };

export async function run(rounds: number, options: { part?: string; pages?: string }): Promise<boolean> {
  const { part = "rate", pages = "5000" } = options;
  const chosen = part === "all" ? Object.values(PARTS) : [PARTS[part]];
  const names = Object.keys(PARTS).join(", ");
  if (chosen.includes(undefined)) throw new Error(`there is no part ${part}: the parts are ${names} and all`);
  let reached = true;
  for (const one of chosen) reached = (await one!({ rounds, pages: Number(pages) })) && reached;
  if (part !== "all") print(`\nthis was the part ${part}; --part takes ${names} and all`);
  return reached;
}

/** A site on a web server of its own, and a folder for the contestants. */
async function withSite<T>(pages: number, work: (origin: string, folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "orb-bench-crawl-"));
  const site = join(folder, "site");
  mkdirSync(site);
  const { bytes } = writeSite(site, pages);
  const server = await startNginx(site);
  try {
    if (server === null) throw new Error("nginx is not there: apt-get install nginx-light");
    print(
      `  a page has ${Math.round(bytes / pages / 1024)} KiB on average; pages/s is from the first request to the last page stored,`,
    );
    print(`  wall is the whole process; CPU is user and system time of the process and its children`);
    return await work(server.url, folder);
  } finally {
    await server?.stop();
    // Only now: on ext4 a removal of thousands slows the next creations down, whoever makes them.
    rmSync(folder, { recursive: true, force: true });
  }
}

const there = (list: (Contestant | null)[]) => list.filter((one) => one !== null);
const allCrawled = (rates: Map<string, Rate>) => [...rates.values()].every(({ complaint }) => complaint === null);

async function rate({ rounds, pages }: Request): Promise<boolean> {
  print(
    `\n${pages} static pages, title and three fields of each, ${CONCURRENCY} at a time, median of ${rounds} rounds`,
  );
  const [own, disk] = [orb("fields"), crawlee("disk", "fields")];
  const guests = [scrapy("memory"), scrapy("JOBDIR"), wget2()];
  const list = there([own, bare, crawlee("memory", "fields"), disk, ...guests]);
  const rates = await withSite(pages, (origin, folder) =>
    raceRates(list, { origin, folder, pages, rounds, judge: fieldsAreRight }),
  );
  if (guests[0] === null) print("  Scrapy is not there: apt-get install python3-scrapy");
  if (guests[2] === null) print("  wget2 is not there: apt-get install wget2");
  const [ours, limit, peer] = [own, bare, disk].map(({ name }) => rates.get(name)!) as [Rate, Rate, Rate];
  return [
    verdict("against the bare loop", ours.pagesPerSecond / limit.pagesPerSecond, 0.9),
    verdict("against Crawlee on disk", ours.pagesPerSecond / peer.pagesPerSecond, 8),
    verdictAtMost("peak memory", ours.peakMegabytes, 350, " MB"),
    allCrawled(rates),
  ].every(Boolean);
}

async function article({ rounds, pages }: Request): Promise<boolean> {
  print(`\n${pages} static pages, text and Markdown of each, ${CONCURRENCY} at a time, median of ${rounds} rounds`);
  const [own, peer] = [orb("article"), crawlee("disk", "article")];
  const rates = await withSite(pages, (origin, folder) =>
    raceRates([own, peer], { origin, folder, pages, rounds, judge: articleIsRight }),
  );
  const ratio = rates.get(own.name)!.pagesPerSecond / rates.get(peer.name)!.pagesPerSecond;
  return [verdict("against Crawlee on disk", ratio, 5), allCrawled(rates)].every(Boolean);
}

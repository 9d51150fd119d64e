/** A long crawl of tiny pages and a long queue: throughput and memory over time, and the start with a million URLs. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { median, print, verdict, verdictAtMost } from "../support/measure.ts";
import { CONCURRENCY, orb } from "./contestants.ts";
import { type Ran, start, treeMegabytes } from "./process.ts";

interface Given {
  given: number;
  /** Wall time in milliseconds. */
  at: number;
}

export interface TinySite {
  origin: string;
  /** Reports so far: one per step of pages. */
  told: Given[];
  /** The next page request. */
  next(): Promise<Given>;
  until(given: number): Promise<void>;
  stop(): void;
}

export async function startTinySite(shape: "tree" | "hubs", pages: number, step: number): Promise<TinySite> {
  const server = fork(fileURLToPath(new URL("tiny-site.ts", import.meta.url)), [shape, `${pages}`, `${step}`]);
  const [{ port }] = (await once(server, "message")) as [{ port: number }];
  const told: Given[] = [];
  server.on("message", (message) => void told.push(message as Given));
  return {
    origin: `http://127.0.0.1:${port}`,
    told,
    next: async () => {
      const answer = once(server, "message");
      server.send("tell the next");
      return (await answer)[0] as Given;
    },
    until: async (given) => {
      while ((told.at(-1)?.given ?? 0) < given) await once(server, "message");
    },
    stop: () => server.disconnect(),
  };
}

interface View {
  status: string;
  completed_items: number;
}

/** Throws when the crawl failed: its figures would mean nothing. */
function viewOf({ code, stdout, stderr }: Ran): View {
  if (code !== 0) throw new Error(`orb ended with ${code}: ${(stderr || stdout).trim().slice(-500)}`);
  return JSON.parse(stdout) as View;
}

const SLICES = 20;

const quarter = <T>(list: readonly T[], number: number) =>
  list.slice(Math.floor((list.length * (number - 1)) / 4), Math.floor((list.length * number) / 4));

/** Whether throughput and memory at the end are as at the start. */
export async function longCrawl(dir: string, pages: number): Promise<boolean> {
  print(`\n${pages} tiny pages, ${CONCURRENCY} at a time, in ${SLICES} slices`);
  const step = Math.floor(pages / SLICES);
  const site = await startTinySite("tree", pages, step);
  mkdirSync(dir, { recursive: true });
  try {
    const begun = site.next();
    const { child, ended } = start(orb("fields").command(site.origin, dir));
    const memory: number[] = [];
    const sample = setInterval(() => memory.push(treeMegabytes(child.pid!, "VmRSS")), 1000);
    const first = await Promise.race([begun, ended.then(viewOf).then(() => begun)]);
    const view = viewOf(await ended.finally(() => clearInterval(sample)));
    const ends = site.told.filter(({ given }) => given % step === 0).slice(0, SLICES);
    const rates = ends.map(({ at }, index) => (step / (at - (ends[index - 1] ?? first).at)) * 1000);
    print(`  pages/s by slice: ${rates.map((rate) => rate.toFixed(0)).join(" ")}`);
    print(`  memory, every second: ${memory.map((megabytes) => megabytes.toFixed(0)).join(" ")} MB`);
    // Slices have the same number of pages: the mean rate of several is the harmonic mean.
    const pace = (number: number) => {
      const part = quarter(rates, number);
      return part.length / part.reduce((sum, rate) => sum + 1 / rate, 0);
    };
    return [
      verdictAtMost("pages missing", pages - view.completed_items, 0, ""),
      verdict("pace of the last quarter against the first", pace(4) / pace(1), 0.85),
      verdictAtMost(
        "memory of the last quarter against the second",
        median(quarter(memory, 4)) / median(quarter(memory, 2)),
        1.1,
      ),
    ].every(Boolean);
  } finally {
    site.stop();
  }
}

function queuedIn(dir: string): number {
  using db = new DatabaseSync(join(dir, "data", "orb.db"));
  return (db.prepare("SELECT sum(queued) AS queued FROM streams").get() as { queued: number }).queued;
}

/**
 * Kills a crawl with a million URLs in its queue, all discovered on pages of 5,000 links: hubs are nearer to the start,
 * so they come first.
 */
export async function restartWithLongQueue(dir: string, pages: number, rounds: number): Promise<boolean> {
  print(`\na crawl with ${pages} queued URLs is started again, median of ${rounds} rounds`);
  const fetchedBefore = Math.min(2000, Math.floor(pages / 2));
  const site = await startTinySite("hubs", pages, 100);
  mkdirSync(dir, { recursive: true });
  const contestant = orb("fields");
  try {
    const filling = start(contestant.command(site.origin, dir));
    await Promise.race([site.until(Math.ceil(pages / 5000) + fetchedBefore), filling.ended.then(viewOf)]);
    filling.child.kill("SIGKILL");
    await filling.ended;
    print(`  ${queuedIn(dir)} URLs are queued when it is killed`);
    const took: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const command = await contestant.resume!(site.origin, dir);
      const next = site.next();
      const startedAt = performance.timeOrigin + performance.now();
      const again = start(command);
      const { at } = await Promise.race([next, again.ended.then((ran) => Promise.reject(new Error(ran.stderr)))]);
      took.push((at - startedAt) / 1000);
      again.child.kill("SIGKILL");
      await again.ended;
    }
    print(
      `  seconds from the start of the process to the first page: ${took.map((value) => value.toFixed(2)).join(" ")}`,
    );
    return verdictAtMost("from the start to the first page", median(took), 5, " s");
  } finally {
    site.stop();
  }
}

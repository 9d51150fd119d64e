/**
 * The cost of open dashboards for the crawling server and its crawl. --part scroll: how smoothly 10,000 rows scroll.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startTinySite } from "../crawl/tiny.ts";
import { median, print, verdictAtMost } from "../support/measure.ts";
import { scroll } from "./scroll.ts";
import { BenchServer } from "./server.ts";

export const defaultRounds = 5;

const PARTS: Record<string, (rounds: number) => Promise<boolean>> = { cost, slow, scroll };

export async function run(rounds: number, { part = "all" }: { part?: string }): Promise<boolean> {
  const parts = part === "all" ? Object.values(PARTS) : [PARTS[part]];
  if (parts.includes(undefined))
    throw new Error(`there is no part ${part}: the parts are ${Object.keys(PARTS).join(", ")} and all`);
  let reached = true;
  for (const one of parts) reached = (await one!(rounds)) && reached;
  return reached;
}

const MANY = 20;
const WINDOW_MS = 6000;
/** More than are crawled during the measurement. */
const PAGES = 5_000_000;

interface Window {
  seconds: number;
  pages: number;
  cpuSeconds: number;
}

/** An endless crawl, measured in windows with different numbers of open dashboards. */
async function watched(
  pace: number | null,
  work: (measure: (viewers: number) => Promise<Window>) => Promise<boolean>,
): Promise<boolean> {
  const site = await startTinySite("tree", PAGES, 20);
  try {
    await using server = await BenchServer.start();
    const name = encodeURIComponent(new URL(site.origin).host);
    await server.call("PUT", `/sites/${name}`, {
      max_concurrency: 32,
      ...(pace === null ? {} : { requests_per_second: pace }),
    });
    const { task_id: run } = await server.call<{ task_id: string }>("POST", "/scraping/async-scrape", {
      url: `${site.origin}/`,
      max_depth: 1000,
      max_pages: PAGES,
      strategy: "http",
      article: false,
      fields: { author: ".byline .author", price: { css: ".offer .price", type: "number" } },
    });
    const viewers = fork(fileURLToPath(new URL("viewers.ts", import.meta.url)), [server.url, run]);
    const told = { open: -1 };
    viewers.on("message", (said: { open?: number }) => Object.assign(told, said));
    const given = () => site.told.at(-1)?.given ?? 0;
    try {
      const measure = async (count: number): Promise<Window> => {
        viewers.send(count);
        // Several messages may arrive at once: the last one counts.
        while (told.open !== count) await once(viewers, "message");
        // Exclude the cost of opening and closing them.
        await pause(1500);
        const [at, pages, cpu] = [performance.now(), given(), server.cpuSeconds()];
        await pause(WINDOW_MS);
        return {
          seconds: (performance.now() - at) / 1000,
          pages: given() - pages,
          cpuSeconds: server.cpuSeconds() - cpu,
        };
      };
      // The start of a crawl is not representative.
      await site.until(3000);
      return await work(measure);
    } finally {
      viewers.disconnect();
    }
  } finally {
    site.stop();
  }
}

const show = (name: string, { seconds, pages, cpuSeconds }: Window) =>
  print(
    `  ${name.padEnd(14)} ${(pages / seconds).toFixed(0).padStart(6)} pages/s ${((100 * cpuSeconds) / seconds).toFixed(1).padStart(6)} % of a core ${((1e6 * cpuSeconds) / pages).toFixed(0).padStart(6)} µs a page`,
  );

/** CPU cores used beyond the cost of the pages alone. */
const share = (alone: Window, open: Window) =>
  (100 * (open.cpuSeconds - (alone.cpuSeconds / alone.pages) * open.pages)) / open.seconds;

const PACE = 500;

function cost(rounds: number): Promise<boolean> {
  print(`\nopen dashboards beside a crawl at ${PACE} pages/s, median of ${rounds} rounds of ${WINDOW_MS / 1000} s`);
  return watched(PACE, async (measure) => {
    const [one, many]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      const alone = await measure(0);
      const single = await measure(1);
      const between = await measure(0);
      const full = await measure(MANY);
      show("none open", alone);
      show("one open", single);
      show("none open", between);
      show(`${MANY} open`, full);
      if ([alone, single, between, full].some(({ pages, seconds }) => pages / seconds < 0.9 * PACE))
        print("  the machine is too busy for this pace: what a page costs is not the same in all of them");
      const calm = { ...alone, pages: alone.pages + between.pages, cpuSeconds: alone.cpuSeconds + between.cpuSeconds };
      one.push(share(calm, single));
      many.push(share(calm, full));
    }
    print(`  ${MANY} take ${median(many).toFixed(2)} % of a core`);
    return verdictAtMost("one open dashboard", median(one), 2, " % of a core");
  });
}

function slow(rounds: number): Promise<boolean> {
  print(
    `\n${MANY} open dashboards beside a crawl as fast as it gets, median of ${rounds} rounds of ${WINDOW_MS / 1000} s`,
  );
  return watched(null, async (measure) => {
    const [pace, cpu]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      const before = await measure(0);
      const full = await measure(MANY);
      const after = await measure(0);
      show("none open", before);
      show(`${MANY} open`, full);
      show("none open", after);
      const calm = (before.pages + after.pages) / (before.seconds + after.seconds);
      pace.push(100 * (1 - full.pages / full.seconds / calm));
      const perPage = (before.cpuSeconds + after.cpuSeconds) / (before.pages + after.pages);
      cpu.push(100 * (full.cpuSeconds / full.pages / perPage - 1));
    }
    print(`  a page takes ${median(cpu).toFixed(2)} % more CPU time`);
    return verdictAtMost(`the crawl is slower with ${MANY}`, median(pace), 5, " %");
  });
}

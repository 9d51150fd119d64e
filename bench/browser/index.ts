/**
 * Pages per second through a browser: ours against bare Playwright and Crawlee on the same Chromium; and memory over
 * time.
 */
import { fork } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { harmlessEnvironment } from "../../src/base/machine.ts";
import { findChromium } from "../../src/fetch/browser/find.ts";
import { createBrowserPool } from "../../src/fetch/browser/pool.ts";
import { createBrowserStrategy } from "../../src/fetch/browser/strategy.ts";
import { parseAddressPolicy } from "../../src/net/address.ts";
import { print, race, seconds, verdict } from "../support/measure.ts";
import { loadPeer } from "../support/peers.ts";

const PAGES = 120;
const CONCURRENCY = 4;
const LONG_RUN = 500;

async function each(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const loop = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, loop));
}

const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];

/** Playwright's own guide: a fresh context, goto, content. Does not wait for what scripts fetch. */
async function bare(origin: string, executablePath: string): Promise<number> {
  const browser = await chromium.launch({ executablePath, args });
  const visit = async (index: number) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
    const page = await context.newPage();
    await page.goto(`${origin}/${index}`, { waitUntil: "domcontentloaded" });
    await page.content();
    await context.close();
  };
  await each(CONCURRENCY, visit);
  const took = await seconds(() => each(PAGES, visit));
  await browser.close();
  return PAGES / took;
}

/** The same, waiting for the content: what a user who wants the data has to write. */
async function bareWithContent(origin: string, executablePath: string): Promise<number> {
  const browser = await chromium.launch({ executablePath, args });
  const visit = async (index: number) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
    const page = await context.newPage();
    await page.goto(`${origin}/${index}`, { waitUntil: "domcontentloaded" });
    await page.waitForSelector(".part");
    await page.content();
    await context.close();
  };
  await each(CONCURRENCY, visit);
  const took = await seconds(() => each(PAGES, visit));
  await browser.close();
  return PAGES / took;
}

function ownStrategy(path: string) {
  const policy = parseAddressPolicy(true);
  const pool = createBrowserPool({
    clock: systemClock,
    log: silentLog,
    policy,
    userAgent: "Orbweaver/bench",
    env: harmlessEnvironment(),
    maxPages: CONCURRENCY,
    path,
  });
  return { pool, strategy: createBrowserStrategy({ pool, clock: systemClock, policy }) };
}

/** With `shareKey` the pages belong to one run, as in a crawl, and reuse the browser's pages. */
async function own(origin: string, path: string, more: { shareKey?: string } = {}): Promise<number> {
  const { pool, strategy } = ownStrategy(path);
  const visit = async (index: number) => {
    const url = `${origin}/${index}`;
    const request = { url, credentials: null, timeoutMs: 30_000, maxBodyBytes: 20_000_000, ...more };
    const answer = await strategy.fetch(request);
    if (!String(answer.body).includes('class="part"')) throw new Error("the content is not there");
  };
  await each(CONCURRENCY, visit);
  const took = await seconds(() => each(PAGES, visit));
  await pool.close();
  return PAGES / took;
}

interface Crawlee {
  PlaywrightCrawler: new (options: object, config: unknown) => { run(urls: string[]): Promise<unknown> };
  Configuration: new (options: object) => unknown;
}

async function crawlee(origin: string, executablePath: string, peer: Crawlee): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), "orb-bench-"));
  const config = new peer.Configuration({
    persistStorage: false,
    storageClientOptions: { localDataDirectory: dir },
    logLevel: "OFF",
  });
  let done = 0;
  const crawler = new peer.PlaywrightCrawler(
    {
      launchContext: { launchOptions: { executablePath, args } },
      minConcurrency: CONCURRENCY,
      maxConcurrency: CONCURRENCY,
      autoscaledPoolOptions: { desiredConcurrency: CONCURRENCY },
      requestHandler: async ({
        page,
      }: {
        page: { waitForSelector(s: string): Promise<unknown>; content(): Promise<string> };
      }) => {
        await page.waitForSelector(".part");
        await page.content();
        done += 1;
      },
    },
    config,
  );
  const took = await seconds(() => crawler.run(Array.from({ length: PAGES }, (_, index) => `${origin}/${index}`)));
  rmSync(dir, { recursive: true, force: true });
  if (done !== PAGES) throw new Error(`Crawlee got ${done} of ${PAGES} pages`);
  return PAGES / took;
}

/** Resident memory of a process and all its descendants, in MB. */
function treeMemory(root: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // It has exited meanwhile.
    }
  }
  const belongs = (pid: number): boolean => pid === root || (parents.has(pid) && pid > 1 && belongs(parents.get(pid)!));
  let kilobytes = 0;
  for (const pid of parents.keys()) {
    if (!belongs(pid)) continue;
    try {
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    } catch {
      // It has exited meanwhile.
    }
  }
  return Math.round(kilobytes / 1024);
}

async function memoryOverTime(origin: string, path: string): Promise<{ early: number; late: number }> {
  const { pool, strategy } = ownStrategy(path);
  const samples: number[] = [];
  let done = 0;
  await each(LONG_RUN, async (index) => {
    const url = `${origin}/${index}`;
    await strategy.fetch({ url, credentials: null, timeoutMs: 30_000, maxBodyBytes: 20_000_000 });
    done += 1;
    if (done % 25 === 0) samples.push(treeMemory(process.pid));
  });
  await pool.close();
  const mean = (list: number[]) => Math.round(list.reduce((sum, value) => sum + value, 0) / list.length);
  const third = Math.floor(samples.length / 3);
  print(`  memory of us and the browser, every 25 pages: ${samples.join(" ")} MB`);
  return { early: mean(samples.slice(2, 2 + third)), late: mean(samples.slice(-third)) };
}

export async function run(rounds: number): Promise<boolean> {
  const path = await findChromium({ searchPath: process.env["PATH"] ?? "", installed: [] });
  print(`\n${PAGES} pages rendered by JavaScript, ${CONCURRENCY} at a time, median of ${rounds} rounds, ${path}`);
  const server = fork(fileURLToPath(new URL("site.ts", import.meta.url)));
  const port = await new Promise<number>((resolve) => server.once("message", (value) => resolve(value as number)));
  const origin = `http://127.0.0.1:${port}`;
  try {
    const peer = await loadPeer<Crawlee>("@crawlee/playwright");
    const rates = await race(
      {
        orbweaver: () => own(origin, path),
        shared: () => own(origin, path, { shareKey: "one run" }),
        bare: () => bare(origin, path),
        content: () => bareWithContent(origin, path),
        crawlee: () => (peer === null ? Promise.resolve(0) : crawlee(origin, path, peer)),
      },
      rounds,
    );
    const line = (name: string, rate: number) => print(`  ${name.padEnd(44)} ${rate.toFixed(1).padStart(6)} pages/s`);
    line("orbweaver, each page in a context of its own", rates.orbweaver);
    line("orbweaver, pages of one run", rates.shared);
    line("bare Playwright, no wait for the content", rates.bare);
    line("bare Playwright, waits for the content", rates.content);
    if (peer === null) print("  Crawlee could not be installed");
    else line("Crawlee PlaywrightCrawler", rates.crawlee);
    const { early, late } = await memoryOverTime(origin, path);
    return [
      verdict("against bare Playwright that gets the same content", rates.orbweaver / rates.content, 0.9),
      verdict("against bare Playwright that does not wait", rates.orbweaver / rates.bare, 0.9),
      ...(peer === null
        ? []
        : [verdict("pages of one run against Crawlee, which shares a context", rates.shared / rates.crawlee, 1.5)]),
      verdict(`memory stays flat over ${LONG_RUN} pages (${early} MB, then ${late} MB)`, early / late, 0.9),
    ].every(Boolean);
  } finally {
    server.disconnect();
  }
}

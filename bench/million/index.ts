/** A crawl of many sites with a kill in the middle: whether the last pages are as cheap as the first ones. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { Agent, request } from "undici";
import { print, verdict, verdictAtMost } from "../support/measure.ts";
import { type Deployment, onPostgres, onSqlite } from "./deployment.ts";
import type { SiteMessage } from "./site.ts";

export const defaultRounds = 1;

interface Options {
  part?: string;
  pages?: string;
  sites?: string;
}

const PARTS: Record<string, { pages: number; sites: number; start: () => Promise<Deployment | null> }> = {
  sqlite: { pages: 1_000_000, sites: 5000, start: onSqlite },
  postgres: { pages: 300_000, sites: 5000, start: onPostgres },
};

export async function run(_rounds: number, { part, pages, sites }: Options): Promise<boolean> {
  const names = part === undefined ? Object.keys(PARTS) : [part];
  let reached = true;
  for (const name of names) {
    const chosen = PARTS[name];
    if (chosen === undefined)
      throw new Error(`there is no part ${name}: the parts are ${Object.keys(PARTS).join(" and ")}`);
    const size = { pages: Number(pages ?? chosen.pages), sites: Number(sites ?? chosen.sites) };
    reached = (await crawlMany(chosen.start, size)) && reached;
  }
  return reached;
}

type Delivered = Extract<SiteMessage, { delivered: number }>;

/** The sites, in a process of their own. */
class Sites implements Disposable {
  readonly #child: ChildProcess;
  readonly ports: readonly number[];
  readonly reports: Delivered[] = [];

  private constructor(child: ChildProcess, ports: readonly number[]) {
    this.#child = child;
    this.ports = ports;
    child.on("message", (message: SiteMessage) => "delivered" in message && this.reports.push(message));
  }

  static async start(sites: number, pagesPerSite: number): Promise<Sites> {
    const file = fileURLToPath(new URL("site.ts", import.meta.url));
    const child = fork(file, [`${sites}`, `${pagesPerSite}`]);
    const [message] = (await once(child, "message")) as [{ ports: number[] }];
    return new Sites(child, message.ports);
  }

  get last(): Delivered {
    return this.reports.at(-1) ?? { delivered: 0, distinct: 0, at: 0 };
  }

  /** When so many pages had been delivered. */
  timeOf(distinct: number): number | null {
    return this.reports.find((report) => report.distinct >= distinct)?.at ?? null;
  }

  [Symbol.dispose](): void {
    this.#child.disconnect();
  }
}

const LOOK_MS = 200;
const SLICES = 10;
const STALLED_MS = 120_000;
const ENDED = /^(?:completed|partial|failed|cancelled)$/;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const now = () => performance.timeOrigin + performance.now();

interface Status {
  status: string;
  completed_items: number;
  failed_items: number;
}

/** Calls the API as a dashboard does, and measures. */
class Caller {
  readonly #agent = new Agent();
  readonly #deployment: Deployment;
  readonly tookMs: number[] = [];
  #isDown = false;
  #stopped = false;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  async get(path: string): Promise<unknown> {
    const answer = await request(this.#deployment.url() + path, { dispatcher: this.#agent });
    if (answer.statusCode >= 300) throw new Error(`GET ${path}: ${answer.statusCode} ${await answer.body.text()}`);
    return answer.body.json();
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    const headers = { "content-type": "application/json" };
    const options = { method: "POST", headers, body: JSON.stringify(body), dispatcher: this.#agent } as const;
    const answer = await request(this.#deployment.url() + path, options);
    if (answer.statusCode >= 300) throw new Error(`POST ${path}: ${answer.statusCode} ${await answer.body.text()}`);
    return (await answer.body.json()) as T;
  }

  /** Until it is stopped; not while the process is down. */
  async measure(paths: readonly string[]): Promise<void> {
    for (let call = 0; !this.#stopped; call += 1) {
      if (this.#isDown) await pause(LOOK_MS);
      else {
        const begun = performance.now();
        // A call that the kill interrupts is no measurement.
        const isGood = await this.get(paths[call % paths.length]!).then(
          () => true,
          (error: unknown) => {
            if (!this.#isDown) throw error;
            return false;
          },
        );
        if (isGood) this.tookMs.push(performance.now() - begun);
        await pause(LOOK_MS / 2);
      }
    }
  }

  async whileDown(work: () => Promise<void>): Promise<void> {
    this.#isDown = true;
    await work();
    this.#isDown = false;
  }

  /** Lines of a streamed export, and by how much the memory of a process grew meanwhile. */
  async exported(path: string): Promise<{ lines: number; seconds: number; megabytes: number }> {
    const before = this.#deployment.megabytes();
    const begun = performance.now();
    const answer = await request(this.#deployment.url() + path, { dispatcher: this.#agent });
    let lines = 0;
    let megabytes = 0;
    let looked = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
      if (performance.now() - looked < LOOK_MS) continue;
      looked = performance.now();
      megabytes = Math.max(megabytes, ...this.#deployment.megabytes().map((now, index) => now - before[index]!));
    }
    return { lines, seconds: (performance.now() - begun) / 1000, megabytes };
  }

  stop(): void {
    this.#stopped = true;
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

async function crawlMany(
  startDeployment: () => Promise<Deployment | null>,
  { pages: wantedPages, sites: wantedSites }: { pages: number; sites: number },
): Promise<boolean> {
  const pagesPerSite = Math.max(1, Math.floor(wantedPages / wantedSites));
  const pages = pagesPerSite * wantedSites;
  const deployment = await startDeployment();
  if (deployment === null) {
    print("!! SKIPPED: Postgres and Redis have to be installed");
    return true;
  }
  print(
    `\n${deployment.name}: ${pages} pages of ${wantedSites} sites; load of the machine ${loadavg()[0]?.toFixed(1)}`,
  );
  const caller = new Caller(deployment);
  using sites = await Sites.start(wantedSites, pagesPerSite);
  try {
    const begunAt = now();
    const { task_id: id } = await caller.post<{ task_id: string }>("/scraping/async-scrape", {
      url: sites.ports.map((port) => `http://127.0.0.1:${port}/`),
      max_pages: pages,
      max_depth: 1000,
      max_concurrent_articles: 10_000,
      use_sitemap: false,
      fields: ["title"],
    });
    print(`  accepted after ${((now() - begunAt) / 1000).toFixed(1)} s`);
    const paths = [
      "/runs?limit=20",
      `/scraping/tasks/${id}/status`,
      `/jobs/runs/${id}/results?limit=20`,
      "/sites?limit=20",
    ];
    const measuring = caller.measure(paths);
    const memory: { distinct: number; most: number }[] = [];
    const look = () => memory.push({ distinct: sites.last.distinct, most: Math.max(...deployment.megabytes()) });
    const statusOf = async () => {
      const seen = sites.last;
      if (seen.at > 0 && now() - seen.at > STALLED_MS) throw new Error(`no page was fetched for ${STALLED_MS} ms`);
      return (await caller.get(`/scraping/tasks/${id}/status`)) as Status;
    };
    while (sites.last.distinct < pages / 2) {
      await Promise.race([pause(LOOK_MS), measuring]);
      look();
      const { status } = await statusOf();
      if (ENDED.test(status)) throw new Error(`the crawl is ${status} before half of its pages`);
    }
    let [before, restartedAt] = [0, 0];
    await caller.whileDown(async () => {
      await deployment.kill();
      // Until the sites have reported what they delivered before.
      await pause(LOOK_MS);
      [before, restartedAt] = [sites.last.delivered, now()];
      await deployment.restart();
    });
    let status = await statusOf();
    while (!ENDED.test(status.status)) {
      await Promise.race([pause(LOOK_MS * 5), measuring]);
      look();
      status = await statusOf();
    }
    caller.stop();
    await measuring;
    const times = Array.from({ length: SLICES + 1 }, (_, slice) =>
      slice === 0 ? begunAt : (sites.timeOf(Math.floor((pages * slice) / SLICES)) ?? now()),
    );
    const rates = times.slice(1).map((at, index) => (pages / SLICES / (at - times[index]!)) * 1000);
    const onAgain = sites.reports.find(({ at, delivered }) => at > restartedAt && delivered > before);
    const ofTenth = (slice: number) =>
      memory.filter(({ distinct }) => Math.ceil((distinct / pages) * SLICES) === slice).map(({ most }) => most);
    print(`  pages/s by tenth: ${rates.map((rate) => rate.toFixed(0)).join(" ")}; the kill was in the sixth`);
    print(
      `  most MB of a process by tenth: ${rates.map((_, slice) => Math.max(0, ...ofTenth(slice + 1)).toFixed(0)).join(" ")}`,
    );
    const calls = caller.tookMs;
    print(
      `  API, ${calls.length} calls: p50 ${quantile(calls, 0.5).toFixed(0)} ms, p99 ${quantile(calls, 0.99).toFixed(0)} ms`,
    );
    const exported = await caller.exported(`/jobs/runs/${id}/results?format=jsonl`);
    print(
      `  export: ${exported.lines} records in ${exported.seconds.toFixed(1)} s, ${exported.megabytes.toFixed(0)} MB more in a process`,
    );
    const again = sites.last.delivered - sites.last.distinct;
    const bytes = await deployment.databaseBytes();
    const [start, middle, last] = [rates[1]!, rates[4]!, rates[8]!];
    return [
      verdictAtMost("pages missing", pages - status.completed_items, 0, ""),
      verdictAtMost("records missing in the export", pages - exported.lines, 0, ""),
      verdictAtMost("pages fetched again", again, 1000, ""),
      verdict("pace of the fifth tenth against the second", middle / start, 0.85),
      verdict("pace of the ninth tenth against the second", last / start, 0.85),
      verdictAtMost("memory of a process", Math.max(...memory.map(({ most }) => most)), 400, " MB"),
      verdictAtMost("database per page", bytes / pages, 1200, " bytes"),
      verdictAtMost("from the restart to the next page", ((onAgain?.at ?? Infinity) - restartedAt) / 1000, 5, " s"),
      verdictAtMost("API, p99", quantile(calls, 0.99), 100, " ms"),
      verdictAtMost("memory of the export", exported.megabytes, 100, " MB"),
    ].every(Boolean);
  } finally {
    caller.stop();
    await caller.close();
    await deployment.stop();
  }
}

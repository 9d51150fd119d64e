/** A crawl of typical pages without fetching: the cost of claim and settle. */
import { createHash } from "node:crypto";
import type { Discovered } from "../../src/domain/run/outcome.ts";
import type { ClaimedTask, LaneGrant, NewTask, SettledTask, Store } from "../../src/store/ports/port.ts";

const OWNER = "bench";
const SITES = Array.from({ length: 4 }, (_, index) => `shop-${index}.example`);
const SEEDS = 200;
const LINKS = 20;

const laneOf = (site: string) => `site:${site}`;
const urlOf = (site: string, page: number) => `https://${site}/products/${page}?color=blue`;

function seed(site: string, page: number): NewTask {
  return {
    key: urlOf(site, page),
    lane: laneOf(site),
    site,
    resolver: null,
    url: urlOf(site, page),
    priority: 0,
    handler: "crawl",
    payload: { depth: 0 },
  };
}

/** One link in twenty leads to a new page. */
function linksOf(site: string, page: number): Discovered[] {
  return Array.from({ length: LINKS }, (_, index) => {
    const to = index === 0 ? page + SEEDS : (page + index) % SEEDS;
    return { key: urlOf(site, to), url: urlOf(site, to), lane: laneOf(site), site, depth: 1 };
  });
}

function read(task: ClaimedTask, withFile: boolean): SettledTask {
  const url = task.url as string;
  const site = task.site as string;
  const page = Number(/\d+(?=\?)/.exec(url)?.[0]);
  const digest = createHash("sha256").update(url).digest("hex");
  return {
    task,
    attempt: {
      attempt: 1,
      strategy: "http",
      proxy: null,
      started_at: "2030-01-01T00:00:00.000Z",
      duration_ms: 231,
      http_status: 200,
      failure_code: null,
      failure_reason: null,
    },
    verdict: {
      kind: "completed",
      artifacts: withFile ? [{ hash: digest, size: 48_231, contentType: "text/html", url }] : [],
      results: [{ url, title: `Product ${page}`, price: 19.9, currency: "EUR", text: "words of a page ".repeat(20) }],
      detail: null,
    },
    report: {
      discovered: linksOf(site, page),
      content: digest,
      learned: { site, url, needed: "plain", because: "the words of the page are in its source" },
    },
  };
}

export interface BenchCrawlOptions {
  /** Each page stores a file. */
  files: boolean;
  /** Pages per lane and transaction, for claim and settle. */
  window: number;
  together: number;
}

export const USUAL: BenchCrawlOptions = { files: false, window: 100, together: 25 };

/** Claims and settles this many pages; setup is not measured. */
export class BenchCrawl {
  readonly #store: Store;
  readonly #lanes: LaneGrant[] = [];
  readonly #options: BenchCrawlOptions;
  /** Seconds spent waiting for the store. */
  waited = 0;

  constructor(store: Store, options: BenchCrawlOptions) {
    this.#store = store;
    this.#options = options;
  }

  async #ask<T>(question: Promise<T>): Promise<T> {
    const begun = performance.now();
    const answer = await question;
    this.waited += (performance.now() - begun) / 1000;
    return answer;
  }

  async begin(): Promise<void> {
    const store = this.#store;
    await store.joinOwners(OWNER, 3_600_000);
    const seeds = SITES.flatMap((site) => Array.from({ length: SEEDS }, (_, page) => seed(site, page)));
    const run = { kind: "crawl", maxAttempts: 3, snapshot: { options: {} }, pagesLimit: 10_000_000 } as const;
    await store.startRun(run, seeds, Date.now());
    await store.admitCrawls(10, Date.now());
    for (const site of SITES) {
      const lane = await store.takeLane(laneOf(site), OWNER, 3_600_000);
      if (lane === null) throw new Error(`the lane of ${site} was not to be had`);
      this.#lanes.push(lane);
    }
  }

  async work(pages: number): Promise<void> {
    const { files, window, together } = this.#options;
    for (let done = 0; done < pages;) {
      const claims: ClaimedTask[][] = [];
      for (const hold of this.#lanes) {
        const claim = await this.#ask(this.#store.claim(hold, { limit: window }, Date.now()));
        claims.push(claim?.tasks ?? []);
      }
      for (let from = 0; from < window; from += together) {
        const batches = this.#lanes.map((hold, index) => ({
          hold,
          tasks: (claims[index] ?? []).slice(from, from + together).map((task) => read(task, files)),
        }));
        const { lost, dropped = [] } = await this.#ask(this.#store.settle(batches, Date.now()));
        if (lost.length + dropped.length > 0) throw new Error("an outcome was not written");
        done += batches.reduce((sum, { tasks }) => sum + tasks.length, 0);
      }
    }
  }
}

import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { request } from "undici";
import { TERMINAL_RUN_STATES } from "../../src/domain/run/states.ts";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import { FULL, report, until } from "../chaos/orb.ts";
import type { Served } from "../chaos/served.ts";
import type { Hit } from "../chaos/target.ts";
import { type Cluster, Web, type Worker } from "./kit.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const SITES = 8;
const PAGES = FULL ? 500 : 20;
export const MOST_PER_SITE = 2;
const LATENCY_MS = FULL ? 400 : 50;
/** The API answers within this time, whatever happens to what stands behind it; a machine with much else to do is slower. */
const ANSWER_MS = FULL ? 5000 : 60_000;
const ASK_MS = 200;

export const ENV = { APP_MAX_PER_HOST: String(MOST_PER_SITE) };

/** How often something is done to the cluster. */
export const times = (few: number, many: number) => (FULL ? many : few);

/** What a crawl goes through. */
export interface Ordeal {
  web: Web;
  /** Workers that were killed or frozen: what they had on the wire is not counted. */
  harmed: Set<Worker>;
  /** Lets the work go on until this share of all pages has been asked for. It stands still otherwise: it cannot end before. */
  progress(share: number): Promise<void>;
  /** The same until so many more pages have been asked for. */
  someMore(pages: number): Promise<void>;
  /** Resolves when the API has answered whatever it is asked from now on, be it that it cannot. */
  answers(): Promise<void>;
}

/**
 * A crawl of several sites, during which `harm` is done once all workers take part. It ends as if nothing had happened:
 * every page is there once, no site was asked for more than it allows, and the API has answered all the time.
 */
export async function crawlThrough(
  cluster: Cluster,
  name: string,
  harm: (ordeal: Ordeal) => Promise<void>,
): Promise<void> {
  await using web = await Web.start({ sites: SITES, pages: PAGES, latencyMs: LATENCY_MS });
  const harmed = new Set<Worker>();
  web.hold();
  const id = await cluster.crawl(web, { max_concurrent_articles: 100 });
  const asker = new Asker(cluster.api, id);
  const stream = await followed(cluster.api, id);
  try {
    await workTogether(cluster, web);
    // Meanwhile nothing may come through.
    await until(() => asker.last?.status === "running", "the API says that the crawl runs");
    const all = web.urls().length;
    const untilAsked = async (hits: number) => {
      web.letGo();
      await web.target.when(() => web.target.hits.length >= hits, `${hits} pages are asked for`, PATIENCE_MS);
      web.hold();
    };
    const progress = (share: number) => untilAsked(share * all);
    const someMore = (pages: number) => untilAsked(web.target.hits.length + pages);
    await harm({ web, harmed, progress, someMore, answers: () => asker.answers() });
    assert.equal(asker.last?.status, "running", "there was work left when the harm was done");
    web.letGo();
    const view = await asker.ended();
    assert.equal(view.status, "completed", JSON.stringify(view));
    await stream.told();
  } catch (error) {
    const asked = JSON.stringify(Object.fromEntries(web.askedBy));
    throw new Error(`${(error as Error).message}\nrequests: ${asked}\n${storyOf(cluster)}`, { cause: error });
  } finally {
    await asker.stop();
  }
  await cluster.assertWhole(web, await cluster.crawler.ended(id));
  const names = new Set([...harmed].map((worker) => worker.name));
  for (const site of web.target.sites) {
    const hits = web.target.hits.filter((hit) => hit.site === site && !names.has(nameOf(hit)));
    assert.ok(mostAtOnce(hits) <= MOST_PER_SITE, `${site} was asked for ${mostAtOnce(hits)} at a time`);
  }
  for (const { process } of unharmed(cluster, harmed)) assert.ok(process.alive, process.story());
  report(name, { ...asker.figures(), requests: web.target.hits.length, pages: web.urls().length });
}

const nameOf = (hit: Hit) => /\(([^)]*)\)/.exec(hit.agent)?.[1] ?? "";

export function living({ workers }: Cluster): Worker[] {
  return workers.filter(({ process }) => process.alive);
}

function unharmed(cluster: Cluster, harmed: ReadonlySet<Worker>): Worker[] {
  return cluster.workers.filter((worker) => worker.process.alive && !harmed.has(worker));
}

/** Resolves when every worker that lives has asked for something. */
export function workTogether(cluster: Cluster, { askedBy }: Web): Promise<true> {
  const idle = () => living(cluster).filter(({ name }) => !askedBy.has(name));
  return until(() => idle().length === 0 || undefined, "all workers take part", PATIENCE_MS);
}

/** How many of these were open at the same time, at most. */
function mostAtOnce(hits: readonly Hit[]): number {
  const moments = hits.flatMap(({ start, end }) => [
    { at: start, change: 1 },
    { at: end ?? Number.POSITIVE_INFINITY, change: -1 },
  ]);
  let [now, most] = [0, 0];
  // Within one millisecond the end comes first: the times are no finer than that.
  for (const { change } of moments.toSorted((a, b) => a.at - b.at || a.change - b.change)) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}

/** A user who asks again and again whether the server is up and how the crawl is doing. */
class Asker {
  readonly #served: Served;
  readonly #id: string;
  readonly #stopping = new AbortController();
  readonly #asking: Promise<void>[];
  #slowestMs = 0;
  #answers = 0;
  /** When the last question that was answered was asked, by what was asked for. */
  readonly #answered = new Map<string, number>();
  #refused = 0;
  #trouble: Error | null = null;
  #last: CrawlView | null = null;

  constructor(served: Served, id: string) {
    this.#served = served;
    this.#id = id;
    this.#asking = [this.#keepAsking("/health"), this.#keepAsking(`/scraping/tasks/${id}/status`)];
  }

  /** How the crawl was doing when it last asked. */
  get last(): CrawlView | null {
    return this.#last;
  }

  async answers(): Promise<void> {
    const since = performance.now();
    await until(() => {
      if (this.#trouble !== null) throw this.#trouble;
      return this.#answered.size === this.#asking.length && [...this.#answered.values()].every((at) => at > since);
    }, "the API answers");
  }

  ended(): Promise<CrawlView> {
    return until(
      () => {
        if (this.#trouble !== null) throw this.#trouble;
        const last = this.#last;
        return last !== null && TERMINAL_RUN_STATES.some((state) => state === last.status) && last;
      },
      `the crawl ${this.#id} has ended: ${JSON.stringify(this.#last)}`,
      PATIENCE_MS,
    );
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#asking);
    if (this.#trouble !== null) throw this.#trouble;
  }

  figures(): Record<string, number> {
    return { answers: this.#answers, refused: this.#refused, "slowest answer ms": Math.round(this.#slowestMs) };
  }

  async #keepAsking(path: string): Promise<void> {
    while (!this.#stopping.signal.aborted && this.#trouble === null) {
      try {
        await this.#ask(path);
      } catch (error) {
        this.#trouble = error as Error;
      }
      await wait(ASK_MS);
    }
  }

  async #ask(path: string): Promise<void> {
    const asked = performance.now();
    const late = AbortSignal.timeout(ANSWER_MS);
    const answered = this.#served.api.get(path);
    const answer = await Promise.race([
      answered,
      new Promise<null>((resolve) => late.addEventListener("abort", () => resolve(null), { once: true })),
    ]);
    const tookMs = performance.now() - asked;
    this.#slowestMs = Math.max(this.#slowestMs, tookMs);
    this.#answers += 1;
    if (answer === null) {
      // How long it would have taken says what kept it.
      const { status } = await answered;
      throw new Error(`GET ${path} was answered after ${Math.round(performance.now() - asked)} ms (${status})`);
    }
    this.#answered.set(path, asked);
    if (answer.status === 503) {
      assert.ok(Number(answer.headers["retry-after"]) > 0, `it says when to ask again: ${answer.text}`);
      this.#refused += 1;
      return;
    }
    assert.equal(answer.status, 200, `GET ${path}: ${answer.text}`);
    if (path !== "/health") this.#last = answer.json<CrawlView>();
  }
}

/** One stream of events from the beginning to the end, whatever happens meanwhile. It is open by now. */
async function followed({ api }: Served, id: string): Promise<{ told(): Promise<void> }> {
  const { body, statusCode } = await request(`${api.url}/jobs/runs/${id}/events/stream`, {
    dispatcher: api.agent,
    bodyTimeout: 0,
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const whole = body.text();
  // Looked at when the crawl has ended.
  whole.catch(() => {});
  assert.equal(statusCode, 200, "the stream is open");
  return {
    async told() {
      const text = await whole;
      assert.match(text, /completed/, `the stream tells of the end: ${text.slice(-2000)}`);
    },
  };
}

/** What all of them have said, for whoever looks for the reason of a failure. */
function storyOf(cluster: Cluster): string {
  const all = [cluster.api.process, ...cluster.workers.map(({ process }) => process)];
  return all.map((process) => `orb ${process.args.join(" ")}\n${process.story()}`).join("\n");
}

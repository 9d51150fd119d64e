import assert from "node:assert/strict";
import { join } from "node:path";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { WorkerView } from "../../src/orchestrator/workers/workers.ts";
import { Crawler, type Crawled } from "../jobs/crawler.ts";
import { type Ended, Orb, type OrbProcess, until } from "../chaos/orb.ts";
import { Served } from "../chaos/served.ts";
import { type Hit, Target } from "../chaos/target.ts";
import { startPostgres, startRedis, type TestService } from "../support/services.ts";

export interface ClusterOptions {
  /** How many `orb worker` begin with it. */
  workers: number;
  /** For all of its processes. */
  env?: Record<string, string>;
  /** Where its processes are to believe that the services are: an address of a cable that can be cut, for example. */
  via?: { postgres?: (url: string) => Promise<string>; redis?: (url: string) => Promise<string> };
}

/** A crash loses as much of what was not waited for as it can. */
const FORGETFUL = ["-c", "wal_writer_delay=10s"];

/** Leases short enough to see one end, and long enough for a process that gets no processor for a while. */
export const LEASE_S = 10;

/**
 * A Postgres, a Redis, an API that does no work and some workers: real processes, each with a data directory of its own as
 * on machines of their own, and files in a folder that all share. At the end all of it is gone.
 */
export class Cluster implements AsyncDisposable {
  readonly postgres: TestService;
  readonly redis: TestService;
  readonly orb: Orb;
  /** Those that were started, also when they are gone. */
  readonly workers: Worker[] = [];
  api!: Served;
  crawler!: Crawler;
  /** What each process was told, in order of their beginnings. */
  #begun = 0;

  private constructor(postgres: TestService, redis: TestService, orb: Orb) {
    this.postgres = postgres;
    this.redis = redis;
    this.orb = orb;
  }

  static async start({ workers, env = {}, via = {} }: ClusterOptions): Promise<Cluster> {
    const [postgres, redis] = await Promise.all([startPostgres(FORGETFUL), startRedis()]);
    const orb = new Orb({
      APP_DATABASE_URL: (await via.postgres?.(postgres.url)) ?? postgres.url,
      APP_REDIS_URL: (await via.redis?.(redis.url)) ?? redis.url,
      APP_SECRET_KEY: "a key that all of them have".replaceAll(" ", "-"),
      APP_LEASE_TTL_SECONDS: String(LEASE_S),
      APP_RESPECT_ROBOTS: "false",
      APP_SHUTDOWN_GRACE_SECONDS: "5",
      // Answers are held until the test is there.
      APP_HTTP_TIMEOUT_SECONDS: "600",
      ...env,
    });
    orb.env["APP_ARTIFACTS_URL"] ??= join(orb.dir, "files");
    const cluster = new Cluster(postgres, redis, orb);
    try {
      await cluster.replaceApi();
      await Promise.all(Array.from({ length: workers }, () => cluster.addWorker()));
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  /** One more API, which does no work unless told otherwise. */
  async serve(options: readonly string[] = ["--no-worker"]): Promise<Served> {
    return Served.start(this.orb, options, this.#own("api"));
  }

  /** Another API is the one that is called from now on. */
  async replaceApi(): Promise<void> {
    this.api = await this.serve();
    this.crawler = new Crawler(this.api);
  }

  /** One more worker; resolves when it may work. */
  async addWorker(env: Record<string, string> = {}): Promise<Worker> {
    const name = `worker-${this.workers.length + 1}`;
    const process = this.orb.start(["worker"], { env: { ...this.#own(name), ...env } });
    const worker = { name, process };
    this.workers.push(worker);
    await process.said("working on runs and the queue");
    return worker;
  }

  /** As the registry has them; those that are gone are left out. */
  async registered(): Promise<WorkerView[]> {
    const list = (await this.api.api.get("/workers")).json<WorkerView[]>();
    return list.filter(({ state }) => state === "working");
  }

  /** Begins a crawl of these sites, page by page from their first; gives its id. */
  crawl(web: Web, options: Record<string, unknown> = {}): Promise<string> {
    const url = web.target.sites.map((_, site) => web.target.url("/", site));
    return this.crawler.submitUntilAccepted({
      url,
      max_pages: 100_000,
      max_depth: 3,
      max_concurrent_articles: 100,
      ...options,
    });
  }

  /** Every page of every site was got once as a result, and the books are right. */
  async assertWhole(web: Web, crawled: Crawled): Promise<void> {
    assert.equal(crawled.view.status, "completed", JSON.stringify(crawled.view));
    const got = await this.urlsOf(crawled.view);
    assert.deepEqual(got.toSorted(), web.urls().toSorted());
    await this.orb.audit();
  }

  /** The addresses of all results, however many there are. */
  async urlsOf({ task_id: id }: CrawlView): Promise<string[]> {
    const text = (await this.api.api.get(`/scraping/tasks/${id}/results?format=jsonl`)).text;
    return text.split("\n").flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { url: string }).url]));
  }

  #own(name: string): Record<string, string> {
    this.#begun += 1;
    // The targets see by it who asked.
    return {
      APP_DATA_DIR: join(this.orb.dir, `${name}-${this.#begun}`),
      APP_USER_AGENT: `Orbweaver/0.1 (${name})`,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.api?.api.close();
    await this.orb[Symbol.asyncDispose]();
    await Promise.all([this.postgres[Symbol.asyncDispose](), this.redis[Symbol.asyncDispose]()]);
  }
}

export interface Worker {
  name: string;
  process: OrbProcess;
}

/** Asked to stop; gives how it ended. */
export async function terminated({ process }: Worker): Promise<Ended> {
  process.kill("SIGTERM");
  return process.end();
}

/** Sites of so many pages each, with a record of who asked for what and when. */
export class Web implements AsyncDisposable {
  readonly target: Target;
  readonly pages: number;
  /** How many requests each process has made, by its name. */
  readonly askedBy = new Map<string, number>();
  /** Who has asked each site. */
  readonly ownersOf = new Map<string, Set<string>>();
  #held: PromiseWithResolvers<void> | null = null;

  private constructor(target: Target, pages: number) {
    this.target = target;
    this.pages = pages;
    target.script = async (path, _nth, request) => {
      const name = /\(([^)]*)\)/.exec(request.headers["user-agent"] ?? "")?.[1] ?? "";
      const site = String(request.headers.host);
      this.askedBy.set(name, (this.askedBy.get(name) ?? 0) + 1);
      this.ownersOf.set(site, (this.ownersOf.get(site) ?? new Set()).add(name));
      if (path !== "/") await this.#held?.promise;
      return { body: this.#body(path), headers: { "content-type": "text/html" } };
    };
  }

  static async start({ sites, pages, latencyMs = 0 }: { sites: number; pages: number; latencyMs?: number }) {
    const web = new Web(await Target.start(sites), pages);
    web.target.latencyMs = latencyMs;
    return web;
  }

  /** From now on only the first page of each site is answered: however fast or slow the machine is, work is left. */
  hold(): void {
    this.#held ??= Promise.withResolvers();
  }

  /** What was held is answered, and so is all that comes. */
  letGo(): void {
    this.#held?.resolve();
    this.#held = null;
  }

  /** The addresses of all pages. */
  urls(): string[] {
    return this.target.sites.flatMap((_, site) => [
      this.target.url("/", site),
      ...Array.from({ length: this.pages - 1 }, (_unused, n) => this.target.url(`/page/${n + 1}`, site)),
    ]);
  }

  /** Requests that were open at the same time at one site, at most. */
  get mostPerSite(): number {
    return Math.max(0, ...this.target.mostPerSite.values());
  }

  hitsOf(site: number): Hit[] {
    return this.target.hits.filter((hit) => hit.site === this.target.sites[site]);
  }

  #body(path: string): string {
    const links = Array.from({ length: this.pages - 1 }, (_, n) => `<a href="/page/${n + 1}">${n + 1}</a>`);
    const text = `<p>This is the page at ${path}, and it says nothing else.</p>`;
    return `<!doctype html><title>${path}</title>${text}${path === "/" ? links.join(" ") : ""}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.target[Symbol.asyncDispose]();
  }
}

/** Resolves when every worker has made at least so many requests. */
export function allTakePart({ workers }: Cluster, { askedBy }: Web, atLeast = 1): Promise<true> {
  return until(
    () => workers.every(({ name }) => (askedBy.get(name) ?? 0) >= atLeast) || undefined,
    "all workers take part",
  );
}

import assert from "node:assert/strict";
import { integerBelow, type Random, seededRandom } from "../../src/base/random.ts";
import type { CrawlOptions } from "../../src/domain/crawl/crawl-options.ts";
import { TERMINAL_RUN_STATES } from "../../src/domain/run/states.ts";
import { LinkFinders } from "../../src/extract/follow.ts";
import { compilePlan } from "../../src/extract/plan.ts";
import type { PageReader } from "../../src/extract/pool.ts";
import { readPage } from "../../src/extract/reading.ts";
import type { PageStrategy } from "../../src/fetch/page.ts";
import { crawlHandler } from "../../src/lanes/handlers/crawl/crawl.ts";
import { CrawlRuns } from "../../src/lanes/handlers/crawl/crawl-runs.ts";
import type { TaskHandler } from "../../src/lanes/handlers/handler.ts";
import type { PageHandlerDeps } from "../../src/lanes/handlers/page.ts";
import type { LaneRules } from "../../src/lanes/rules.ts";
import { newCrawlRun } from "../../src/orchestrator/crawls/start.ts";
import type { RunRecord, Store } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { Crew, crewPlan, pick } from "./crew.ts";
import { Network } from "./network.ts";
import type { ScenarioReport } from "./scenario.ts";
import { Web } from "./web.ts";
import { type SimProcess, World } from "./world.ts";
import { PROXY_RULES } from "../support/proxy-rules.ts";
import { CRAWL_DEFAULTS } from "../../src/domain/crawl/crawl-settings.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

/** Longer than any jump of the clock. */
const TEN_YEARS_IN_MINUTES = 5_256_000;

function optionsFor(random: Random, web: Web): CrawlOptions {
  return {
    ...CRAWL_DEFAULTS,
    urls: [web.pages[0]!.url],
    max_depth: pick(random, [1, 2, 100, 100, 100]),
    max_pages: pick(random, [5, 1000, 1000, 1000]),
    timeout_minutes: TEN_YEARS_IN_MINUTES,
    max_concurrent_articles: pick(random, [1, 2, 10]),
    retry_attempts: 2,
    export_format: "json",
    same_site: false,
    strategy: "http",
    fields: { words: "p" },
    items: null,
    schema: null,
    respect_robots: false,
    proxy: null,
    sealed_proxy: null,
  };
}

/**
 * One schedule of a crawl, decided by the seed alone: pages lead to pages over links and redirects, some of them fail,
 * and the processes are killed, frozen and started again. At the end every page that can be reached is there once.
 */
export async function runCrawlScenario(seed: number): Promise<ScenarioReport> {
  const random = seededRandom(seed);
  const plan = crewPlan(random);
  const perSite = pick(random, [1, 2, 10]);
  const world = new World(random);
  const web = new Web(random, 1 + integerBelow(random, 3), 5 + integerBelow(random, 80));
  const options = optionsFor(random, web);
  const rules: LaneRules = {
    maxPerSite: perSite,
    minDelayMs: 0,
    // A site that is given up takes its pages along; how that ends is another story.
    breaker: { failures: 100_000, cooldownMs: 30_000 },
    retry: {
      backoff: { baseMs: 1000, maxMs: 30_000 },
      maxAttempts: 3,
      retryAfterMaxMs: 3_600_000,
      rateLimitMaxWaits: 5,
    },
    maxPerResolver: {},
  };
  const { run: asked, tasks } = newCrawlRun({ random, proxyRules: PROXY_RULES }, options);
  const resolver = tasks[0]!.resolver!;
  const network = new Network(world, {
    perSite,
    perResolver: { [resolver]: options.max_concurrent_articles },
    minDelayMs: 0,
  });
  network.latency = () => pick(random, [0, 1, 5, 40, 400]);
  const truth = openSqliteStore({ path: ":memory:", clock: world.clock(null), connection: preparedInMemory() });
  const { created } = await truth.startRun(asked, tasks, world.clock(null).now());
  await truth.admitCrawls(5, world.clock(null).now());
  const crew = new Crew(world, truth, random, plan, rules, (process, store) =>
    handlerFor(process, store, network, web, resolver),
  );
  crew.start();

  let ended = false;
  const look = async () => {
    ended = TERMINAL_RUN_STATES.includes((await truth.run(created.id))!.status);
    if (!ended) world.schedule(1000, () => void look());
  };
  world.schedule(1000, () => void look());
  await world.run(() => ended || network.violations.length > 0, { until: world.time + 6 * 86_400_000, steps: 400_000 });
  crew.end();

  assert.deepEqual(network.violations, []);
  await check(truth, created, web, options);
  assert.deepEqual((await truth.audit()).findings, []);
  const known = (await truth.run(created.id))!.pagesKnown;
  await truth.close();
  return { tasks: known, requests: network.requests(), crashes: crew.crashes, steps: world.steps };
}

/** The handler of crawls as it is in production; only the wire and the threads that read pages are simulated. */
function handlerFor(process: SimProcess, store: Store, network: Network, web: Web, resolver: string): TaskHandler {
  const finders = new LinkFinders();
  const reader: Pick<PageReader, "read" | "keep"> = {
    read: async (input, spec, { judge = null, follow = null } = {}) =>
      readPage(input, compilePlan(spec), { judge, follow }, finders),
    keep: (links) => finders.keep(links),
  };
  const http: PageStrategy = {
    name: "http",
    fetch: (request) => web.fetch(request, (url) => network.ask(process, url, resolver, request.signal!)),
  };
  // Browsers, sessions, evidence, sitemaps and robots.txt have no part in this.
  const deps = {
    store,
    clock: process.clock,
    reader,
    strategies: { http },
    limits: { httpTimeoutMs: 20_000, browserTimeoutMs: 40_000, maxBodyBytes: 1_000_000 },
  } as unknown as PageHandlerDeps;
  return crawlHandler(deps, new CrawlRuns(deps));
}

async function check(store: Store, { id }: RunRecord, web: Web, options: CrawlOptions): Promise<void> {
  const run = (await store.run(id))!;
  const results = await store.results(id, { limit: 10_000 });
  const got = results.map(({ data }) => (data as { url: string }).url.replace(/\?.*$/, ""));
  assert.equal(new Set(got).size, got.length, `no page has two results: ${got.toSorted().join(" ")}`);
  const all = web.reachable(options.max_depth);
  const unreachable = got.filter((url) => !all.has(url));
  assert.deepEqual(unreachable, [], "nothing but what can be reached");
  // Which pages come first is a matter of chance: a limit may keep out any of them, and a depth those that were first
  // found by a longer way.
  if (options.max_depth === 100 && run.facts.end_reason !== "limit_pages")
    assert.deepEqual(got.toSorted(), [...all].toSorted(), "everything that can be reached");
  const counts = (await store.overview(id, 0)).totals;
  assert.equal(counts.completed, got.length);
  const fetched = counts.completed + counts.failed;
  assert.ok(fetched <= options.max_pages, JSON.stringify(counts));
  if (run.facts.end_reason === "limit_pages") assert.equal(fetched, options.max_pages, JSON.stringify(counts));
  else assert.equal(fetched + counts.skipped, run.pagesKnown, JSON.stringify(counts));
  const events = await store.events(id, { limit: 10_000 });
  assert.equal(events.filter(({ message }) => /^Run (completed|failed)/.test(message)).length, 1, "it ends once");
}

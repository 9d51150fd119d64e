import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { FULL, report } from "../chaos/orb.ts";
import { GOAL, type GoalSite, goalSite, pagesUntil } from "../support/goal-site.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { servicesGate } from "../support/services-kit.ts";
import { Cluster, LEASE_S } from "./kit.ts";

/** 200 relevant pages among 2,000, or a tenth of fewer, which leave less to gain. */
const { pages: PAGES, most: MOST } = FULL ? { pages: 2000, most: 0.3 } : { pages: 400, most: 0.45 };
const SEEDS = FULL ? [7, 8] : [7];
const SHARE = 0.9;

describe("a crawl with a goal, by two workers on Postgres", servicesGate, () => {
  let cluster: Cluster;
  /** Pages that breadth-first needs, for all sites together. */
  let plain = 0;
  before(async () => {
    cluster = await Cluster.start({ workers: 2 });
    for (const made of sites()) plain += (await crawled(made, {})).needed;
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  const sites = () => SEEDS.map((seed) => goalSite(PAGES, seed));

  /** A whole crawl: how many pages it took to find the relevant ones, and how many were fetched again. */
  async function crawled(made: GoalSite, body: object, meanwhile?: (site: MisbehavingSite) => Promise<void>) {
    await using site = await MisbehavingSite.start(made.routes);
    const url = site.url("/");
    const id = await cluster.crawler.submit({ url, max_depth: 100, max_pages: 10_000, ...body });
    await meanwhile?.(site);
    const { view } = await cluster.crawler.ended(id);
    assert.equal(view.status, "completed", JSON.stringify(view));
    const urls = await cluster.urlsOf(view);
    assert.deepEqual([urls.length, new Set(urls).size], [made.pages, made.pages], "each page is one record");
    const paths = site.visits.map(({ path }) => path);
    return { needed: pagesUntil(made, SHARE, paths), again: paths.length - made.pages };
  }

  test("finds the relevant pages early", async () => {
    let directed = 0;
    for (const made of sites()) {
      const { needed, again } = await crawled(made, { goal: GOAL });
      assert.equal(again, 0);
      directed += needed;
    }
    report("a crawl with a goal in a cluster", { pages: PAGES, plain, directed });
    assert.ok(directed <= MOST * plain, `${directed} of ${plain} pages`);
    await cluster.orb.audit();
  });

  test("goes on with what it has learned when the worker that fetches is killed", async () => {
    let directed = 0;
    for (const made of sites()) {
      const { needed, again } = await crawled(made, { goal: GOAL }, async (site) => {
        // In the middle of the search, and before its end.
        const half = () =>
          pagesUntil(
            made,
            SHARE / 2,
            site.visits.map(({ path }) => path),
          );
        await site.when(() => Number.isFinite(half()), "half of the relevant pages is found");
        const agent = site.visits.at(-1)?.headers["user-agent"] ?? "";
        const owner = cluster.workers.find(({ name, process }) => process.alive && agent.includes(`(${name})`));
        assert.ok(owner !== undefined, agent);
        await owner.process.killed();
        await cluster.addWorker();
      });
      report("a crawl with a goal whose worker is killed", { needed, again, lease: LEASE_S });
      directed += needed;
    }
    assert.ok(directed <= MOST * plain, `${directed} of ${plain} pages`);
    await cluster.orb.audit();
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import { Crawler } from "../jobs/crawler.ts";
import { GOAL, goalSite, requestsUntil } from "../support/goal-site.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { assertSound } from "./kills.ts";
import { FULL, Orb, report } from "./orb.ts";
import { Served } from "./served.ts";

const { pages: PAGES, most: MOST } = FULL ? { pages: 2000, most: 0.3 } : { pages: 400, most: 0.45 };
const SEEDS = FULL ? [7, 8] : [7];
const KILLS = 3;
const SHARE = 0.9;

describe("a crawl with a goal that is killed in the middle", () => {
  test("finds 90 % of the relevant pages as early as if nothing had happened", async () => {
    const sums = { plain: 0, directed: 0 };
    for (const seed of SEEDS) {
      const made = goalSite(PAGES, seed);
      for (const body of [{}, { goal: GOAL }]) {
        await using site = await MisbehavingSite.start(made.routes);
        const requested = () => site.visits.map(({ path }) => path).filter((path) => path !== "/robots.txt");
        await using orb = new Orb();
        let served = await Served.start(orb);
        const limits = { max_depth: 100, max_pages: 10_000 };
        const id = await new Crawler(served).submit({ url: site.url("/"), ...limits, ...body });
        const kills = "goal" in body ? KILLS : 0;
        for (let kill = 1; kill <= kills; kill += 1) {
          const share = (SHARE * kill) / (KILLS + 1);
          const isFound = () => Number.isFinite(requestsUntil(made, share, requested()));
          await site.when(isFound, `${kill} of ${KILLS + 1} parts of the relevant pages are found`);
          await served.killed();
          served = await Served.start(orb);
        }
        const run = await served.ended(id);
        assert.equal(run.status, "completed", run.message ?? "");
        const view = (await served.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
        assert.deepEqual([view.completed_items, view.failed_items], [made.pages, 0]);
        const needed = requestsUntil(made, SHARE, requested());
        sums["goal" in body ? "directed" : "plain"] += needed;
        report("a crawl with a goal that is killed", { seed, needed, again: requested().length - made.pages });
        await served.terminated();
        await orb.audit();
        assertSound(orb.database);
      }
    }
    assert.ok(sums.directed <= MOST * sums.plain, `${sums.directed} of ${sums.plain} requests`);
  });
});

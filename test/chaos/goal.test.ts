import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import { Crawler } from "../jobs/crawler.ts";
import { GOAL, goalSite, pagesUntil } from "../support/goal-site.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { assertSound, WINDOW } from "./kills.ts";
import { FULL, Orb, report } from "./orb.ts";
import { Served } from "./served.ts";

const { pages: PAGES, most: MOST } = FULL ? { pages: 2000, most: 0.3 } : { pages: 400, most: 0.45 };
const SEEDS = FULL ? [7, 8] : [7];
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
        if ("goal" in body) {
          const half = () => pagesUntil(made, SHARE / 2, requested());
          await site.when(() => Number.isFinite(half()), "half of the relevant pages is found");
          await served.killed();
          served = await Served.start(orb);
        }
        const run = await served.ended(id);
        assert.equal(run.status, "completed", run.message ?? "");
        const view = (await served.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
        assert.deepEqual([view.completed_items, view.failed_items], [made.pages, 0]);
        const needed = pagesUntil(made, SHARE, requested());
        sums["goal" in body ? "directed" : "plain"] += needed;
        const again = requested().length - made.pages;
        report("a crawl with a goal that is killed", { seed, needed, again });
        assert.ok(again <= ("goal" in body ? WINDOW : 0), `${again} pages are fetched again`);
        await served.terminated();
        await orb.audit();
        assertSound(orb.database);
      }
    }
    assert.ok(sums.directed <= MOST * sums.plain, `${sums.directed} of ${sums.plain} pages`);
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { integerBelow } from "../../src/base/random.ts";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { html, slow } from "../support/misbehaviours.ts";
import { assertSound, pause, withSeed } from "./kills.ts";
import { FULL, Orb, report } from "./orb.ts";
import { Served } from "./served.ts";

const KILLS = FULL ? 20 : 4;
const PAGES = FULL ? 1000 : 200;

/** A tree of pages, each of which leads to ten more and back to the start. */
function tree(count: number): Record<string, Route> {
  const children = (n: number) =>
    Array.from({ length: 10 }, (_, index) => n * 10 + index + 1).filter((child) => child < count);
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => {
      const links = ["/page-0", ...children(n).map((child) => `/page-${child}`)];
      const text = `<title>Page ${n}</title><p>Words of page ${n}.</p>${links.map((link) => `<a href="${link}">x</a>`)}`;
      return [`/page-${n}`, slow(20 + (n % 7) * 10, html(text))];
    }),
  );
}

describe("a crawl that is killed again and again", () => {
  test("has every page once in the end, as if nothing had happened", async () => {
    await withSeed(async (random) => {
      await using site = await MisbehavingSite.start(tree(PAGES));
      await using orb = new Orb({ APP_MAX_PER_HOST: "5" });
      let served = await Served.start(orb);
      const body = { url: site.url("/page-0"), max_depth: 10, max_pages: 10_000, fields: { words: "p" } };
      const answer = await served.api.post("/scraping/async-scrape", body);
      const id = answer.json<{ task_id: string }>().task_id;
      for (let kill = 0; kill < KILLS; kill += 1) {
        await pause(150 + integerBelow(random, 500));
        await served.killed();
        served = await Served.start(orb);
      }
      const run = await served.ended(id);
      assert.equal(run.status, "completed", run.message ?? "");
      const view = (await served.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
      assert.deepEqual([view.total_items, view.completed_items], [PAGES, PAGES]);
      const found = (await served.api.get(`/scraping/tasks/${id}/results?limit=1000`)).json<{
        items: { url: string; title: string }[];
      }>();
      assert.deepEqual(
        found.items.map(({ url }) => url).toSorted(),
        Array.from({ length: PAGES }, (_, n) => site.url(`/page-${n}`)).toSorted(),
      );
      const fetches = site.visits.filter(({ path }) => path !== "/robots.txt").length;
      report("a crawl that is killed", { pages: PAGES, kills: KILLS, "fetched again": fetches - PAGES });
      await served.terminated();
      await orb.audit();
      assertSound(orb.database);
    });
  });
});

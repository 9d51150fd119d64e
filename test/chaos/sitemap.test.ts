import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { integerBelow } from "../../src/base/random.ts";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { assertSound, pause, withSeed } from "./kills.ts";
import { FULL, Orb, report } from "./orb.ts";
import { Served } from "./served.ts";

const KILLS = FULL ? 10 : 2;
const PAGES = FULL ? 900 : 600;
/** Most entries are outside the crawl: the list is long to go through, and its pages are soon fetched. */
const ENTRIES_PER_PAGE = 50;

const path = (n: number) => (n % ENTRIES_PER_PAGE === 0 ? `/page-${n / ENTRIES_PER_PAGE}` : `/other/${n}`);

describe("a crawl that is killed while it goes through a sitemap", () => {
  test("has every page of it once in the end", async () => {
    await withSeed(async (random) => {
      await using site = await MisbehavingSite.start({ "/": html("<title>Start</title><p>Start</p>") });
      const list = Array.from({ length: PAGES * ENTRIES_PER_PAGE }, (_, n) => site.url(path(n))).join("\n");
      site.on("/sitemap.xml", (_visit, response) => void response.writeHead(200).end(list));
      for (let n = 0; n < PAGES; n += 1) site.on(`/page-${n}`, html(`<title>Page ${n}</title><p>Words ${n}.</p>`));
      await using orb = new Orb({ APP_MAX_PER_HOST: "5" });
      let served = await Served.start(orb);
      const view = async () => (await served.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
      const body = {
        url: site.url("/"),
        use_sitemap: true,
        exclude: ["/other/**"],
        max_pages: 5000,
        fields: { p: "p" },
      };
      const answer = await served.api.post("/scraping/async-scrape", body);
      const id = answer.json<{ task_id: string }>().task_id;
      let known = 1;
      for (let kill = 0; kill < KILLS; kill += 1) {
        // Somewhere in the middle, and further than the last time.
        const goal = known + 1 + integerBelow(random, Math.max(1, Math.floor((PAGES - known) / (KILLS - kill + 1))));
        while ((known = (await view()).total_items) < goal) await pause(2);
        await served.killed();
        served = await Served.start(orb);
      }
      assert.ok(known < PAGES + 1, "the last kill met an unfinished list");
      const run = await served.ended(id);
      assert.equal(run.status, "completed", run.message ?? "");
      const end = await view();
      assert.deepEqual([end.total_items, end.completed_items, end.failed_items], [PAGES + 1, PAGES + 1, 0]);
      const found = await served.api.get(`/scraping/tasks/${id}/results?limit=1000`);
      const urls = found.json<{ items: { url: string }[] }>().items.map(({ url }) => url);
      const expected = [site.url("/"), ...Array.from({ length: PAGES }, (_, n) => site.url(`/page-${n}`))];
      assert.deepEqual(urls.toSorted(), expected.toSorted());
      const told = (await served.events(id)).filter(({ message }) => message.startsWith("Sitemap read"));
      assert.equal(told.length, 1, "it is read once, however often it was begun");
      assert.ok(site.count("/sitemap.xml") > KILLS, "every kill met it at work");
      report("a crawl that is killed at a sitemap", { pages: PAGES, kills: KILLS, begun: site.count("/sitemap.xml") });
      await served.terminated();
      await orb.audit();
      assertSound(orb.database);
    });
  });
});

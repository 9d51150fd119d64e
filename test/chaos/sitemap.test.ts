import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { integerBelow } from "../../src/base/random.ts";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { assertSound, withSeed } from "./kills.ts";
import { FULL, Orb, report, until } from "./orb.ts";
import { Served } from "./served.ts";

const KILLS = FULL ? 10 : 2;
const PAGES = FULL ? 900 : 600;
/** Most entries are outside the crawl: the list is long to go through, and its pages are soon fetched. */
const ENTRIES_PER_PAGE = 50;

const path = (n: number) => (n % ENTRIES_PER_PAGE === 0 ? `/page-${n / ENTRIES_PER_PAGE}` : `/other/${n}`);

/** The number of known pages, read concurrently with the writer. */
function pagesOf(orb: Orb, id: string): number {
  using db = new DatabaseSync(orb.database, { readOnly: true, timeout: 5000 });
  return Number(db.prepare("SELECT pages_known FROM runs WHERE id = ?").get(id)?.["pages_known"] ?? 0);
}

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
      const begin = async () => {
        const answer = await served.api.post("/scraping/async-scrape", body);
        return { id: answer.json<{ task_id: string }>().task_id, before: site.count("/sitemap.xml") };
      };
      let { id, before } = await begin();
      let [known, kills, missed] = [1, 0, 0];
      while (kills < KILLS) {
        // Somewhere in the middle, and further than the last time.
        const goal = known + 1 + integerBelow(random, Math.max(1, Math.floor((PAGES - known) / (KILLS - kills + 1))));
        await until(() => {
          if (pagesOf(orb, id) < goal) return false;
          served.process.kill("SIGKILL");
          return true;
        }, "some of its pages are known");
        await served.process.ended;
        known = pagesOf(orb, id);
        served = await Served.start(orb);
        if (known < PAGES + 1) kills += 1;
        else {
          // The list was finished before we could look: another crawl is killed.
          assert.ok((missed += 1) < 10, "a kill meets an unfinished list");
          await served.ended(id);
          ({ id, before } = await begin());
          [known, kills] = [1, 0];
        }
      }
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
      const begun = site.count("/sitemap.xml") - before;
      assert.ok(begun > KILLS, "every kill met it at work");
      report("a crawl that is killed at a sitemap", { pages: PAGES, kills: KILLS, begun });
      await served.terminated();
      await orb.audit();
      assertSound(orb.database);
    });
  });
});

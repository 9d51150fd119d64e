import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { integerBelow } from "../../src/base/random.ts";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { slow } from "../support/misbehaviours.ts";
import { tagged } from "../support/versioned-pages.ts";
import { assertSound, pause, withSeed } from "./kills.ts";
import { FULL, Orb, report } from "./orb.ts";
import { Served } from "./served.ts";

const KILLS = FULL ? 20 : 2;
const PAGES = FULL ? 1000 : 120;

/** A tree of pages with versions; every tenth page differs from one edition to the next. */
function tree(count: number, edition: number): Record<string, Route> {
  const children = (n: number) =>
    Array.from({ length: 10 }, (_, index) => n * 10 + index + 1).filter((child) => child < count);
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => {
      const links = ["/page-0", ...children(n).map((child) => `/page-${child}`)];
      const version = n % 10 === 3 ? edition : 1;
      const text = `<title>Page ${n}</title><p>Words ${version} of page ${n}.</p>${links.map((link) => `<a href="${link}">x</a>`)}`;
      return [`/page-${n}`, slow(20 + (n % 7) * 10, tagged(`${n}-${version}`, text))];
    }),
  );
}

describe("a saved crawl that is killed again and again while it runs again", () => {
  test("has every page once, the changed ones new and the others as they were", async () => {
    await withSeed(async (random) => {
      await using site = await MisbehavingSite.start(tree(PAGES, 1));
      await using orb = new Orb({ APP_MAX_PER_HOST: "5" });
      let served = await Served.start(orb);
      const crawl = { max_depth: 10, max_pages: 10_000, fields: { words: "p" } };
      const created = await served.api.post("/jobs", { kind: "crawl", target_url: site.url("/page-0"), crawl });
      const job = created.json<JobView>().id;
      assert.equal((await served.run(job)).status, "completed");
      for (const [path, route] of Object.entries(tree(PAGES, 2))) site.on(path, route);
      const before = site.visits.length;
      const { id } = await served.begin(job);
      for (let kill = 0; kill < KILLS; kill += 1) {
        await pause(150 + integerBelow(random, 500));
        await served.killed();
        served = await Served.start(orb);
      }
      const run = await served.ended(id);
      assert.equal(run.status, "completed", run.message ?? "");
      const { items } = (await served.api.get(`/scraping/tasks/${id}/results?limit=1000`)).json<{
        items: { url: string; unchanged?: boolean; fields: { words: string } }[];
      }>();
      assert.deepEqual(
        items.map(({ url, unchanged, fields }) => [url, unchanged === true, fields.words]).toSorted(),
        Array.from({ length: PAGES }, (_, n) => {
          const isNew = n % 10 === 3;
          return [site.url(`/page-${n}`), !isNew, `Words ${isNew ? 2 : 1} of page ${n}.`];
        }).toSorted(),
      );
      const view = (await served.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
      const changed = Array.from({ length: PAGES }, (_, n) => n).filter((n) => n % 10 === 3).length;
      assert.deepEqual([view.completed_items, view.unchanged_items], [PAGES, PAGES - changed]);
      const { new: added, changed: differ, unchanged: same, gone, unknown } = view.changes!;
      assert.deepEqual([added, differ, same, gone, unknown], [0, changed, PAGES - changed, 0, 0], "each counted once");
      const listed = (await served.api.get(`/jobs/runs/${id}/changes?limit=1000`)).json<unknown[]>();
      assert.equal(listed.length, changed);
      const asked = site.visits.slice(before).filter(({ path }) => path !== "/robots.txt");
      assert.ok(asked.every(({ headers }) => headers["if-none-match"] !== undefined));
      report("a saved crawl that is killed when it runs again", {
        pages: PAGES,
        kills: KILLS,
        "asked again": asked.length - PAGES,
      });
      await served.terminated();
      await orb.audit();
      assertSound(orb.database);
    });
  });
});

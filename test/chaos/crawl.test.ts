import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { integerBelow } from "../../src/base/random.ts";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { firstTimes, html, sendTo, slow, tooMany } from "../support/misbehaviours.ts";
import { assertSound, pause, withSeed } from "./kills.ts";
import { FULL, Orb, report, until } from "./orb.ts";
import { Served } from "./served.ts";

/** Each kill costs a start of the program. */
const ROUNDS = [
  { kills: 1, mark: "" },
  { kills: FULL ? 20 : 3, mark: " [slow]" },
];
const PAGES = FULL ? 1000 : 120;

/** Every seventh page is known only by an address that redirects to it. */
const linkTo = (n: number) => (n % 7 === 0 && n > 0 ? `/go-${n}` : `/page-${n}`);
const childrenOf = (n: number, count: number) =>
  Array.from({ length: 10 }, (_, index) => n * 10 + index + 1).filter((child) => child < count);
/** Pages that others lead back to, by an old address of theirs. */
const parents = (count: number) => Math.ceil((count - 1) / 10);

/** A tree of pages, each of which leads to ten more, to the start, and to an old address of the page above it. */
function tree(count: number): Record<string, Route> {
  const routes: Record<string, Route> = {};
  for (let n = 0; n < count; n += 1) {
    const above = n === 0 ? [] : [`/old-${Math.floor((n - 1) / 10)}`];
    const links = ["/page-0", ...above, ...childrenOf(n, count).map(linkTo)];
    const text = `<title>Page ${n}</title><p>Words of page ${n}.</p>${links.map((link) => `<a href="${link}">x</a>`)}`;
    routes[`/page-${n}`] = slow(20 + (n % 7) * 10, html(text));
    routes[`/old-${n}`] = sendTo(`/page-${n}`);
    routes[`/go-${n}`] = slow(n % 50, sendTo(`/page-${n}`));
  }
  return routes;
}

describe("a crawl that is killed again and again", () => {
  for (const { kills, mark } of ROUNDS)
    test(`has every page once in the end, as if nothing had happened: kills ${kills}${mark}`, async () => {
      await withSeed(async (random) => {
        await using site = await MisbehavingSite.start(tree(PAGES));
        await using orb = new Orb({ APP_MAX_PER_HOST: "5" });
        let served = await Served.start(orb);
        const body = { url: site.url("/page-0"), max_depth: 10, max_pages: 10_000, fields: { words: "p" } };
        const answer = await served.api.post("/scraping/async-scrape", body);
        const id = answer.json<{ task_id: string }>().task_id;
        for (let kill = 0; kill < kills; kill += 1) {
          await pause(150 + integerBelow(random, 500));
          await served.killed();
          served = await Served.start(orb);
        }
        const run = await served.ended(id);
        assert.equal(run.status, "completed", run.message ?? "");
        const view = (await served.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
        assert.deepEqual(
          [view.total_items, view.completed_items, view.skipped_items],
          [PAGES + parents(PAGES), PAGES, parents(PAGES)],
        );
        const found = (await served.api.get(`/scraping/tasks/${id}/results?limit=1000`)).json<{
          items: { url: string; title: string }[];
        }>();
        assert.deepEqual(
          found.items.map(({ url }) => url).toSorted(),
          Array.from({ length: PAGES }, (_, n) => site.url(`/page-${n}`)).toSorted(),
        );
        const fetches = site.visits.filter(({ path }) => path.startsWith("/page-")).length;
        const needed = PAGES + parents(PAGES);
        report("a crawl that is killed", { pages: PAGES, kills, "fetched again": fetches - needed });
        await served.terminated();
        await orb.audit();
        assertSound(orb.database);
      });
    });
});

describe("a crawl of a site that asks for patience", () => {
  test("leaves the site alone for as long as it asked, also when it is killed and started again meanwhile [slow]", async () => {
    const patience = 10;
    const page = (n: number) => html(`<title>Page ${n}</title><p>Words of page ${n}.</p>`);
    const links = Array.from({ length: 6 }, (_, n) => `<a href="/page-${n}">x</a>`).join("");
    await using site = await MisbehavingSite.start({ "/": html(`<title>Start</title><p>Start.</p>${links}`) });
    for (let n = 0; n < 6; n += 1) site.on(`/page-${n}`, page(n));
    site.on("/page-0", firstTimes(1, tooMany(String(patience)), page(0)));
    await using orb = new Orb({ APP_MAX_PER_HOST: "1" });
    let served = await Served.start(orb);
    const answer = await served.api.post("/scraping/async-scrape", { url: site.url("/"), fields: { words: "p" } });
    const id = answer.json<{ task_id: string }>().task_id;
    const { at: refusedAt } = await site.visited("/page-0");
    const isHeld = async () => {
      const { held_until } = (await served.api.get(`/sites/${site.name}`)).json<{ held_until: string | null }>();
      return held_until !== null;
    };
    // What was not written before the kill is not known after it.
    await until(async () => (await isHeld()) || site.count("/page-0") > 1, "it is written that the site is left alone");
    const known = site.count("/page-0") === 1;
    await served.killed();
    served = await Served.start(orb);
    assert.ok((await isHeld()) || Date.now() > refusedAt + patience * 1000, "the next process knows of it");
    assert.equal((await served.ended(id)).status, "completed");
    const early = site.visits.filter(({ at }) => at > refusedAt && at < refusedAt + patience * 1000);
    assert.deepEqual(
      early.map(({ path }) => path),
      [],
      "nothing was asked for before the time",
    );
    // On a machine that was too slow to look in all that time, the kill may have met the second try.
    assert.ok(site.count("/page-0") === 2 || !known, `${site.count("/page-0")} tries`);
    assert.equal(site.count("/robots.txt"), 1, "nor was robots.txt asked for again");
    await served.terminated();
    await orb.audit();
  });
});

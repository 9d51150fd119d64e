import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MisbehavingSite, type Visit } from "../support/misbehaving-site.ts";
import { html, slow, status } from "../support/misbehaviours.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";

const PAGES = 40;

/** Parts of one site, each a start with many pages. The pages of all parts take equally long. */
async function sharedSite(...parts: string[]): Promise<MisbehavingSite> {
  const site = await MisbehavingSite.start({ "/robots.txt": status(404) });
  const links = (part: string) => Array.from({ length: PAGES }, (_, n) => `<a href="/${part}/page-${n}">x</a>`);
  for (const part of parts) {
    site.on(`/${part}`, html(`<title>${part}</title><p>${part}</p>${links(part).join("")}`));
    for (let n = 0; n < PAGES; n += 1)
      site.on(`/${part}/page-${n}`, slow(60, html(`<title>${n}</title><p>${part} ${n}</p>`)));
  }
  return site;
}

/** The most of these that were under way at the same time. */
function mostAtOnce(visits: readonly Visit[]): number {
  const moments = visits.map(({ at }) => visits.filter((one) => one.at <= at && (one.endedAt ?? Infinity) > at).length);
  return Math.max(0, ...moments);
}

const isOf = (part: string) => (visit: Visit) => visit.path.startsWith(`/${part}/`);

describe("two crawls of one site", () => {
  test("get on evenly, each within its own limit, and together within the site's [slow]", async () => {
    await using server = await TestServer.open({ APP_MAX_PER_HOST: "4" });
    await using site = await sharedSite("red", "blue");
    const crawler = new Crawler(server);
    const begin = (part: string, max_concurrent_articles: number) =>
      crawler.submit({ url: site.url(`/${part}`), fields: { p: "p" }, max_concurrent_articles });
    const ids = [await begin("red", 3), await begin("blue", 3)];
    const ended = await Promise.all(ids.map((id) => crawler.ended(id)));
    assert.deepEqual(
      ended.map(({ view }) => [view.status, view.completed_items]),
      [
        ["completed", PAGES + 1],
        ["completed", PAGES + 1],
      ],
    );
    const pages = site.visits.filter((visit) => isOf("red")(visit) || isOf("blue")(visit));
    for (const part of ["red", "blue"]) {
      const most = mostAtOnce(pages.filter(isOf(part)));
      assert.ok(most <= 3, `${part}: ${most} at once`);
    }
    assert.ok(mostAtOnce(pages) <= 4, `${mostAtOnce(pages)} at once on the site`);
    // From when both had pages until one was done, neither got far ahead.
    const first = (part: string) => pages.findIndex(isOf(part));
    const both = pages.slice(Math.max(first("red"), first("blue")));
    const lead = both.map((_, n) => {
      const seen = both.slice(0, n + 1);
      return seen.filter(isOf("red")).length - seen.filter(isOf("blue")).length;
    });
    const last = Math.min(...["red", "blue"].map((part) => both.findLastIndex(isOf(part))));
    const ahead = Math.max(...lead.slice(0, last + 1).map(Math.abs));
    assert.ok(ahead <= PAGES / 2, `one was ${ahead} pages ahead of the other`);
  });

  test("one that may do much at once does not keep one that may do little from getting on [slow]", async () => {
    await using server = await TestServer.open({ APP_MAX_PER_HOST: "4" });
    await using site = await sharedSite("wide", "narrow");
    const crawler = new Crawler(server);
    // The wide one does nothing until the other is there; then it goes slowly until that has its first page.
    const isThere = Promise.withResolvers<void>();
    const hasBegun = site.when(() => site.visits.some(isOf("narrow")), "the narrow one begins");
    for (let n = 0; n < PAGES; n += 1) {
      const answer = html(`<title>${n}</title><p>wide ${n}</p>`);
      site.on(`/wide/page-${n}`, async (visit, response, at) => {
        await isThere.promise;
        const waited = new Promise<void>((resolve) => at.after(n < 10 ? 60 : 3000, resolve));
        await Promise.race([waited, hasBegun]);
        if (!response.destroyed) await answer(visit, response, at);
      });
    }
    const wide = await crawler.submit({ url: site.url("/wide"), fields: { p: "p" }, max_concurrent_articles: 10 });
    await site.visited("/wide/page-0");
    const narrow = await crawler.submit({ url: site.url("/narrow"), fields: { p: "p" }, max_concurrent_articles: 1 });
    isThere.resolve();
    const ends = await Promise.all([crawler.ended(wide), crawler.ended(narrow)]);
    assert.deepEqual(
      ends.map(({ view }) => view.completed_items),
      [PAGES + 1, PAGES + 1],
    );
    assert.equal(mostAtOnce(site.visits.filter(isOf("narrow"))), 1);
    const firstNarrow = site.visits.findIndex(isOf("narrow"));
    const wideAfter = site.visits.slice(firstNarrow).filter(isOf("wide")).length;
    assert.ok(wideAfter > PAGES / 4, `only ${wideAfter} pages of the wide one were left when the narrow one began`);
  });
});

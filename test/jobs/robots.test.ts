import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { SiteView } from "../../src/orchestrator/sites.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { firstTimes, html, robots, status } from "../support/misbehaviours.ts";
import { Place } from "./kit.ts";

/** A start that leads to so many pages. */
function star(count: number): Record<string, Route> {
  const names = Array.from({ length: count }, (_, n) => `/page-${n}`);
  const page = (text: string) => html(`<title>${text}</title><p>Words of ${text}, enough to be a page of its own.</p>`);
  return {
    "/": html(`<title>Start</title>${names.map((name) => `<a href="${name}">x</a>`).join("")}`),
    ...Object.fromEntries(names.map((name) => [name, page(name)])),
  };
}

/** Between requests of one site; the machine may hold a request back for a moment before it is noted. */
function leastGap(site: MisbehavingSite): number {
  const times = site.visits.map(({ at }) => at);
  return Math.min(...times.slice(1).map((at, index) => at - times[index]!));
}

describe("robots.txt in a crawl", () => {
  let place: Place;
  before(async () => {
    place = await Place.open();
  });
  after(() => place[Symbol.asyncDispose]());

  const begin = async (url: string, more: object = {}) =>
    (await place.api.post("/scraping/async-scrape", { url, ...more })).json<{ task_id: string }>().task_id;
  const view = async (id: string) => (await place.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();

  test("its delay lies between all requests, the first page included, also over a restart, and nobody is asked twice", async () => {
    await using site = await MisbehavingSite.start(star(6));
    site.on("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.8\n"));
    const id = await begin(site.url("/"));
    await site.when(() => site.visits.length === 4, "three pages are fetched");
    await place.stop();
    await place.start();
    assert.equal((await place.api.get(`/sites/${site.name}`)).json<SiteView>().crawl_delay_ms, 800);
    assert.equal((await place.ended(id)).status, "completed");
    assert.equal((await view(id)).completed_items, 7);
    assert.equal(site.count("/robots.txt"), 1);
    assert.ok(leastGap(site) >= 400, `requests were ${leastGap(site)} ms apart`);
  });

  test("a run that does not ask for it has what it had before: no rules, and the pace of the site", async () => {
    await using site = await MisbehavingSite.start(star(3));
    site.on("/robots.txt", robots("User-agent: *\nCrawl-delay: 30\nDisallow: /page-1\n"));
    const id = await begin(site.url("/"), { respect_robots: false });
    await place.ended(id);
    const { status: end, completed_items: done } = await view(id);
    assert.deepEqual([end, done, site.count("/robots.txt")], ["completed", 4, 0]);
    assert.equal((await place.api.get(`/sites/${site.name}`)).json<SiteView>().crawl_delay_ms, null);
  });

  test("one that cannot be read fails no page that it can be read for later", async () => {
    await using site = await MisbehavingSite.start(star(3));
    site.on("/robots.txt", firstTimes(2, status(500), robots("User-agent: *\nDisallow: /page-1\n")));
    const id = await begin(site.url("/"));
    await place.ended(id);
    const { status: end, completed_items: done, failed_items: failed } = await view(id);
    assert.deepEqual([end, done, failed, site.count("/robots.txt")], ["completed", 3, 1, 3]);
  });

  test("one that stays unreadable lets nothing be fetched", async () => {
    await using site = await MisbehavingSite.start(star(3));
    site.on("/robots.txt", status(503));
    const id = await begin(site.url("/"), { retry_attempts: 1 });
    await place.ended(id);
    const found = await place.api.get(`/scraping/tasks/${id}/results?include_errors=true`);
    const { status: end, errors } = found.json<{ status: string; errors: { failure_code: string }[] }>();
    assert.deepEqual([end, errors.map(({ failure_code }) => failure_code)], ["failed", ["robots"]]);
    assert.equal(site.count("/"), 0);
  });
});

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { SiteView } from "../../src/orchestrator/sites/site-view.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { firstTimes, html, robots, sendTo, status } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

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
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());

  const begin = async (url: string, more: object = {}) =>
    (await server.api.post("/scraping/async-scrape", { url, ...more })).json<{ task_id: string }>().task_id;
  const view = async (id: string) => (await server.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();

  test("its delay lies between all requests, the first page included, also over a restart, and nobody is asked twice [slow]", async () => {
    await using site = await MisbehavingSite.start(star(6));
    site.on("/robots.txt", robots("User-agent: *\nCrawl-delay: 1.5\n"));
    const id = await begin(site.url("/"));
    await site.when(() => site.visits.length === 4, "three pages are fetched");
    await server.stop();
    await server.start();
    assert.equal((await server.api.get(`/sites/${site.name}`)).json<SiteView>().crawl_delay_ms, 1500);
    assert.equal((await server.ended(id)).status, "completed");
    assert.equal((await view(id)).completed_items, 7);
    assert.equal(site.count("/robots.txt"), 1);
    assert.ok(leastGap(site) >= 300, `requests were ${leastGap(site)} ms apart`);
    const span = site.visits.at(-1)!.at - site.visits[0]!.at;
    assert.ok(span >= 7 * 1500 - 1000, `all of them took ${span} ms`);
  });

  test("a run that does not ask for it has what it had before: no rules, and the pace of the site", async () => {
    await using site = await MisbehavingSite.start(star(3));
    site.on("/robots.txt", robots("User-agent: *\nCrawl-delay: 30\nDisallow: /page-1\n"));
    const id = await begin(site.url("/"), { respect_robots: false });
    await server.ended(id);
    const { status: end, completed_items: done } = await view(id);
    assert.deepEqual([end, done, site.count("/robots.txt")], ["completed", 4, 0]);
    assert.equal((await server.api.get(`/sites/${site.name}`)).json<SiteView>().crawl_delay_ms, null);
  });

  test("one that cannot be read fails no page that it can be read for later", async () => {
    await using site = await MisbehavingSite.start(star(3));
    site.on("/robots.txt", firstTimes(2, status(500), robots("User-agent: *\nDisallow: /page-1\n")));
    const id = await begin(site.url("/"));
    await server.ended(id);
    const { status: end, completed_items: done, failed_items: failed } = await view(id);
    assert.deepEqual([end, done, failed, site.count("/robots.txt")], ["completed", 3, 1, 3]);
  });

  test("one that stays unreadable lets nothing be fetched", async () => {
    await using site = await MisbehavingSite.start(star(3));
    site.on("/robots.txt", status(503));
    const id = await begin(site.url("/"), { retry_attempts: 1 });
    await server.ended(id);
    const found = await server.api.get(`/scraping/tasks/${id}/results?include_errors=true`);
    const { status: end, errors } = found.json<{ status: string; errors: { failure_code: string }[] }>();
    assert.deepEqual([end, errors.map(({ failure_code }) => failure_code)], ["failed", ["robots"]]);
    assert.equal(site.count("/"), 0);
  });

  test("one that asks for patience gets it for the whole site, for every run and over a restart, and no page pays [slow]", async () => {
    await using site = await MisbehavingSite.start(star(2));
    const allows = robots("User-agent: *\n");
    site.on("/robots.txt", firstTimes(1, status(429, { "retry-after": "12" }), allows));
    const ids = [await begin(site.url("/"), { retry_attempts: 0 })];
    await server.said(ids[0]!, /^Site rate limited/);
    ids.push(await begin(site.url("/"), { retry_attempts: 0, respect_robots: false }));
    await server.stop();
    await server.start();
    assert.equal(site.visits.length, 1);
    for (const id of ids) assert.equal((await server.ended(id)).status, "completed");
    const [first, second] = site.visits;
    assert.ok(second!.at - first!.at >= 11_900, `asked again after ${second!.at - first!.at} ms`);
  });
});

describe("a redirect to an origin whose robots.txt nobody has read", () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());

  const fetched = async (url: string, more: object = {}) => {
    const { id } = await server.job({ target_url: url, respect_robots: true, fields: { words: "p" }, ...more });
    return server.run(id);
  };

  test("is not followed where that one forbids it", async () => {
    await using there = await MisbehavingSite.start({ "/private/a": html("<p>Secret.</p>") });
    await using here = await MisbehavingSite.start({ "/a": sendTo(there.url("/private/a")) });
    there.on("/robots.txt", robots("User-agent: *\nDisallow: /private\n"));
    const run = await fetched(here.url("/a"));
    assert.deepEqual([run.status, run.failure_reason], ["failed", "robots_disallowed"]);
    assert.deepEqual([there.count("/robots.txt"), there.count("/private/a")], [1, 0]);
  });

  test("goes on from there when it may, with all hops in order, and what was meant for the first is sent to nobody else", async () => {
    await using last = await MisbehavingSite.start({ "/c": html("<p>Here it is.</p>") });
    await using there = await MisbehavingSite.start({ "/b": sendTo("/b2"), "/b2": sendTo(last.url("/c")) });
    await using here = await MisbehavingSite.start({ "/a": sendTo("/a2", 301), "/a2": sendTo(there.url("/b")) });
    const run = await fetched(here.url("/a"), { headers: { "x-api-key": "only-here" } });
    assert.equal(run.status, "completed");
    assert.deepEqual(run.stats?.redirects, [here.url("/a"), here.url("/a2"), there.url("/b"), there.url("/b2")]);
    assert.equal(run.stats?.final_url, last.url("/c"));
    for (const site of [here, there, last])
      for (const { path } of site.visits) assert.equal(site.count(path), 1, `${path} is asked for once`);
    assert.equal(here.visits.find(({ path }) => path === "/a")?.headers["x-api-key"], "only-here");
    for (const site of [there, last])
      for (const { headers } of site.visits) assert.equal(headers["x-api-key"], undefined);
  });

  test("counts for the redirects that a page may have", async () => {
    const sites = await Promise.all(Array.from({ length: 8 }, () => MisbehavingSite.start({})));
    try {
      for (const [n, site] of sites.entries()) {
        for (const hop of [0, 1]) site.on(`/${hop}`, sendTo(`/${hop + 1}`));
        site.on("/2", n === 7 ? html("<p>Too far.</p>") : sendTo(sites[n + 1]!.url("/0")));
      }
      const run = await fetched(sites[0]!.url("/0"));
      assert.deepEqual([run.status, run.failure_reason], ["failed", "too_many_redirects"]);
      assert.equal(
        sites.reduce((sum, site) => sum + site.visits.filter(({ path }) => path !== "/robots.txt").length, 0),
        21,
      );
    } finally {
      for (const site of sites) await site[Symbol.asyncDispose]();
    }
  });
});

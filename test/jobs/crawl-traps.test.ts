import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { html, status } from "../support/misbehaviours.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";

const MIB = 1024 * 1024;
const anchors = (...links: string[]) => links.map((link) => `<a href="${link}">x</a>`).join(" ");
const page = (...links: string[]) => html(`<title>Page</title><p>The same on every page.</p>${anchors(...links)}`);

/** A site without end: every path is a page, whose links are worked out. */
function endless(
  links: (path: string, query: URLSearchParams, nth: number) => readonly string[],
): Promise<MisbehavingSite> {
  let nth = 0;
  const route: Route = (visit, response, site) =>
    page(...links(visit.path, visit.query, (nth += 1)))(visit, response, site);
  return MisbehavingSite.start({ "/robots.txt": status(404), "*": route });
}

const FAR = { max_depth: 1000, max_pages: 50_000, fields: { p: "p" } };

describe("a site that has no end", () => {
  let server: TestServer;
  let crawler: Crawler;
  before(async () => {
    server = await TestServer.open({ APP_MAX_PER_HOST: "20" });
    crawler = new Crawler(server);
  });
  after(() => server[Symbol.asyncDispose]());

  const end = async (site: MisbehavingSite, body: object = {}) => {
    const { view } = await crawler.crawl({ ...FAR, url: site.url("/"), ...body });
    return [view.status, view.end_reason, view.completed_items];
  };

  test("a calendar in which every month leads to the next ones is left after a thousand pages", async () => {
    const month = (n: number) => `/calendar/${2000 + Math.floor(n / 12)}/${(n % 12) + 1}`;
    await using site = await endless((path) => {
      const [, , year = "2000", of = "0"] = path.split("/");
      const n = path === "/" ? -1 : (Number(year) - 2000) * 12 + Number(of) - 1;
      return [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((by) => month(n + by));
    });
    const [state, reason, pages] = await end(site);
    assert.deepEqual([state, reason], ["completed", "exhausted"]);
    assert.ok(Number(pages) > 900 && Number(pages) < 1100, `${pages} pages`);
  });

  test("session ids that differ on every page make no new pages", async () => {
    const paths = ["/a", "/b", "/c", "/d"];
    await using site = await endless((_path, _query, nth) => [
      ...paths.map((path) => `${path};jsessionid=${nth}A7F3${nth}9C0D`),
      ...paths.map((path) => `${path}?PHPSESSID=${nth}e8b1c9d0f2a4`),
      `/?sid=9f8e7d6c5b4a${nth}3f2e1d`,
    ]);
    assert.deepEqual(await end(site), ["completed", "exhausted", 5]);
  });

  test("a query that grows with every page ends where no query is so long", async () => {
    await using site = await endless((_path, query) => [
      `/?${new URLSearchParams([...query, [`filter-${[..."abcdefghij"][query.size % 10]}${query.size}`, "on"]])}`,
    ]);
    const [state, reason, pages] = await end(site);
    assert.deepEqual([state, reason], ["completed", "exhausted"]);
    assert.ok(Number(pages) <= 31, `${pages} pages`);
  });

  test("a relative link that makes the path longer and longer is left", async () => {
    await using site = await endless((path) => [`${path}${path.endsWith("/") ? "" : "/"}more/`]);
    const [state, reason, pages] = await end(site);
    assert.deepEqual([state, reason], ["completed", "exhausted"]);
    assert.ok(Number(pages) < 10, `${pages} pages`);
  });

  test("pages that all lead to each other and to themselves are fetched once each", async () => {
    const all = Array.from({ length: 40 }, (_, n) => `/${[..."abcdefghij"][n % 10]}-${n}`);
    await using site = await endless((path) => [path, "", "#top", "/", ...all]);
    assert.deepEqual(await end(site), ["completed", "exhausted", 41]);
    assert.ok(all.every((path) => site.count(path) === 1));
  });

  test("what no rule recognises ends by the limits of the crawl", async () => {
    const word = (n: number) => [...String(n)].map((digit) => "abcdefghij"[Number(digit)]).join("");
    let created = 0;
    await using site = await endless(() => [1, 2, 3].map(() => `/${word((created += 1))}`));
    assert.deepEqual(await end(site, { max_pages: 60 }), ["completed", "limit_pages", 60]);
    const [state, reason] = await end(site, { max_depth: 3 });
    assert.deepEqual([state, reason], ["completed", "limit_depth"]);
  });

  test("a hundred thousand links on one page cost little memory, and the server answers meanwhile", async () => {
    const list = html(
      `<title>List</title><p>All</p>${anchors(...Array.from({ length: 100_000 }, (_, n) => `/item/${n}`))}`,
    );
    await using site = await MisbehavingSite.start({ "/robots.txt": status(404), "/": list, "*": page() });
    // What reading any page needs is there already.
    await crawler.crawl({ ...FAR, url: site.url("/item/0") });
    globalThis.gc?.();
    const began = process.memoryUsage().rss;
    const id = await crawler.submit({ ...FAR, url: site.url("/"), max_pages: 300 });
    await site.visited("/item/1");
    assert.equal((await server.api.get("/health")).status, 200);
    const { view } = await crawler.ended(id);
    assert.deepEqual([view.status, view.end_reason, view.total_items], ["completed", "limit_pages", 300]);
    const grown = process.memoryUsage().rss - began;
    assert.ok(grown < 200 * MIB, `memory grew by ${Math.round(grown / MIB)} MiB`);
  });
});

describe("a crawl that goes on after a restart", () => {
  test("does not give a trap its allowance anew", async () => {
    await using server = await TestServer.open({ APP_MAX_PER_HOST: "20" });
    const crawler = new Crawler(server);
    await using site = await endless((path) => {
      const n = path === "/" ? -1 : Number(path.split("/")[2]);
      return [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((by) => `/page/${n + by}`);
    });
    const id = await crawler.submit({ ...FAR, url: site.url("/") });
    for (const at of [300, 600, 900]) {
      await site.when(() => site.visits.length >= at, `${at} pages are asked for`);
      await server.stop();
      await server.start();
    }
    const { view } = await crawler.ended(id);
    assert.deepEqual([view.status, view.end_reason], ["completed", "exhausted"]);
    assert.ok(view.completed_items < 1300, `${view.completed_items} pages`);
  });
});

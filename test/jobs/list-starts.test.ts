import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

const page = (title: string, ...links: string[]) =>
  html(`<title>${title}</title><p>Words of ${title}.</p>${links.map((link) => `<a href="${link}">x</a>`).join("")}`);

const file = (type: string, body: (site: MisbehavingSite) => string | Buffer, site: MisbehavingSite): Route => {
  return (_visit, response) => void response.writeHead(200, { "content-type": type }).end(body(site));
};

/** Five pages, of which the list names two; the others are linked from those. */
async function start(type: string, body: (site: MisbehavingSite) => string | Buffer, path = "/list") {
  const site = await MisbehavingSite.start({
    "/a": page("A", "/c"),
    "/b": page("B"),
    "/c": page("C", "/d"),
    "/d": page("D"),
    "/": page("Home"),
  });
  site.on(path, file(type, body, site));
  return site;
}

const XML = '<?xml version="1.0" encoding="utf-8"?>\n<!-- made by hand -->\n';
const SITEMAP = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

const LISTS: readonly [name: string, type: string, body: (site: MisbehavingSite) => string | Buffer][] = [
  [
    "an RSS feed",
    "application/rss+xml",
    (site) =>
      `${XML}<rss version="2.0"><channel><link>${site.url("/")}</link><item><link>${site.url("/a")}</link></item><item><guid>${site.url("/b")}</guid></item></channel></rss>`,
  ],
  [
    "an Atom feed that says it is HTML",
    "text/html",
    (site) =>
      `${XML}<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link href="${site.url("/a")}"/></entry><entry><link rel="alternate" href="/b"/></entry></feed>`,
  ],
  [
    "a JSON feed",
    "application/json",
    (site) =>
      JSON.stringify({
        title: "News",
        home_page_url: site.url("/"),
        items: [{ id: "1", url: site.url("/a") }, { id: site.url("/b") }, { id: "without an address" }],
        version: "https://jsonfeed.org/version/1.1",
      }),
  ],
  [
    "a sitemap",
    "text/xml",
    (site) =>
      `${XML}<urlset ${SITEMAP}><url><loc>${site.url("/a")}</loc></url><url><loc>${site.url("/b")}</loc></url></urlset>`,
  ],
  [
    "a packed sitemap",
    "application/gzip",
    (site) =>
      gzipSync(
        `<urlset ${SITEMAP}><url><loc>${site.url("/a")}</loc></url><url><loc>${site.url("/b")}</loc></url></urlset>`,
      ),
  ],
  ["a list of addresses", "text/plain; charset=utf-8", (site) => `${site.url("/a")}\r\n\r\n${site.url("/b")}\r\n`],
];

describe("a crawl that begins with a list of pages", () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());

  const crawl = async (body: object) => {
    const answer = await server.api.post("/scraping/async-scrape", { fields: { p: "p" }, ...body });
    assert.equal(answer.status, 202, answer.text);
    const id = answer.json<{ task_id: string }>().task_id;
    await server.ended(id);
    const view = (await server.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
    const said = (await server.events(id)).map(({ level, message }) => `${level} ${message}`);
    const results = await server.api.get(`/scraping/tasks/${id}/results?limit=1000`);
    const { items } = results.json<{ items: { url: string; depth: number }[] }>();
    return { view, items, said };
  };
  const depths = (items: readonly { url: string; depth: number }[]) =>
    Object.fromEntries(items.map(({ url, depth }) => [new URL(url).pathname, depth]).toSorted());

  for (const [name, type, body] of LISTS) {
    test(`${name}: what it names are the starts`, async () => {
      await using site = await start(type, body);
      const { view, items, said } = await crawl({ url: site.url("/list"), max_depth: 1 });
      assert.deepEqual(depths(items), { "/a": 0, "/b": 0, "/c": 1 }, said.join("\n"));
      assert.deepEqual([view.status, view.end_reason], ["completed", "limit_depth"], view.message ?? "");
      assert.equal(view.completed_items, 3, "the list itself is no page");
      assert.equal(site.count("/list"), 1);
      assert.ok(
        said.some((line) => /^\w+ (Feed|Sitemap|List) read: .*: 2 pages/.test(line)),
        said.join("\n"),
      );
    });
  }

  test("an index of sitemaps: the pages of its sitemaps are the starts", async () => {
    await using site = await start("text/xml", (here) => {
      return `<sitemapindex ${SITEMAP}><sitemap><loc>${here.url("/map.xml")}</loc></sitemap></sitemapindex>`;
    });
    site.on(
      "/map.xml",
      file("text/xml", (here) => `<urlset ${SITEMAP}><url><loc>${here.url("/a")}</loc></url></urlset>`, site),
    );
    const { items } = await crawl({ url: site.url("/list"), max_depth: 0 });
    assert.deepEqual(depths(items), { "/a": 0 });
  });

  test("a feed that names pages of other sites: they are got, and their own links are followed", async () => {
    await using other = await MisbehavingSite.start({
      "/story": page("Story", "/more"),
      "/more": page("More"),
      "/print/story": page("Print"),
    });
    await using site = await start(
      "application/rss+xml",
      (here) =>
        `<rss><channel>${[here.url("/a"), other.url("/story"), other.url("/print/story")].map((url) => `<item><link>${url}</link></item>`).join("")}</channel></rss>`,
    );
    const { items, view } = await crawl({ url: site.url("/list"), max_depth: 1, exclude: ["/print/**"] });
    assert.deepEqual(depths(items), { "/a": 0, "/c": 1, "/story": 0, "/more": 1 });
    assert.equal(view.status, "completed", view.message ?? "");
  });

  test("a sitemap that names pages of other sites: they are left, because it speaks of its own", async () => {
    await using other = await MisbehavingSite.start({ "/story": page("Story") });
    await using site = await start(
      "text/xml",
      (here) =>
        `<urlset ${SITEMAP}><url><loc>${here.url("/b")}</loc></url><url><loc>${other.url("/story")}</loc></url></urlset>`,
    );
    const { items } = await crawl({ url: site.url("/list") });
    assert.deepEqual(depths(items), { "/b": 0 });
    assert.equal(other.visits.length, 0);
  });

  test("feeds that name each other come to an end: what a list names is read as a page", async () => {
    await using site = await start(
      "application/rss+xml",
      (here) => `<rss><channel><item><link>${here.url("/other")}</link></item></channel></rss>`,
    );
    site.on(
      "/other",
      file(
        "application/rss+xml",
        (here) => `<rss><channel><item><link>${here.url("/list")}</link></item></channel></rss>`,
        site,
      ),
    );
    await crawl({ url: site.url("/list"), max_depth: 3 });
    assert.equal(site.count("/other"), 1);
    assert.equal(site.count("/list"), 1);
  });

  test("a list beside a page: both are starts", async () => {
    await using site = await start("text/plain", (here) => here.url("/b"));
    const { items } = await crawl({ urls: [site.url("/"), site.url("/list")], max_depth: 0 });
    assert.deepEqual(depths(items), { "/": 0, "/b": 0 });
  });
});

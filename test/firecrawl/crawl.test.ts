import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Document, Firecrawl } from "@mendable/firecrawl-js";
import { TestServer } from "../jobs/kit.ts";
import { clientOf, refused } from "./kit.ts";
import { Site } from "./site.ts";

describe("crawls and batches of Firecrawl's client", () => {
  let server: TestServer;
  let site: Site;
  let app: Firecrawl;

  before(async () => {
    [server, site] = await Promise.all([TestServer.open(), Site.open(260)]);
    app = clientOf(server.api.url);
  });

  after(async () => {
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const pathsOf = (data: readonly Document[]) =>
    data.map(({ metadata }) => new URL(metadata?.sourceURL ?? "").pathname).toSorted();

  test("somebody crawls a site of more than 250 pages with Firecrawl's client and waits for all documents [slow]", async () => {
    const job = await app.crawl(site.url, {
      sitemap: "skip",
      pollInterval: 1,
      scrapeOptions: { formats: ["markdown"] },
    });
    assert.equal(job.status, "completed");
    assert.equal(job.data.length, 261);
    assert.equal(new Set(job.data.map(({ metadata }) => metadata?.sourceURL)).size, 261);
    assert.match(job.data.find(({ metadata }) => metadata?.title === "Page 7")?.markdown ?? "", /number 7/);
    assert.equal(job.completed, 261);
    assert.equal(job.total, 263, "with the page that is gone, and the one behind robots.txt");
    assert.equal(job.creditsUsed, 0);
    const first = await app.getCrawlStatus(job.id, { autoPaginate: false });
    assert.equal(first.data.length, 100);
    assert.match(first.next ?? "", /^http:\/\/127\.0\.0\.1:\d+\/v2\/crawl\/.*\?after=/);
    const errors = await app.getCrawlErrors(job.id);
    const failed = errors.errors.map(({ url, code }) => [new URL(url).pathname, code]);
    assert.deepEqual(failed, [["/gone", "SCRAPE_SITE_ERROR"]]);
    assert.deepEqual(errors.robotsBlocked, [`${site.url}/private/a`]);
    const own = await server.show(job.id);
    assert.equal(own.kind, "crawl", "it is a run as every other");
    const old = await app.v1.checkCrawlStatus(job.id, true);
    assert.ok(old.success);
    assert.equal(old.data.length, 261, "the first version pages through it, too");
    const piece = await app.v1.checkCrawlStatus(job.id, false, undefined, 250, 5);
    assert.ok(piece.success);
    assert.deepEqual(piece.data, old.data.slice(250, 255));
  });

  test("a crawl stays below its start unless told otherwise, and follows the rules for paths [slow]", async () => {
    const below = await app.crawl(`${site.url}/blog`, { pollInterval: 1 });
    assert.deepEqual(pathsOf(below.data), ["/blog", "/blog/from-sitemap", "/blog/one", "/blog/two"]);
    const chosen = await app.crawl(`${site.url}/`, {
      includePaths: ["^/pages/1\\d$"],
      excludePaths: ["15$"],
      pollInterval: 1,
    });
    assert.deepEqual(pathsOf(chosen.data), ["/", ...[10, 11, 12, 13, 14, 16, 17, 18, 19].map((n) => `/pages/${n}`)]);
    const mapped = await app.crawl(`${site.url}/blog`, { sitemap: "only", pollInterval: 1 });
    assert.deepEqual(pathsOf(mapped.data), ["/blog", "/blog/from-sitemap"]);
    const few = await app.crawl(site.url, { limit: 3, sitemap: "skip", delay: 0.05, pollInterval: 1 });
    assert.deepEqual([few.data.length, few.completed, few.total], [3, 3, 3]);
    const shallow = await app.crawl(`${site.url}/blog`, {
      maxDiscoveryDepth: 0,
      crawlEntireDomain: true,
      pollInterval: 1,
    });
    assert.deepEqual(pathsOf(shallow.data), ["/blog"]);
  });

  test("somebody scrapes a batch, and is told which addresses are none", async () => {
    const urls = [`${site.url}/pages/1`, `${site.url}/pages/2`, "not a url", `${site.url}/gone`];
    const started = await app.startBatchScrape(urls, { options: { formats: ["markdown"] }, ignoreInvalidURLs: true });
    assert.deepEqual(started.invalidURLs, ["not a url"]);
    assert.match(started.url, /\/v2\/batch\/scrape\//);
    const job = await app.batchScrape(urls.slice(0, 2), { pollInterval: 1 });
    assert.equal(job.status, "completed");
    assert.deepEqual(pathsOf(job.data), ["/pages/1", "/pages/2"]);
    await server.ended(started.id);
    const errors = await app.getBatchScrapeErrors(started.id);
    assert.deepEqual(
      errors.errors.map(({ url }) => url),
      [`${site.url}/gone`],
    );
    const wrong = await refused(app.startBatchScrape(urls, { ignoreInvalidURLs: false }));
    assert.equal(wrong.status, 400);
    assert.match(wrong.message, /urls\[2\]: expected an http or https URL/);
  });

  test("an idempotency key is good for one batch", async () => {
    const urls = [`${site.url}/pages/3`];
    const { id } = await app.startBatchScrape(urls, { idempotencyKey: "once" });
    assert.equal((await refused(app.startBatchScrape(urls, { idempotencyKey: "once" }))).status, 409);
    assert.equal((await refused(app.startBatchScrape([site.url], { idempotencyKey: "once" }))).status, 409);
    await server.ended(id);
  });

  test("somebody cancels a crawl: what it has stays, and it is among the active ones only before", async () => {
    const open = Promise.withResolvers<void>();
    site.gate = open.promise;
    try {
      const { id } = await app.startCrawl(site.url, { sitemap: "skip" });
      const { crawls } = await app.getActiveCrawls();
      assert.deepEqual(
        crawls.filter((crawl) => crawl.id === id).map(({ url }) => url),
        [`${site.url}/`],
      );
      const running = await app.getCrawlStatus(id);
      assert.equal(running.status, "scraping");
      assert.equal(running.next, null);
      assert.equal(await app.cancelCrawl(id), true);
      assert.equal(await app.cancelCrawl(id), true, "twice is no mistake");
      assert.equal((await app.getCrawlStatus(id)).status, "cancelled");
      assert.ok(!(await app.getActiveCrawls()).crawls.some((crawl) => crawl.id === id));
      const batch = await app.startBatchScrape([`${site.url}/pages/4`]);
      assert.equal(await app.cancelBatchScrape(batch.id), true);
    } finally {
      open.resolve();
      site.gate = null;
    }
    const done = await app.crawl(`${site.url}/blog/one`, { sitemap: "skip", pollInterval: 1 });
    assert.equal((await refused(app.cancelCrawl(done.id))).status, 409);
  });

  test("somebody maps a site", async () => {
    const { links } = await app.map(site.url, { limit: 1000 });
    assert.equal(links.length, 264);
    assert.ok(links.some(({ url, title }) => url === `${site.url}/pages/7` && title === "Number 7"));
    assert.ok(
      links.some(({ url }) => url === `${site.url}/blog/from-sitemap`),
      "also what the sitemap names",
    );
    assert.deepEqual(
      (await app.map(site.url, { sitemap: "only" })).links.map(({ url }) => new URL(url).pathname).toSorted(),
      ["/blog/from-sitemap", "/pages/1"],
    );
    assert.deepEqual((await app.map(site.url, { search: "pages/26" })).links.length, 2, "26 and 260");
    assert.equal((await app.map(site.url, { sitemap: "skip", limit: 5 })).links.length, 5);
    const old = await app.v1.mapUrl(site.url, { ignoreSitemap: true, limit: 2 });
    assert.ok(old.success);
    assert.deepEqual(old.links, [`${site.url}/`, `${site.url}/pages/1`], "addresses alone");
  });

  test("the first version's client crawls, scrapes batches and asks for errors [slow]", async () => {
    const crawl = await app.v1.crawlUrl(`${site.url}/blog`, {
      ignoreSitemap: true,
      scrapeOptions: { formats: ["markdown"] },
    });
    assert.ok(crawl.success && crawl.status === "completed");
    assert.equal(crawl.data.length, 3);
    const shallow = await app.v1.crawlUrl(`${site.url}/`, { maxDepth: 1, ignoreSitemap: true, limit: 500 });
    assert.ok(shallow.success);
    assert.deepEqual(
      shallow.data.map(({ metadata }) => metadata?.sourceURL),
      [`${site.url}/`],
    );
    const batch = await app.v1.batchScrapeUrls([`${site.url}/pages/1`, `${site.url}/gone`], { formats: ["markdown"] });
    assert.ok(batch.success);
    assert.equal(batch.data.length, 1);
    const started = await app.v1.asyncBatchScrapeUrls([`${site.url}/gone`, `${site.url}/pages/2`], {});
    assert.ok(started.success);
    await server.ended(started.id ?? "");
    const errors = await app.v1.checkBatchScrapeErrors(started.id ?? "");
    assert.ok("errors" in errors);
    assert.deepEqual(
      errors.errors.map(({ url }) => url),
      [`${site.url}/gone`],
    );
  });

  test("somebody watches a crawl and a batch, in both versions", async () => {
    const { id } = await app.startCrawl(`${site.url}/blog`, { sitemap: "skip" });
    const watched = await watch(id, "crawl");
    assert.deepEqual(watched.paths, ["/blog", "/blog/one", "/blog/two"]);
    assert.deepEqual([watched.done.status, watched.done.data.length], ["completed", 3]);
    const again = await watch(id, "crawl");
    assert.deepEqual(again.paths, watched.paths, "one that has ended tells all of it");
    const batch = await app.startBatchScrape([`${site.url}/pages/1`, `${site.url}/pages/2`]);
    assert.deepEqual((await watch(batch.id, "batch")).paths, ["/pages/1", "/pages/2"]);
    const cancelled = await app.startCrawl(site.url, { delay: 5 });
    const seen = watch(cancelled.id, "crawl");
    await app.cancelCrawl(cancelled.id);
    assert.equal((await seen).done.status, "cancelled");
    const old = await app.v1.crawlUrlAndWatch(`${site.url}/blog`, { ignoreSitemap: true });
    const paths: string[] = [];
    old.addEventListener("document", ({ detail }) => {
      paths.push(new URL(detail.metadata?.sourceURL ?? "").pathname);
    });
    await new Promise((resolve) => old.addEventListener("done", resolve));
    assert.deepEqual(paths.toSorted(), ["/blog", "/blog/one", "/blog/two"]);
  });

  interface Done {
    status: string;
    data: unknown[];
  }

  async function watch(id: string, kind: "crawl" | "batch"): Promise<{ paths: string[]; done: Done }> {
    const watcher = app.watcher(id, { kind });
    const documents: Document[] = [];
    watcher.on("document", (document: Document) => documents.push(document));
    const done = new Promise<Done>((resolve, reject) => {
      watcher.on("done", resolve);
      watcher.on("error", (error: object) => reject(new Error(JSON.stringify(error))));
    });
    await watcher.start();
    return { paths: pathsOf(documents), done: await done };
  }
});

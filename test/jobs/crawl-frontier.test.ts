import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { TaskView } from "../../src/orchestrator/runs/view.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, sendTo, slow, status } from "../support/misbehaviours.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";

const WORDS = "<p>Some words, long enough, that somebody wrote for others to read them.</p>".repeat(4);
const page = (title: string, ...links: string[]) =>
  html(`<title>${title}</title><article><h1>${title}</h1>${WORDS}</article>${links.map(anchor).join(" ")}`);
const anchor = (link: string) => `<a href="${link}">go on</a>`;

describe("pages that a crawl meets more than once", () => {
  let server: TestServer;
  let crawler: Crawler;
  before(async () => {
    server = await TestServer.open();
    crawler = new Crawler(server);
  });
  after(() => server[Symbol.asyncDispose]());

  const tasks = async (id: string) => (await server.api.get(`/jobs/runs/${id}/tasks?limit=100`)).json<TaskView[]>();

  test("a redirect onto a page of the crawl is skipped, and says which page it is", async () => {
    await using site = await MisbehavingSite.start({
      "/": page("Start", "/old", "/page", "/older"),
      "/old": slow(50, sendTo("/page")),
      "/older": slow(50, sendTo("/old")),
      "/page": page("Page", "/old", "/"),
    });
    const { id, view, items } = await crawler.crawl({ url: site.url("/") });
    assert.deepEqual(items.map(({ url }) => url).toSorted(), [site.url("/"), site.url("/page")]);
    assert.deepEqual(
      [view.status, view.end_reason, view.progress, view.total_items, view.completed_items, view.skipped_items],
      ["completed", "exhausted", 100, 4, 2, 2],
    );
    const skipped = (await tasks(id)).filter(({ status: is }) => is === "skipped");
    assert.deepEqual(skipped.map(({ url, detail }) => [url, (detail as { alias_of: string }).alias_of]).toSorted(), [
      [site.url("/old"), site.url("/page")],
      [site.url("/older"), site.url("/page")],
    ]);
  });

  test("a page that is known only by a redirect is not fetched again under its own address", async () => {
    await using site = await MisbehavingSite.start({
      "/": page("Start", "/go"),
      "/go": sendTo("/page"),
      "/page": page("Page", "/next", "/page"),
      "/next": page("Next", "/page", "/go"),
    });
    const { view, items } = await crawler.crawl({ url: site.url("/"), max_depth: 5 });
    assert.deepEqual(
      items.map(({ url }) => url),
      ["/", "/page", "/next"].map((path) => site.url(path)),
    );
    assert.deepEqual([site.count("/page"), view.total_items, view.skipped_items], [1, 3, 0]);
  });

  test("many addresses that redirect to one page at the same time give it once", async () => {
    const doors = Array.from({ length: 20 }, (_, n) => `/door-${n}`);
    await using site = await MisbehavingSite.start({ "/": page("Start", ...doors), "/hall": page("Hall") });
    for (const door of doors) site.on(door, slow(30, sendTo("/hall")));
    const { view, items } = await crawler.crawl({ url: site.url("/") });
    assert.deepEqual(items.map(({ url }) => url).toSorted(), [site.url("/"), site.url("/hall")]);
    assert.deepEqual([view.status, view.completed_items, view.skipped_items], ["completed", 2, 19]);
  });

  test("a page that moved to another site where it is known gives no second result", async () => {
    await using far = await MisbehavingSite.start({ "/home": page("Far away") }, "127.0.0.2");
    await using site = await MisbehavingSite.start({
      "/": page("Start", far.url("/home"), "/moved", "/moved-too", "/away"),
      "/moved": slow(30, sendTo(far.url("/home"))),
      "/moved-too": slow(30, sendTo(far.url("/other"))),
      "/away": slow(30, sendTo(far.url("/other"))),
    });
    far.on("/other", page("Other", "/home", "/other"));
    const { view, items } = await crawler.crawl({ url: site.url("/"), same_site: false });
    assert.deepEqual(
      items.map(({ url }) => url).toSorted(),
      [site.url("/"), far.url("/home"), far.url("/other")].toSorted(),
    );
    assert.deepEqual([view.status, view.skipped_items, far.count("/other")], ["completed", 2, 1]);
  });

  test("a start that has moved to another site is crawled there, and the crawl says so", async () => {
    await using home = await MisbehavingSite.start({}, "127.0.0.2");
    home.on("/", page("New home", "/a", "/b"));
    home.on("/a", page("A", "/b"));
    home.on("/b", page("B"));
    await using old = await MisbehavingSite.start({ "/": sendTo(home.url("/")), "/a": page("Old A") });
    const { id, view, items } = await crawler.crawl({ url: old.url("/") });
    assert.deepEqual([view.status, view.end_reason, view.completed_items], ["completed", "exhausted", 3]);
    assert.deepEqual(
      items.map(({ url }) => url).toSorted(),
      ["/", "/a", "/b"].map((path) => home.url(path)),
    );
    const events = (await server.api.get(`/jobs/runs/${id}/events`)).json<{ message: string }[]>();
    assert.ok(events.some(({ message }) => message === `Start moved: ${old.url("/")} redirects to ${home.url("/")}`));
    assert.equal(old.count("/a"), 0);
  });

  test("a list that lacks a required field fails, and the pages it leads to are got all the same", async () => {
    const shelf = html(`<title>Shelf</title>${["/p1", "/p2"].map(anchor).join(" ")}`);
    const product = (price: string) => html(`<title>Product</title><b class="price">${price}</b>`);
    await using site = await MisbehavingSite.start({ "/": shelf, "/p1": product("1.50"), "/p2": product("2.50") });
    const fields = { price: { css: ".price", type: "number", required: true } };
    const { view, items, errors } = await crawler.crawl({ url: site.url("/"), fields, retry_attempts: 0 });
    assert.deepEqual([view.status, view.completed_items, view.failed_items], ["partial", 2, 1]);
    assert.deepEqual(items.map((item) => (item["fields"] as { price: number }).price).toSorted(), [1.5, 2.5]);
    assert.deepEqual([errors[0]?.url, errors[0]?.failure_reason], [site.url("/"), "field_missing"]);
  });

  test("sites that send a page to each other for ever give it up", async () => {
    await using far = await MisbehavingSite.start({}, "127.0.0.2");
    await using site = await MisbehavingSite.start({ "/": page("Start", "/ping") });
    let balls = 0;
    site.on("/ping", (visit, response, at) => sendTo(far.url(`/pong?${(balls += 1)}`))(visit, response, at));
    far.on("/pong", (visit, response, at) => sendTo(site.url(`/ping?${(balls += 1)}`))(visit, response, at));
    const { view, errors } = await crawler.crawl({ url: site.url("/"), same_site: false, retry_attempts: 0 });
    assert.deepEqual([view.status, view.end_reason], ["partial", "exhausted"]);
    assert.equal(errors[0]?.failure_reason, "too_many_redirects");
    assert.ok(balls <= 22, `${balls} redirects`);
  });

  test("a redirect to what the crawl leaves is not followed; a start is followed wherever it leads on its site", async () => {
    await using site = await MisbehavingSite.start({
      "/": sendTo("/private/home"),
      "/private/home": page("Home", "/a", "/b"),
      "/a": sendTo("/private/a"),
      "/private/a": page("Private"),
      "/b": sendTo("/file.zip"),
    });
    const { view, items } = await crawler.crawl({ url: site.url("/"), exclude: ["/private/**"] });
    assert.deepEqual(
      items.map(({ url }) => url),
      [site.url("/private/home")],
    );
    assert.deepEqual([view.status, view.skipped_items], ["completed", 2]);
    assert.deepEqual([site.count("/private/a"), site.count("/file.zip")], [0, 0]);
  });

  test("pages that say the same name the first of them, and are complete; a canonical link is no redirect", async () => {
    const article = (title: string, ...links: string[]) =>
      html(
        `<title>${title}</title><link rel=canonical href="/print/1"><article>${WORDS}</article><nav>${links.map(anchor)}</nav>`,
      );
    await using site = await MisbehavingSite.start({
      "/": page("Start", "/a"),
      "/a": article("A", "/b", "/short-1", "/short-2"),
      "/b": article("B", "/c", "/print/1"),
      "/c": page("C"),
      "/print/1": article("P"),
      "/short-1": html("<title>1</title><p>Hello</p>"),
      "/short-2": html("<title>2</title><p>Hello</p>"),
    });
    const { view, items } = await crawler.crawl({ url: site.url("/"), max_depth: 9 });
    const same = Object.fromEntries(items.map((item) => [new URL(item.url).pathname, item.duplicate_of]));
    assert.deepEqual(same, {
      "/": undefined,
      "/a": undefined,
      "/b": site.url("/a"),
      "/c": undefined,
      "/print/1": site.url("/a"),
      "/short-1": undefined,
      "/short-2": undefined,
    });
    const [a, b] = ["/a", "/b"].map((path) => items.find(({ url }) => url === site.url(path)));
    assert.equal(b?.text, a?.text, "the text is there");
    assert.equal(view.completed_items, 7);
  });

  test("by rules, pages are the same when title and fields are", async () => {
    const offer = (title: string, price: string) => html(`<title>${title}</title><b>${price}</b><i></i>`);
    await using site = await MisbehavingSite.start({
      "/": html(`<title>Start</title>${["/1", "/2", "/3", "/4", "/5"].map(anchor)}`),
      "/1": offer("Spoon", "3 EUR"),
      "/2": offer("Spoon", "3 EUR"),
      "/3": offer("Spoon", "4 EUR"),
      "/4": offer("Spoon", ""),
      "/5": offer("Spoon", ""),
    });
    // One after the other: whichever is stored first is the first of them.
    const body = { url: site.url("/"), fields: { price: "b", note: "i" }, max_concurrent_articles: 1 };
    const { items } = await crawler.crawl(body);
    const named = items.filter((item) => item.duplicate_of !== undefined);
    assert.deepEqual(
      named.map((item) => [item.url, item.duplicate_of]),
      [[site.url("/2"), site.url("/1")]],
    );
  });

  test("what is skipped or fails on the way does not keep its links from others", async () => {
    await using site = await MisbehavingSite.start({
      "/": page("Start", "/list", "/broken"),
      "/list": sendTo("/all"),
      "/all": page("All", ...Array.from({ length: 30 }, (_, n) => `/p/${n}`)),
      "/broken": status(500),
    });
    for (let n = 0; n < 30; n += 1) site.on(`/p/${n}`, page(`Page ${n}`, "/all", "/list", `/p/${(n + 1) % 30}`));
    const { view }: { view: CrawlView } = await crawler.crawl({ url: site.url("/"), retry_attempts: 0 });
    assert.deepEqual([view.status, view.total_items, view.completed_items], ["partial", 33, 32]);
  });
});

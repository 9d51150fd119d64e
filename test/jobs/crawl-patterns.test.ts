import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, sendTo } from "../support/misbehaviours.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";

const LISTS = 3;
const ON_A_LIST = 4;
const article = (n: number) => `/2026/article-${n}`;
const listPath = (page: number) => (page === 1 ? "/" : `/page/${page}`);

/** Twelve articles of this year and one of last year on three pages of a list, which link to each other by number. */
function magazine(): Record<string, ReturnType<typeof html>> {
  const routes: Record<string, ReturnType<typeof html>> = { "/2025/old": html("<h1>Old</h1>") };
  for (let page = 1; page <= LISTS; page += 1) {
    const own = Array.from({ length: ON_A_LIST }, (_, index) => (page - 1) * ON_A_LIST + index + 1);
    for (const n of own) routes[article(n)] = html(`<title>Article ${n}</title><h1>Article ${n}</h1>`);
    const links = [...own.map(article), "/2025/old", "https://elsewhere.example/", "/picture.jpg"];
    const next = page < LISTS ? `<a rel="next" href="${listPath(page + 1)}">Older</a>` : "";
    routes[listPath(page)] = html(
      `<title>List ${page}</title>${links.map((link) => `<a href="${link}">read</a>`).join(" ")}${next}`,
    );
  }
  return routes;
}

describe("a crawl that follows some pages and reads others", () => {
  let server: TestServer;
  let site: MisbehavingSite;
  before(async () => {
    [server, site] = [await TestServer.open(), await MisbehavingSite.start(magazine())];
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const crawl = (options: object) =>
    new Crawler(server).crawl({
      url: site.url("/"),
      max_depth: 10,
      strategy: "http",
      fields: { heading: "h1" },
      ...options,
    });
  const paths = (items: readonly { url: string }[]) => items.map(({ url }) => new URL(url).pathname).toSorted();
  const ARTICLES = Array.from({ length: LISTS * ON_A_LIST }, (_, index) => article(index + 1)).toSorted();

  test("include alone cuts off the list, and the run says so, with an example and the fix", async () => {
    const { id, view, items } = await crawl({ include: ["/2026/**"] });
    assert.equal(items.length, 1 + ON_A_LIST, "the start and what it links to");
    assert.deepEqual(view.skipped, { not_included: 3, other_site: 1 });
    const [warning] = view.warnings;
    assert.deepEqual(
      [warning?.code, warning?.option, warning?.patterns, warning?.url, warning?.found_on, warning?.follow],
      ["pagination_cut", "include", ["/2026/**"], site.url("/page/2"), site.url("/"), "/page/*"],
    );
    assert.match(warning?.message ?? "", /include "\/2026\/\*\*" excludes .*\/page\/2.*--follow '\/page\/\*'/);
    const run = (await server.api.get(`/jobs/runs/${id}`)).json<RunView>();
    assert.deepEqual([run.skipped, run.warnings], [view.skipped, view.warnings]);
    const events = (await server.api.get(`/jobs/runs/${id}/events?limit=100`)).json<
      { level: string; message: string }[]
    >();
    assert.deepEqual(
      events.filter(({ message }) => message.startsWith("Pagination cut off")).map(({ level }) => level),
      ["warn"],
    );
  });

  test("follow lets the list in, and its pages give no records", async () => {
    const { view, items } = await crawl({ include: ["/2026/**"], follow: ["/page/*"] });
    assert.deepEqual(paths(items), ARTICLES);
    assert.deepEqual([view.status, view.followed_items, view.warnings], ["completed", LISTS, []]);
    assert.equal(view.completed_items, LISTS + ARTICLES.length);
    assert.match(view.message ?? "", /15 pages fetched \(3 followed without a record\)/);
  });

  test("read alone follows the whole site; fields that lists lack fail no page", async () => {
    const { view, items, errors } = await crawl({ read: ["/2026/**"], schema: { required: ["heading"] } });
    assert.deepEqual([paths(items), errors], [ARTICLES, []]);
    // The start, two more pages of the list, and the article of last year.
    assert.equal(view.followed_items, LISTS + 1);
    assert.deepEqual(view.skipped, { other_site: 1, file: 1 });
  });

  test("an exclude that cuts off the list is named, and follow is no fix for it", async () => {
    const { view, items } = await crawl({ read: ["/2026/**"], exclude: ["/page/**"] });
    assert.equal(items.length, ON_A_LIST);
    assert.deepEqual(
      view.warnings.map(({ option, patterns, follow }) => [option, patterns, follow]),
      [["exclude", ["/page/**"], null]],
    );
    assert.equal(view.skipped.excluded, 1);
  });

  test("limits count what they keep out", async () => {
    const deep = await crawl({ max_depth: 0 });
    assert.ok((deep.view.skipped.depth ?? 0) >= 1, JSON.stringify(deep.view.skipped));
    const few = await crawl({ max_pages: 2 });
    assert.ok((few.view.skipped.page_limit ?? 0) >= 1, JSON.stringify(few.view.skipped));
  });

  test("a followed page that redirects to one that is read is read", async () => {
    await using moved = await MisbehavingSite.start({
      "/": html('<a href="/go/1">read</a>'),
      "/go/1": sendTo("/2026/one"),
      "/2026/one": html("<title>One</title><h1>One</h1>"),
    });
    const { view, items } = await crawl({ url: moved.url("/"), read: ["/2026/**"] });
    assert.deepEqual([paths(items), view.followed_items, view.failed_items], [["/2026/one"], 1, 0]);
  });

  test("a mistake in one of the lists is refused with its path", async () => {
    const answer = await server.api.post("/scraping/async-scrape", { url: site.url("/"), follow: ["/a", "page/*"] });
    assert.equal(answer.status, 422);
    assert.match(answer.text, /follow\[1\]/);
  });

  test("a saved crawl keeps its patterns, and its lists are no changed pages", async () => {
    const job = await server.job({
      kind: "crawl",
      target_url: site.url("/"),
      crawl: { max_depth: 10, strategy: "http", follow: ["/page/*"], read: ["/2026/**"] },
    });
    assert.deepEqual([job.crawl?.follow, job.crawl?.read], [["/page/*"], ["/2026/**"]]);
    await server.run(job.id);
    const second = await server.run(job.id);
    const { changes } = (await server.api.get(`/jobs/runs/${second.id}`)).json<RunView>();
    assert.deepEqual([changes?.new, changes?.changed, changes?.unchanged], [0, 0, ARTICLES.length]);
  });

  test("several starts are all shown, and a crawl has the name that it was given", async () => {
    const starts = [site.url("/"), site.url("/page/2"), site.url("/page/3")];
    const { id, view } = await crawl({ url: starts, name: "The magazine", max_depth: 0, max_attempts: 1 });
    assert.deepEqual([view.urls, view.url_count, view.name, view.crawl_id], [starts, 3, "The magazine", id]);
    const run = (await server.api.get(`/jobs/runs/${id}`)).json<RunView>();
    assert.deepEqual([run.urls, run.url_count, run.name, run.max_attempts], [starts, 3, "The magazine", 1]);
    const { recipe } = (await server.api.get(`/jobs/runs/${id}/recipe`)).json<{ recipe: { name: string } }>();
    assert.equal(recipe.name, "The magazine", "whoever clones it has the name");
    const both = await server.api.post("/scraping/async-scrape", { url: starts, max_attempts: 2, retry_attempts: 2 });
    assert.match(both.text, /max_attempts.*is 2, but retry_attempts is 2/);
  });
});

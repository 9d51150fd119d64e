import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { firstTimes, hang, held, html, robots, sendTo, status } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

const WORDS = "<p>Some words, long enough, that somebody wrote for others to read them.</p>".repeat(4);
const page = (title: string, ...links: string[]) =>
  html(
    `<title>${title}</title><article><h1>${title}</h1>${WORDS}</article>` +
      links.map((link) => `<a href="${link}">go on</a>`).join(" "),
  );

/** Three pages on each of five levels, all of which lead to the start and to each other. */
const levels = (count: number) => {
  const at = (level: number) => ["a", "b", "c"].map((letter) => `/${letter}/${level}`);
  const routes: Record<string, ReturnType<typeof html>> = { "/": page("Start", ...at(1)) };
  for (let level = 1; level <= count; level += 1)
    for (const path of at(level)) routes[path] = page(`Page ${path}`, "/", ...at(level), ...at(level + 1));
  return routes;
};

interface Results {
  status: string;
  items: { url: string; depth: number; title: string; text: string; fields?: Record<string, unknown> }[];
  errors: { url: string; failure_code: string; attempts: number }[];
}

describe("a crawl", () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());

  const submit = async (body: object) => {
    const answer = await server.api.post("/scraping/async-scrape", body);
    assert.deepEqual([answer.status, answer.json<{ status: string }>().status], [202, "pending"], answer.text);
    return answer.json<{ task_id: string }>().task_id;
  };
  const view = async (id: string) => (await server.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
  const crawl = async (body: object) => {
    const id = await submit(body);
    await server.ended(id);
    return { id, view: await view(id), results: await results(id) };
  };
  const results = async (id: string) =>
    (await server.api.get(`/scraping/tasks/${id}/results?limit=1000&include_errors=true`)).json<Results>();

  test("follows every level to its depth, and fetches each page once", async () => {
    await using site = await MisbehavingSite.start(levels(7));
    for (const depth of [0, 1, 3, 5]) {
      const seen = site.visits.length;
      const { view: end, results: found } = await crawl({ url: site.url("/"), max_depth: depth });
      assert.deepEqual([end.status, end.total_items, end.completed_items], ["completed", 1 + 3 * depth, 1 + 3 * depth]);
      assert.equal(end.end_reason, "limit_depth");
      assert.deepEqual(found.items.map((item) => item.depth).toSorted(), [
        0,
        ...Array.from({ length: depth }, (_, level) => [level + 1, level + 1, level + 1]).flat(),
      ]);
      const pages = site.visits.slice(seen).filter(({ path }) => path !== "/robots.txt");
      assert.equal(new Set(pages.map(({ path }) => path)).size, pages.length, "each once");
    }
    const { results: whole } = await crawl({ url: site.url("/"), max_depth: 1 });
    const [start] = whole.items;
    assert.deepEqual([start?.title, start?.url], ["Start", site.url("/")]);
    assert.match(start?.text ?? "", /that somebody wrote/);
  });

  test("stops at its page limit, and says so", async () => {
    await using site = await MisbehavingSite.start(levels(7));
    const { view: end } = await crawl({ url: site.url("/"), max_depth: 7, max_pages: 6 });
    assert.deepEqual(
      [end.status, end.end_reason, end.total_items, end.completed_items],
      ["completed", "limit_pages", 6, 6],
    );
  });

  test("keeps what it has when its time is over [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Start", "/slow", "/next"), "/next": page("Next") });
    site.on("/slow", hang);
    // Long enough for the two others on a busy machine.
    const body = { url: site.url("/"), timeout_minutes: 0.2 };
    const [{ view: part, results: found }, { view: none }] = await Promise.all([
      crawl(body),
      crawl({ ...body, partial_results_ok: false }),
    ]);
    assert.deepEqual(
      [part.status, part.end_reason, found.items.length],
      ["partial", "limit_time", 2],
      part.message ?? "",
    );
    assert.equal(none.status, "failed");
  });

  test("a page that fails is named, and does not take the others along", async () => {
    await using site = await MisbehavingSite.start({
      "/": page("Start", "/gone", "/broken", "/flaky", "/moved"),
      "/gone": status(404),
      "/broken": status(500),
      "/flaky": firstTimes(1, status(500), page("Flaky")),
      "/moved": sendTo("/flaky"),
    });
    const { id, view: end, results: found } = await crawl({ url: site.url("/"), retry_attempts: 1 });
    assert.deepEqual(
      [end.status, end.failed_items, end.errors],
      ["partial", 2, { timeout: 0, connection: 0, general: 2 }],
    );
    const failures = new Map(found.errors.map(({ url, attempts }) => [url, attempts]));
    assert.deepEqual(
      failures,
      new Map([
        [site.url("/gone"), 1],
        [site.url("/broken"), 2],
      ]),
    );
    site.on("/broken", page("Mended"));
    await server.api.post(`/jobs/runs/${id}/retry-failed`);
    await server.ended(id);
    const again = await view(id);
    assert.deepEqual([again.status, again.failed_items, again.errors.general], ["completed", 1, 1]);
  });

  test("stays within its site, its patterns and what robots.txt allows", async () => {
    await using other = await MisbehavingSite.start({ "/": page("Elsewhere") });
    await using site = await MisbehavingSite.start({
      "/robots.txt": robots("User-agent: *\nDisallow: /private\n"),
      "/": page("Start", "/blog/1", "/shop/1", "/private", other.url("/"), "/file.zip"),
      "/blog/1": page("Blog", "/blog/draft/1"),
      "/blog/draft/1": page("Draft"),
      "/shop/1": page("Shop"),
      "/private": page("Private"),
    });
    const visited = () =>
      [...new Set(site.visits.map(({ path }) => path))].filter((path) => path !== "/robots.txt").toSorted();
    const { view: end } = await crawl({ url: site.url("/"), include: ["/blog/**"], exclude: ["**/draft/**"] });
    assert.deepEqual([end.status, visited()], ["completed", ["/", "/blog/1"]]);
    const { view: all, results: found } = await crawl({ url: site.url("/") });
    assert.deepEqual(visited(), ["/", "/blog/1", "/blog/draft/1", "/shop/1"]);
    assert.deepEqual([all.status, found.errors.map(({ failure_code }) => failure_code)], ["completed", ["robots"]]);
    assert.equal(other.visits.length, 0);
  });

  test("goes through a long list of numbered pages that only lead to each other, as long as they say something new [slow]", async () => {
    const count = 1200;
    await using site = await MisbehavingSite.start({});
    for (let n = 0; n < count; n += 1)
      site.on(
        `/item/${n}`,
        html(
          `<title>${n}</title><p>Item ${n}</p>${[1, 7, 50].map((by) => `<a href="/item/${(n + by) % count}">x</a>`)}`,
        ),
      );
    const { view: end } = await crawl({
      url: site.url("/item/0"),
      max_depth: 1000,
      max_pages: 5000,
      fields: { p: "p" },
    });
    assert.deepEqual([end.status, end.end_reason, end.completed_items], ["completed", "exhausted", count]);
  });

  test("reads fields by rules, and the article only when asked", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Start") });
    const body = { url: site.url("/"), fields: { heading: { css: "h1", required: true } } };
    const [lean] = (await crawl(body)).results.items;
    assert.deepEqual(lean, { url: site.url("/"), depth: 0, title: "Start", fields: { heading: "Start" } });
    const [rich] = (await crawl({ ...body, article: true })).results.items;
    assert.match(rich?.text ?? "", /that somebody wrote/);
  });

  test("is cancelled at once, and what it has stays readable", async () => {
    await using site = await MisbehavingSite.start({
      "/": page("Start", ...Array.from({ length: 30 }, (_, n) => `/p/${n}`)),
    });
    for (let n = 0; n < 30; n += 1) site.on(`/p/${n}`, hang);
    const id = await submit({ url: site.url("/"), max_concurrent_articles: 2 });
    await site.visited("/p/1", 1);
    const answer = await server.api.call("DELETE", `/scraping/tasks/${id}`);
    assert.deepEqual([answer.status, answer.json<CrawlView>().status], [200, "cancelled"]);
    assert.equal((await server.api.call("DELETE", `/scraping/tasks/${id}`)).status, 200, "twice is no mistake");
    assert.ok((await results(id)).items.length >= 1);
    assert.ok(site.visits.filter(({ path }) => path.startsWith("/p/")).length <= 2, "two at a time");
  });

  test("waits its turn when others are running", async () => {
    await using busy = await TestServer.open({ APP_MAX_CONCURRENT_TASKS: "1" });
    const seen = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({ "/1": held(seen.promise, page("One")), "/2": page("Two") });
    const begin = async (path: string) =>
      (await busy.api.post("/scraping/async-scrape", { url: site.url(path) })).json<{ task_id: string }>().task_id;
    const [first, second] = [await begin("/1"), await begin("/2")];
    await site.visited("/1", 1);
    const waiting = (await busy.api.get(`/scraping/tasks/${second}/status`)).json<CrawlView>();
    assert.deepEqual([waiting.status, site.count("/2")], ["pending", 0]);
    seen.resolve();
    await busy.ended(first);
    assert.equal((await busy.ended(second)).status, "completed");
  });

  test("rules that are named like something else have columns of their own in tables", async () => {
    const words = { depth: "deep", title: "named", unchanged: "kept", fields_depth: "other", price: "7" };
    const body = Object.entries(words).map(([name, word]) => `<b class="${name}">${word}</b>`);
    await using site = await MisbehavingSite.start({ "/": html(`<title>Start</title>${body.join("")}`) });
    const fields = Object.fromEntries(Object.keys(words).map((name) => [name, `.${name}`]));
    const { id } = await crawl({ url: site.url("/"), max_depth: 0, fields });
    const csv = await server.api.get(`/scraping/tasks/${id}/results?format=csv`);
    const [names, values] = csv.text.split("\r\n").map((line) => line.split(","));
    assert.deepEqual(Object.fromEntries((names ?? []).map((name, index) => [name, values?.[index]])), {
      url: site.url("/"),
      depth: "0",
      title: "Start",
      fields_fields_depth: "deep",
      fields_title: "named",
      fields_unchanged: "kept",
      fields_depth: "other",
      price: "7",
    });
  });

  test("bad input is refused, naming the field", async () => {
    for (const [body, path] of [
      [{}, "url"],
      [{ url: "ftp://x" }, "url"],
      [{ url: ["http://127.0.0.2/", "nope"] }, "url[1]"],
      [{ url: "http://ann:pw@127.0.0.2/" }, "url"],
      [{ url: ["http://127.0.0.2/", "http://ann@127.0.0.2/b"] }, "url[1]"],
      [{ url: "http://127.0.0.2/", max_depth: -1 }, "max_depth"],
      [{ url: "http://127.0.0.2/", include: ["/word/"] }, "include[0]"],
      [{ url: "http://127.0.0.2/", fields: { a: { css: "[[" } } }, "fields.a.css"],
      [{ url: "http://127.0.0.2/", depth: 1 }, "depth"],
    ] as const) {
      const answer = await server.api.post("/scraping/async-scrape", body);
      assert.equal(answer.status, 422, JSON.stringify(body));
      assert.equal(answer.json<{ errors: { path: string }[] }>().errors[0]?.path, path);
    }
    const both = await server.api.post("/scraping/async-scrape", { url: "http://127.0.0.2/", depth: 1, max_depth: -1 });
    assert.deepEqual(
      both
        .json<{ errors: { path: string }[] }>()
        .errors.map(({ path }) => path)
        .toSorted(),
      ["depth", "max_depth"],
      "what is unknown and what is wrong, together",
    );
  });
});

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { MisbehavingSite, type Visit } from "../support/misbehaving-site.ts";
import { html, robots, sendTo, status } from "../support/misbehaviours.ts";
import { tagged } from "../support/versioned-pages.ts";
import { TestServer } from "./kit.ts";

const text = (title: string, ...links: string[]) =>
  `<title>${title}</title><p>Words of ${title}.</p>${links.map((link) => `<a href="${link}">go on</a>`)}`;

/** Some with a version, some without. */
const SHOP = {
  "/": html(text("Shop", "/a", "/b", "/c", "/d")),
  "/a": tagged("1", text("A")),
  "/b": html(text("B")),
  "/c": tagged("1", text("C")),
  "/d": html(text("D")),
};

interface Item {
  url: string;
  title: string;
  change?: string;
}

const isConditional = ({ headers }: Visit) => headers["if-none-match"] !== undefined;

describe("a saved crawl that is to tell only what changed", () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());

  const save = async (site: MisbehavingSite, crawl: object = {}) =>
    (
      await server.job({
        kind: "crawl",
        target_url: site.url("/"),
        crawl: { fields: { words: "p" }, retry_attempts: 0, only_changed: true, ...crawl },
      })
    ).id;

  const change = async (job: string, body: object) => {
    const answer = await server.api.call("PATCH", `/jobs/${job}`, body);
    assert.equal(answer.status, 200, answer.text);
  };

  const run = async (site: MisbehavingSite, job: string) => {
    const seen = site.visits.length;
    const { id } = await server.run(job);
    const { items } = (await server.api.get(`/scraping/tasks/${id}/results?limit=1000`)).json<{ items: Item[] }>();
    const view = (await server.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
    const listed = (await server.api.get(`/jobs/runs/${id}/changes?limit=1000`)).json<
      { url: string; change: string }[]
    >();
    const { changes } = (await server.api.get(`/jobs/runs/${id}`)).json<RunView>();
    assert.deepEqual(changes, view.changes, "the same wherever it is read");
    const visits = site.visits.slice(seen).filter(({ path }) => path !== "/robots.txt");
    const pathOf = ({ url }: { url: string }) => new URL(url).pathname;
    return {
      id,
      view,
      visits,
      records: Object.fromEntries(items.map((item) => [pathOf(item), item.change]).toSorted()),
      listed: listed.map((page) => `${page.change} ${pathOf(page)}`).toSorted(),
    };
  };

  test("gives records of new and changed pages, and counts the others", async () => {
    await using site = await MisbehavingSite.start(SHOP);
    const job = await save(site);
    const first = await run(site, job);
    assert.equal(first.view.changes, null, "there is nothing to compare with");
    assert.equal(Object.keys(first.records).length, 5);
    assert.deepEqual(first.listed, []);

    const same = await run(site, job);
    assert.deepEqual(same.records, {});
    assert.deepEqual(same.listed, []);
    assert.deepEqual(same.view.changes, {
      compared_with: first.id,
      new: 0,
      changed: 0,
      unchanged: 5,
      gone: 0,
      unknown: 0,
    });
    assert.equal(same.visits.filter(isConditional).length, 2, "those with a version are asked about it");

    site.on("/", html(text("Shop", "/a", "/b", "/c", "/e")));
    site.on("/a", tagged("2", text("A is dearer")));
    site.on("/b", html(text("B is cheaper")));
    site.on("/c", status(404));
    site.on("/e", html(text("E")));
    const third = await run(site, job);
    assert.deepEqual(third.records, { "/a": "changed", "/b": "changed", "/e": "new" });
    assert.deepEqual(third.listed, ["changed /a", "changed /b", "gone /c", "gone /d", "new /e"]);
    assert.deepEqual(third.view.changes, {
      compared_with: same.id,
      new: 1,
      changed: 2,
      unchanged: 1,
      gone: 2,
      unknown: 0,
    });

    site.on("/c", tagged("1", text("C")));
    const back = await run(site, job);
    assert.deepEqual(back.records, { "/c": "new" }, "what was gone and is there again is new");
  });

  test("an export of any run of a saved crawl can be limited to what is new or changed", async () => {
    await using site = await MisbehavingSite.start(SHOP);
    const job = await save(site, { only_changed: false });
    const exported = async (id: string, query: string) => server.api.get(`/jobs/runs/${id}/results?${query}`);
    const lines = async (id: string) => {
      const answer = await exported(id, "format=jsonl&only_changed=true");
      assert.equal(answer.status, 200, answer.text);
      const rows = answer.text.split("\n").filter((line) => line !== "");
      return Object.fromEntries(
        rows
          .map((line) => JSON.parse(line) as { data: Item })
          .map(({ data }) => [new URL(data.url).pathname, data.change])
          .toSorted(),
      );
    };
    const first = await run(site, job);
    assert.equal(Object.keys(await lines(first.id)).length, 5, "a first run has nothing to compare with: all of it");
    site.on("/a", tagged("2", text("A is dearer")));
    site.on("/", html(text("Shop", "/a", "/b", "/c", "/d", "/e")));
    site.on("/e", html(text("E")));
    const next = await run(site, job);
    assert.equal(Object.keys(next.records).length, 6, "the run itself has all records");
    assert.deepEqual(await lines(next.id), { "/a": "changed", "/e": "new" });
    const table = await exported(next.id, "format=csv&only_changed=true");
    assert.deepEqual(table.text.trim().split("\n").length, 3, table.text);
    const ofCrawl = await server.api.get(`/scraping/tasks/${next.id}/results?format=jsonl&only_changed=true`);
    assert.equal(ofCrawl.text.trim().split("\n").length, 2);
    const list = await exported(next.id, "only_changed=true");
    assert.deepEqual([list.status, /only_changed/.test(list.text)], [422, true], list.text);
    const archive = await exported(next.id, "format=warc&only_changed=true");
    assert.equal(archive.status, 422, archive.text);
    const plain = (await server.api.post("/scraping/async-scrape", { url: site.url("/b"), max_depth: 0 })).json<{
      crawl_id: string;
    }>();
    await server.ended(plain.crawl_id);
    const refused = await exported(plain.crawl_id, "format=jsonl&only_changed=true");
    assert.deepEqual([refused.status, /saved crawls/.test(refused.text)], [422, true], refused.text);
  });

  test("a page that failed, or that robots.txt closes, is not called gone", async () => {
    await using site = await MisbehavingSite.start(SHOP);
    const job = await save(site);
    await run(site, job);
    site.on("/a", status(500));
    const broken = await run(site, job);
    assert.deepEqual([broken.view.status, broken.listed], ["partial", []]);
    assert.deepEqual([broken.view.changes?.unchanged, broken.view.changes?.unknown], [4, 1]);
    site.on("/a", tagged("1", text("A")));
    const mended = await run(site, job);
    assert.deepEqual([mended.records, mended.view.changes?.unchanged], [{}, 5], "compared with what was known of it");
  });

  test("a page that is reached through a redirect one time and directly the next is the same page", async () => {
    await using site = await MisbehavingSite.start({
      "/": html(text("Shop", "/old")),
      "/old": sendTo("/now"),
      "/now": html(text("Now")),
    });
    const job = await save(site);
    await run(site, job);
    site.on("/", html(text("Shop", "/now", "/old")));
    const again = await run(site, job);
    assert.deepEqual([again.records, again.listed], [{}, []]);
    assert.deepEqual([again.view.changes?.unchanged, again.view.changes?.unknown], [2, 0]);
  });

  test("a crawl that was cut short calls nothing gone that it did not come to", async () => {
    await using site = await MisbehavingSite.start(SHOP);
    const job = await save(site);
    await run(site, job);
    await change(job, { crawl: { max_pages: 2 } });
    const cut = await run(site, job);
    assert.deepEqual([cut.listed, cut.view.changes?.gone, cut.view.changes?.unknown], [[], 0, 3]);
  });

  test("a crawl that may go less far than the one before calls nothing gone that it cannot reach", async () => {
    await using site = await MisbehavingSite.start(SHOP);
    const job = await save(site);
    await run(site, job);
    await change(job, { crawl: { exclude: ["/c", "/d"] } });
    const less = await run(site, job);
    assert.deepEqual([less.listed, less.view.changes?.unknown], [[], 2]);
    const again = await run(site, job);
    assert.deepEqual([again.listed, again.view.changes?.unknown], [[], 2], "nor the run after that");
  });

  test("pages that have moved deeper than the crawl may go are not called gone", async () => {
    await using site = await MisbehavingSite.start({
      "/": html(text("Blog", "/post-1", "/older")),
      "/older": html(text("Older")),
      "/post-1": html(text("One")),
    });
    const job = await save(site, { max_depth: 1 });
    await run(site, job);
    site.on("/", html(text("Blog", "/post-2", "/older")));
    site.on("/post-2", html(text("Two")));
    site.on("/older", html(text("Older", "/post-1")));
    const again = await run(site, job);
    assert.equal(again.view.end_reason, "limit_depth");
    assert.deepEqual([again.listed, again.view.changes?.unknown], [["new /post-2"], 1]);
  });

  test("entries that a feed has no longer are not called gone", async () => {
    await using site = await MisbehavingSite.start({ "/a": html(text("A")), "/b": html(text("B")) });
    const feed = (...paths: string[]) => {
      const items = paths.map((path) => `<item><link>${site.url(path)}</link></item>`).join("");
      site.on(
        "/feed",
        (_visit, response) =>
          void response
            .writeHead(200, { "content-type": "application/rss+xml" })
            .end(`<rss><channel>${items}</channel></rss>`),
      );
    };
    feed("/a", "/b");
    const { id: job } = await server.job({
      kind: "crawl",
      target_url: site.url("/feed"),
      crawl: { only_changed: true, max_depth: 0, fields: { words: "p" } },
    });
    await run(site, job);
    feed("/b");
    const again = await run(site, job);
    assert.deepEqual([again.listed, again.view.changes?.unknown], [[], 1]);
  });

  test("without only_changed all records are there, and the changes are told all the same", async () => {
    await using site = await MisbehavingSite.start(SHOP);
    const job = await save(site, { only_changed: false });
    await run(site, job);
    site.on("/b", html(text("B is cheaper")));
    const again = await run(site, job);
    assert.deepEqual(Object.keys(again.records).length, 5);
    assert.deepEqual(again.listed, ["changed /b"]);
  });

  test("turned off again, it has all records", async () => {
    await using site = await MisbehavingSite.start(SHOP);
    const job = await save(site);
    await run(site, job);
    await run(site, job);
    await change(job, { crawl: { only_changed: false } });
    assert.equal(Object.keys((await run(site, job)).records).length, 5);
    assert.equal(Object.keys((await run(site, job)).records).length, 5, "also of those that are only asked about");
  });

  test("robots.txt that closes a page says nothing of whether it is there [slow]", async () => {
    await using site = await MisbehavingSite.start({
      ...SHOP,
      "/d": html(text("D", "/behind-d")),
      "/behind-d": html(text("Behind D")),
    });
    const job = await save(site, { respect_robots: true });
    await run(site, job);
    site.on("/robots.txt", robots("User-agent: *\nDisallow: /d"));
    await server.stop();
    assert.ok(server.config.database.kind === "sqlite");
    const db = new DatabaseSync(server.config.database.path);
    db.exec("DELETE FROM robots");
    db.close();
    await server.start();
    const closed = await run(site, job);
    assert.deepEqual([closed.listed, closed.view.changes?.unknown], [[], 1], "nor of what is behind it");
  });

  test("the pages of a long list of changes come one page after the other", async () => {
    const many = Array.from({ length: 30 }, (_, n) => `/p${n}`);
    await using site = await MisbehavingSite.start({ "/": html(text("Shop")) });
    const job = await save(site);
    await run(site, job);
    site.on("/", html(text("Shop", ...many)));
    for (const path of many) site.on(path, html(text(path)));
    const { id } = await run(site, job);
    const seen: string[] = [];
    for (let path: string | null = `/jobs/runs/${id}/changes?limit=7&change=new`; path !== null;) {
      const answer = await server.api.get(path);
      seen.push(...answer.json<{ url: string }[]>().map(({ url }) => new URL(url).pathname));
      path = /<([^>]+)>; rel="next"/.exec(String(answer.headers["link"] ?? ""))?.[1] ?? null;
    }
    assert.deepEqual(seen.toSorted(), many.toSorted());
    const none = await server.api.get(`/jobs/runs/${id}/changes?change=gone`);
    assert.deepEqual(none.json(), []);
  });

  test("a crawl that is not saved is refused: it has no run before", async () => {
    const answer = await server.api.post("/scraping/async-scrape", { url: "http://127.0.0.1:9/", only_changed: true });
    assert.equal(answer.status, 422);
    assert.match(answer.text, /only_changed.*save it as a job/);
  });
});

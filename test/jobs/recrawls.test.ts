import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { without } from "../../src/base/without.ts";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { TaskView } from "../../src/orchestrator/runs/view.ts";
import { MisbehavingSite, type Visit } from "../support/misbehaving-site.ts";
import { html, robots, sendTo, status } from "../support/misbehaviours.ts";
import { dated, tagged } from "../support/versioned-pages.ts";
import { TestServer } from "./kit.ts";

const text = (title: string, ...links: string[]) =>
  `<title>${title}</title><p>Words of ${title}.</p>${links.map((link) => `<a href="${link}">go on</a>`)}`;

const MORNING = "Sun, 15 Nov 2026 06:00:00 GMT";
const NOON = "Sun, 15 Nov 2026 12:00:00 GMT";

/** Four levels; half of the pages have a version, the other half a date. */
const LEVELS = {
  "/": tagged("1", text("Start", "/a", "/b")),
  "/a": dated(MORNING, text("A", "/", "/a/1")),
  "/b": tagged("b1", text("B", "/b/1")),
  "/a/1": tagged("a1", text("A1", "/a/2")),
  "/b/1": dated(MORNING, text("B1")),
  "/a/2": dated(MORNING, text("A2", "/a/3")),
  "/a/3": tagged("a3", text("A3")),
};

interface Item {
  url: string;
  depth: number;
  title: string;
  fields: { words: string };
  unchanged?: boolean;
  duplicate_of?: string;
}

const isConditional = ({ headers }: Visit) =>
  headers["if-none-match"] !== undefined || headers["if-modified-since"] !== undefined;

describe("a saved crawl that runs again", () => {
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
        crawl: { max_depth: 3, fields: { words: "p" }, ...crawl },
      })
    ).id;

  /** One run to its end: what it gave, and what the site was asked. */
  const run = async (site: MisbehavingSite, job: string) => {
    const seen = site.visits.length;
    const { id, status: end } = await server.run(job);
    const { items } = (await server.api.get(`/scraping/tasks/${id}/results?limit=1000`)).json<{ items: Item[] }>();
    const view = (await server.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
    const tasks = (await server.api.get(`/jobs/runs/${id}/tasks?limit=1000`)).json<TaskView[]>();
    const visits = site.visits.slice(seen).filter(({ path }) => path !== "/robots.txt");
    return { id, end, view, tasks, visits, items: items.toSorted((a, b) => a.url.localeCompare(b.url)) };
  };
  const plain = (items: readonly Item[]) => items.map((item) => without(item, "unchanged"));
  const titles = (items: readonly Item[]) => items.map(({ title }) => title).toSorted();

  test("asks only whether pages have changed, and has the same in the end, on every level", async () => {
    await using site = await MisbehavingSite.start(LEVELS);
    const job = await save(site);
    const first = await run(site, job);
    assert.deepEqual([first.end, first.view.unchanged_items], ["completed", 0]);
    assert.deepEqual(titles(first.items), ["A", "A1", "A2", "B", "B1", "Start"]);
    assert.ok(first.visits.every((visit) => !isConditional(visit)));
    for (const again of [await run(site, job), await run(site, job)]) {
      assert.deepEqual([again.end, again.view.completed_items, again.view.unchanged_items], ["completed", 6, 6]);
      assert.equal(again.view.end_reason, first.view.end_reason);
      assert.ok(again.visits.length === 6 && again.visits.every(isConditional));
      assert.deepEqual(plain(again.items), first.items);
      assert.ok(again.items.every(({ unchanged }) => unchanged === true));
      for (const { detail, attempts } of again.tasks)
        assert.deepEqual([detail, attempts[0]?.http_status], [{ unchanged: true }, 304]);
    }
  });

  test("loads what has changed, and follows what is new there", async () => {
    await using site = await MisbehavingSite.start(LEVELS);
    const job = await save(site);
    await run(site, job);
    site.on("/b", tagged("b2", text("B is new", "/b/1", "/b/2")));
    site.on("/a/2", dated(NOON, text("A2 is new")));
    site.on("/b/2", html(text("B2")));
    const again = await run(site, job);
    const fresh = again.items.filter(({ unchanged }) => unchanged !== true);
    assert.deepEqual(titles(fresh), ["A2 is new", "B is new", "B2"]);
    assert.deepEqual(titles(again.items), ["A1", "A", "A2 is new", "B1", "B is new", "B2", "Start"].toSorted());
    assert.equal(again.view.unchanged_items, 4);
    const third = await run(site, job);
    assert.equal(third.view.unchanged_items, 7, "also the one without a version, which says the same");
    assert.deepEqual(plain(third.items), plain(again.items));
  });

  test("loads everything when something else is to be read from the pages, and then asks again", async () => {
    await using site = await MisbehavingSite.start(LEVELS);
    const job = await save(site);
    await run(site, job);
    await server.api.call("PATCH", `/jobs/${job}`, { crawl: { fields: { words: "title" } } });
    const changed = await run(site, job);
    assert.ok(changed.visits.every((visit) => !isConditional(visit)));
    assert.equal(changed.items[0]?.fields.words, changed.items[0]?.title);
    assert.equal((await run(site, job)).view.unchanged_items, 6);
    for (const wish of [{ stay_within: "path" }, { document: { formats: ["links"] } }]) {
      await server.api.call("PATCH", `/jobs/${job}`, { crawl: wish });
      const { visits } = await run(site, job);
      assert.ok(visits.length > 0 && visits.every((visit) => !isConditional(visit)), JSON.stringify(wish));
    }
  });

  test("finds its way deeper through pages that it does not load", async () => {
    await using site = await MisbehavingSite.start(LEVELS);
    const job = await save(site, { max_depth: 1 });
    assert.deepEqual(titles((await run(site, job)).items), ["A", "B", "Start"]);
    await server.api.call("PATCH", `/jobs/${job}`, { crawl: { max_depth: 9 } });
    const deeper = await run(site, job);
    assert.deepEqual(titles(deeper.items), ["A", "A1", "A2", "A3", "B", "B1", "Start"]);
    assert.equal(deeper.view.unchanged_items, 3);
    await server.api.call("PATCH", `/jobs/${job}`, { crawl: { exclude: ["/a/**"] } });
    assert.deepEqual(titles((await run(site, job)).items), ["B", "B1", "Start"]);
  });

  test("a page that moved is not mistaken for another one with the same version", async () => {
    await using site = await MisbehavingSite.start({
      "/": tagged("1", text("Start", "/moved", "/here")),
      "/moved": sendTo("/target"),
      "/target": tagged("1", text("Target")),
      "/other": tagged("1", text("Other")),
      "/here": tagged("1", text("Here")),
    });
    const job = await save(site);
    assert.deepEqual(titles((await run(site, job)).items), ["Here", "Start", "Target"]);
    const same = await run(site, job);
    assert.equal(same.view.unchanged_items, 3, "redirects are followed, and the end of them is asked");
    const moved = same.tasks.find(({ url }) => url === site.url("/moved"));
    assert.deepEqual(moved?.detail, {
      unchanged: true,
      final_url: site.url("/target"),
      redirects: [site.url("/moved")],
    });
    site.on("/moved", sendTo("/other"));
    site.on("/here", sendTo("/other"));
    const again = await run(site, job);
    assert.deepEqual(titles(again.items), ["Other", "Start"], "one page is not there twice");
    assert.equal(again.view.unchanged_items, 1);
  });

  test("a page that lives on another site is asked about there, and its version shown to nobody else", async () => {
    await using other = await MisbehavingSite.start({ "/page": tagged("o1", text("Elsewhere")) }, "127.0.0.2");
    await using site = await MisbehavingSite.start({
      "/": tagged("1", text("Start", "/go")),
      "/go": sendTo(other.url("/page")),
    });
    const job = await save(site, { same_site: false });
    assert.deepEqual(titles((await run(site, job)).items), ["Elsewhere", "Start"]);
    const again = await run(site, job);
    assert.deepEqual([titles(again.items), again.view.unchanged_items], [["Elsewhere", "Start"], 2]);
    assert.deepEqual(other.of("/page").map(isConditional), [false, true]);
    assert.ok(site.of("/go").every((visit) => !isConditional(visit)));
  });

  test("a page stands where it is found now, and names only pages of its own run as its like", async () => {
    const twin = "<title>Twins</title><p>The very same words.</p>";
    await using site = await MisbehavingSite.start({
      "/": tagged("1", text("Start", "/near", "/twin/1")),
      "/near": tagged("1", text("Near", "/far")),
      "/far": tagged("1", text("Far", "/twin/2")),
      "/twin/1": tagged("1", twin),
      "/twin/2": tagged("1", twin),
    });
    const job = await save(site);
    const likeOf = ({ items }: { items: Item[] }) =>
      Object.fromEntries(items.map((item) => [item.url, item.duplicate_of]))[site.url("/twin/2")];
    assert.equal(likeOf(await run(site, job)), site.url("/twin/1"));
    assert.equal(likeOf(await run(site, job)), site.url("/twin/1"));
    site.on("/", tagged("2", text("Start", "/far", "/twin/1")));
    site.on("/twin/1", tagged("2", text("No twin any more")));
    const again = await run(site, job);
    assert.equal(again.view.unchanged_items, 3, "the start has other links, and says the same");
    assert.equal(likeOf(again), undefined);
    const depths = Object.fromEntries(again.items.map(({ title, depth }) => [title, depth]));
    assert.deepEqual(depths, { Start: 0, Far: 1, "No twin any more": 1, Twins: 2 });
  });

  test("numbered pages that only lead to each other are no trap the second time, either [slow]", async () => {
    const count = 1200;
    await using site = await MisbehavingSite.start({});
    for (let n = 0; n < count; n += 1)
      site.on(`/item/${n}`, tagged("1", text(`Item ${n}`, ...[1, 7, 50].map((by) => `/item/${(n + by) % count}`))));
    const crawl = { url: site.url("/item/0"), max_depth: 1000, max_pages: 5000, fields: { words: "p" } };
    const { id: job } = await server.job({ kind: "crawl", crawl });
    for (const unchanged of [0, count]) {
      const { view } = await run(site, job);
      assert.deepEqual([view.completed_items, view.unchanged_items, view.end_reason], [count, unchanged, "exhausted"]);
    }
  });

  test("what robots.txt forbids by now is not asked for, and nofollow holds for what was remembered", async () => {
    await using site = await MisbehavingSite.start(LEVELS);
    const job = await save(site, { respect_robots: false });
    await run(site, job);
    site.on("/robots.txt", robots("User-agent: *\nDisallow: /b\n"));
    await server.api.call("PATCH", `/jobs/${job}`, { crawl: { respect_robots: true } });
    const asked = site.count("/b");
    const again = await run(site, job);
    assert.deepEqual([titles(again.items), site.count("/b") - asked], [["A", "A1", "A2", "Start"], 0]);
    site.on("/a", (_, response) => void response.writeHead(304, { "x-robots-tag": "nofollow" }).end());
    assert.deepEqual(titles((await run(site, job)).items), ["A", "Start"]);
  });

  test("records that are gone are got again [slow]", async () => {
    await using site = await MisbehavingSite.start(LEVELS);
    const job = await save(site);
    const first = await run(site, job);
    await server.stop();
    assert.ok(server.config.database.kind === "sqlite");
    const db = new DatabaseSync(server.config.database.path);
    db.prepare("DELETE FROM results WHERE run = (SELECT n FROM runs WHERE id = ?)").run(first.id);
    db.close();
    await server.start();
    const again = await run(site, job);
    assert.deepEqual([again.view.unchanged_items, again.items], [6, first.items]);
  });

  test("nobody else asks conditionally, and a 304 that nobody asked for is no page", async () => {
    await using site = await MisbehavingSite.start({ ...LEVELS, "/b": status(304) });
    for (let time = 0; time < 2; time += 1) {
      const answer = await server.api.post("/scraping/async-scrape", { url: site.url("/"), retry_attempts: 0 });
      const id = answer.json<{ task_id: string }>().task_id;
      assert.equal((await server.ended(id)).status, "partial");
      const { errors } = (await server.api.get(`/scraping/tasks/${id}/results?include_errors=true`)).json<{
        errors: { url: string; failure_reason: string }[];
      }>();
      assert.deepEqual(
        errors.map(({ url, failure_reason: why }) => [url, why]),
        [[site.url("/b"), "http_unexpected"]],
      );
    }
    assert.ok(site.visits.every((visit) => !isConditional(visit)));
  });
});

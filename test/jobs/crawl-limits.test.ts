import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { hang, held, html, robots, sendTo, status } from "../support/misbehaviours.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";

const page = (title: string, ...links: string[]) =>
  html(`<title>${title}</title><p>${title}</p>${links.map((link) => `<a href="${link}">x</a>`).join(" ")}`);
const FIELDS = { fields: { p: "p" } };
const paths = (count: number, folder: string) => Array.from({ length: count }, (_, n) => `/${folder}/${n}`);

describe("the page limit of a crawl", () => {
  let server: TestServer;
  let crawler: Crawler;
  before(async () => {
    server = await TestServer.open();
    crawler = new Crawler(server);
  });
  after(() => server[Symbol.asyncDispose]());

  test("is not used up by pages that may not be fetched, nor by redirects to known pages", async () => {
    const [hidden, moved, good] = [paths(20, "private"), paths(5, "moved"), paths(12, "good")];
    await using site = await MisbehavingSite.start({
      "/robots.txt": robots("User-agent: *\nDisallow: /private\n"),
      "/": page("Start", ...hidden, ...moved, ...good),
    });
    for (const path of good) site.on(path, page(path));
    for (const path of moved) site.on(path, sendTo("/"));
    const { view, items } = await crawler.crawl({ url: site.url("/"), max_pages: 10, ...FIELDS });
    assert.deepEqual([view.status, view.end_reason], ["completed", "limit_pages"]);
    assert.deepEqual([items.length, view.completed_items, view.failed_items, view.skipped_items], [10, 10, 20, 5]);
    const { queued_items: queued, running_items: running, cancelled_items: left } = view;
    const parts = view.completed_items + view.failed_items + view.skipped_items + queued + running + left;
    assert.equal(parts, view.total_items, "the counts add up");
    assert.equal(view.total_items, 35, "the limit, and what does not count");
    const fetched = site.visits.filter(({ path }) => path.startsWith("/good/"));
    assert.equal(fetched.length, 9, "nothing is fetched beyond it");
  });

  test("counts pages that failed, over several sites", async () => {
    await using far = await MisbehavingSite.start({ "/": page("Far") }, "127.0.0.2");
    await using site = await MisbehavingSite.start({ "/": page("Start", ...paths(9, "gone"), far.url("/")) });
    for (const path of paths(9, "gone")) site.on(path, status(404));
    const { view } = await crawler.crawl({ url: site.url("/"), max_pages: 4, same_site: false, ...FIELDS });
    assert.deepEqual(
      [view.status, view.end_reason, view.completed_items + view.failed_items, view.total_items],
      ["completed", "limit_pages", 4, 4],
    );
  });

  test("holds for the starts as well, and the end says so", async () => {
    await using site = await MisbehavingSite.start({});
    for (const path of paths(5, "start")) site.on(path, page(path));
    const url = paths(5, "start").map((path) => site.url(path));
    const { view, items } = await crawler.crawl({ url, max_pages: 3, ...FIELDS });
    assert.deepEqual(
      [view.status, view.end_reason, view.total_items, items.length],
      ["completed", "limit_pages", 3, 3],
    );
    const all = await crawler.crawl({ url, max_pages: 5, ...FIELDS });
    assert.deepEqual([all.view.end_reason, all.items.length], ["exhausted", 5]);
  });
});

// Each waits for its own time to be over, which is long enough for the other pages on a busy machine: they wait together.
describe("a crawl that ran out of time [slow]", { concurrency: 3 }, () => {
  let server: TestServer;
  let crawler: Crawler;
  before(async () => {
    server = await TestServer.open();
    crawler = new Crawler(server);
  });
  after(() => server[Symbol.asyncDispose]());

  const retry = (id: string, body: object = {}) => server.api.post(`/jobs/runs/${id}/retry-failed`, body);

  /** One page of three is got, one fails, and one hangs until the time is over. */
  async function cutOff(site: MisbehavingSite) {
    site.on("/", page("Start", "/broken", "/hangs"));
    site.on("/broken", status(500));
    site.on("/hangs", hang);
    const body = { url: site.url("/"), timeout_minutes: 0.2, retry_attempts: 0, ...FIELDS };
    const { id, view } = await crawler.crawl(body);
    assert.deepEqual([view.status, view.end_reason], ["partial", "limit_time"]);
    site.on("/hangs", page("Late"));
    return { id, view };
  }

  test("goes on with what was left when what failed is tried again [slow]", async () => {
    await using site = await MisbehavingSite.start({});
    const { id } = await cutOff(site);
    site.on("/broken", page("Mended"));
    assert.equal((await retry(id)).status, 200);
    const { view, items } = await crawler.ended(id);
    assert.deepEqual([view.status, view.end_reason, items.length], ["completed", "exhausted", 3]);
  });

  test("goes on although nothing had failed [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Start", "/hangs"), "/hangs": hang });
    const body = { url: site.url("/"), timeout_minutes: 0.2, ...FIELDS };
    const { id, view: first } = await crawler.crawl(body);
    assert.deepEqual([first.end_reason, first.failed_items], ["limit_time", 0]);
    const none = await retry(id, { failure_code: "timeout" });
    assert.equal(none.status, 409, "only what failed can be chosen from");
    site.on("/hangs", page("Late"));
    assert.equal((await retry(id)).status, 200);
    const { view, items } = await crawler.ended(id);
    assert.deepEqual([view.status, view.end_reason, items.length], ["completed", "exhausted", 2]);
    assert.equal((await retry(id)).status, 409, "now nothing is left");
  });

  test("is still out of time when only a part of what failed is tried again [slow]", async () => {
    await using site = await MisbehavingSite.start({});
    const { id } = await cutOff(site);
    site.on("/broken", page("Mended"));
    assert.equal((await retry(id, { failure_reason: "http_server_error" })).status, 200);
    const { view, items } = await crawler.ended(id);
    assert.deepEqual([view.status, view.end_reason, items.length], ["partial", "limit_time", 2]);
    assert.equal(site.count("/hangs"), 1);
    assert.equal((await retry(id)).status, 200);
    assert.deepEqual((await crawler.ended(id)).view.end_reason, "exhausted");
  });
});

describe("crawls of which only one may run [slow]", () => {
  let server: TestServer;
  let crawler: Crawler;
  before(async () => {
    server = await TestServer.open({ APP_MAX_CONCURRENT_TASKS: "1" });
    crawler = new Crawler(server);
  });
  after(() => server[Symbol.asyncDispose]());

  const act = async (id: string, action: string) => {
    const answer = await server.api.post(`/jobs/runs/${id}/${action}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json<RunView>().status;
  };

  test("wait their turn when they are resumed or what failed of them is tried again [slow]", async () => {
    const isPaused = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({
      "/paused": held(isPaused.promise, page("Paused", "/next")),
      "/next": page("Next"),
      "/failed": status(500),
      "/long": page("Long", "/hangs"),
      "/hangs": hang,
    });
    const begin = (path: string) => crawler.submit({ url: site.url(path), retry_attempts: 0, ...FIELDS });
    const paused = await begin("/paused");
    await site.visited("/paused");
    await act(paused, "pause");
    isPaused.resolve();
    const failed = await begin("/failed");
    assert.equal((await crawler.ended(failed)).view.status, "failed");
    const long = await begin("/long");
    await site.visited("/hangs");
    assert.deepEqual([await act(paused, "resume"), await act(failed, "retry-failed")], ["queued", "queued"]);
    assert.equal(await act(paused, "resume"), "queued", "twice is no mistake");
    for (const id of [paused, failed]) assert.equal((await crawler.view(id)).status, "pending");
    assert.equal(site.count("/failed"), 1);
    site.on("/failed", page("Mended"));
    await act(long, "cancel");
    assert.deepEqual((await crawler.ended(paused)).view.completed_items, 2);
    assert.equal((await crawler.ended(failed)).view.status, "completed");
  });

  test("can be paused while they wait, and begin when they are resumed and it is their turn [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/long": hang, "/waits": page("Waits"), "/last": page("Last") });
    const [long, waits] = [
      await crawler.submit({ url: site.url("/long") }),
      await crawler.submit({ url: site.url("/waits") }),
    ];
    await site.visited("/long");
    assert.equal(await act(waits, "pause"), "paused");
    await act(long, "cancel");
    assert.equal((await crawler.crawl({ url: site.url("/last") })).view.status, "completed");
    assert.deepEqual([(await crawler.view(waits)).status, site.count("/waits")], ["paused", 0]);
    assert.equal(await act(waits, "resume"), "running", "there is room");
    assert.equal((await crawler.ended(waits)).view.status, "completed");
  });
});

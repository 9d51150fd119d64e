import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { hang, html, slow } from "../support/misbehaviours.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";

const page = (title: string, ...links: string[]) =>
  html(`<title>${title}</title><p>${title}</p>${links.map((link) => `<a href="${link}">x</a>`).join(" ")}`);

/** A start that leads to so many pages, each of which takes so long. */
async function slowSite(count: number, ms: number): Promise<MisbehavingSite> {
  const paths = Array.from({ length: count }, (_, n) => `/p/${n}`);
  const site = await MisbehavingSite.start({ "/": page("Start", ...paths) });
  for (const path of paths) site.on(path, slow(ms, page(`Page ${path}`)));
  return site;
}

/** Long enough for some pages on a busy machine. */
const TEN_SECONDS = { timeout_minutes: 10 / 60, fields: { p: "p" } };

// Each waits for its own time to be over: they wait together.
describe("a crawl whose time is over", { concurrency: 6 }, () => {
  let server: TestServer;
  let crawler: Crawler;
  before(async () => {
    server = await TestServer.open();
    crawler = new Crawler(server);
  });
  after(() => server[Symbol.asyncDispose]());

  test("has every page that was finished, asks the site for nothing after its end, and says that it is partial [slow]", async () => {
    await using site = await slowSite(300, 400);
    const { view, items } = await crawler.crawl({ ...TEN_SECONDS, url: site.url("/"), max_concurrent_articles: 3 });
    assert.deepEqual([view.status, view.end_reason, view.progress], ["partial", "limit_time", 100]);
    assert.ok(items.length >= 1, "what was done is there");
    assert.equal(view.completed_items, items.length);
    await site.when(() => site.open === 0, "nothing is under way");
    const asked = site.visits.length;
    const finished = Date.parse(view.finished_at ?? "");
    const late = site.visits.filter(({ at }) => at > finished);
    assert.deepEqual(
      late.map(({ path }) => path),
      [],
      "nothing is asked for after the end",
    );
    // Whatever else this process does meanwhile, the ended crawl has no part in it.
    await using other = await MisbehavingSite.start({ "/": page("Other") });
    await crawler.crawl({ url: other.url("/") });
    assert.equal(site.visits.length, asked);
    assert.equal((await crawler.results(view.task_id)).items.length, items.length, "nothing is written after the end");
  });

  test("begins no page that would not be done in time [slow]", async () => {
    await using site = await slowSite(300, 400);
    const { view } = await crawler.crawl({ ...TEN_SECONDS, url: site.url("/"), max_concurrent_articles: 2 });
    assert.equal(view.end_reason, "limit_time");
    // Of two at a time, those that a machine which stood still did not get through in time.
    const cut = site.visits.filter(
      ({ path, at, endedAt }) => path.startsWith("/p/") && (endedAt ?? Infinity) - at < 350,
    );
    const end = Date.parse(view.finished_at ?? "");
    // Before a few pages are done, nobody knows how long one takes.
    const doneBefore = (time: number) => site.visits.filter(({ endedAt }) => (endedAt ?? Infinity) < time).length;
    const known = cut.filter(({ at }) => doneBefore(at - 400) > 10);
    assert.deepEqual(
      known.filter(({ at }) => end - at < 400).map(({ path, at }) => `${path} ${end - at} ms before the end`),
      [],
      "nothing was begun that had to be cut off",
    );
  });

  test("is failed when a part is not enough, and what it has can be read all the same [slow]", async () => {
    await using site = await slowSite(300, 400);
    const body = { ...TEN_SECONDS, url: site.url("/"), max_concurrent_articles: 2, partial_results_ok: false };
    const { view, items } = await crawler.crawl(body);
    assert.deepEqual([view.status, view.end_reason], ["failed", "limit_time"]);
    assert.ok(items.length > 0);
  });

  test("cuts off what hangs, without calling that a failure of the page [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Start", "/hangs"), "/hangs": hang });
    const { view, errors } = await crawler.crawl({ ...TEN_SECONDS, url: site.url("/") });
    assert.deepEqual([view.status, view.end_reason, view.failed_items, errors], ["partial", "limit_time", 0, []]);
    await site.when(() => site.open === 0, "the request was let go");
  });

  test("is completed when it was done before", async () => {
    await using site = await slowSite(5, 20);
    const { view } = await crawler.crawl({ ...TEN_SECONDS, timeout_minutes: 10, url: site.url("/") });
    assert.deepEqual([view.status, view.end_reason, view.completed_items], ["completed", "exhausted", 6]);
  });

  test("does not lose time while it is paused [slow]", async () => {
    await using site = await slowSite(12, 250);
    const body = { url: site.url("/"), max_concurrent_articles: 1, timeout_minutes: 10, fields: { p: "p" } };
    const id = await crawler.submit(body);
    await site.visited("/p/1");
    assert.equal((await server.api.post(`/jobs/runs/${id}/pause`)).status, 200);
    await site.when(() => site.open === 0, "nothing is under way");
    const before = await crawler.view(id);
    await using other = await slowSite(8, 250);
    await crawler.crawl({ ...body, url: other.url("/") });
    const still = await crawler.view(id);
    assert.equal(still.duration_seconds, before.duration_seconds, "a pause is no running time");
    assert.equal((await server.api.post(`/jobs/runs/${id}/resume`)).status, 200);
    const { view } = await crawler.ended(id);
    assert.deepEqual([view.status, view.end_reason, view.completed_items], ["completed", "exhausted", 13]);
  });
});

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { CrawlDetail } from "../../src/orchestrator/crawls/view.ts";
import type { SiteView } from "../../src/orchestrator/sites/site-view.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, status } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

const TRIES = 3;

const list = (paths: readonly string[]) =>
  html(`<!doctype html><title>A list</title>${paths.map((path) => `<a href="${path}">${path}</a>`).join(" ")}`);

describe("broken pages of a site that is up", () => {
  let server: TestServer;
  // As configured for everybody: only waits between tries are short.
  before(async () => {
    server = await TestServer.open({ APP_BREAKER_FAILURES: "5", APP_BREAKER_COOLDOWN_SECONDS: "300" });
  });
  after(async () => server[Symbol.asyncDispose]());

  /** A crawl of a list and its pages, of which some always fail. */
  async function crawl(paths: readonly string[], broken: ReadonlySet<string>) {
    await using site = await MisbehavingSite.start({ "/": list(paths) });
    for (const path of paths)
      site.on(path, broken.has(path) ? status(500) : html(`<title>${path}</title><p>${path}</p>`));
    const answer = await server.api.post("/scraping/async-scrape", {
      url: site.url("/"),
      strategy: "http",
      retry_attempts: TRIES - 1,
    });
    const { task_id: id } = answer.json<{ task_id: string }>();
    const { status: end } = await server.ended(id);
    const { completed_items: done } = (await server.api.get(`/scraping/tasks/${id}/status`)).json<CrawlDetail>();
    const opened = (await server.events(id)).filter(({ message }) => message.startsWith("Circuit opened"));
    const shown = (await server.api.get(`/sites/${encodeURIComponent(site.name)}`)).json<SiteView>();
    return { end, done, opened, state: shown.breaker.state, tries: [...broken].map((path) => site.count(path)) };
  }

  test("two of twenty-three keep the crawl waiting for their own tries alone [slow]", async () => {
    const paths = Array.from({ length: 22 }, (_, n) => `/p/${n}`);
    const { end, done, opened, tries } = await crawl(paths, new Set(["/p/4", "/p/15"]));
    assert.deepEqual([end, done], ["partial", 21]);
    assert.deepEqual([opened, tries], [[], [TRIES, TRIES]]);
  });

  test("a chapter of them at the end of many good ones does not close the site", async () => {
    const paths = Array.from({ length: 40 }, (_, n) => `/p/${n}`);
    const { end, done, opened, state } = await crawl(paths, new Set(paths.slice(30)));
    assert.deepEqual([end, done, opened, state], ["partial", 31, [], "closed"]);
  });

  test("one that is asked for again and again by jobs of its own does not close the site to others", async () => {
    await using site = await MisbehavingSite.start({ "/broken": status(500), "/": html("<title>Up</title><p>Up</p>") });
    for (let n = 0; n < 8; n += 1)
      await server.run({ target_url: site.url("/broken"), strategy: "http", max_attempts: 2 });
    const run = await server.run({ target_url: site.url("/"), strategy: "http" });
    assert.equal(run.status, "completed");
    assert.deepEqual(await server.events(run.id).then((list) => list.filter(({ level }) => level === "warn")), []);
  });
});

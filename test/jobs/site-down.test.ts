import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { AlertView } from "../../src/orchestrator/alerts.ts";
import type { SiteView } from "../../src/orchestrator/sites/site-view.ts";
import { until } from "../chaos/orb.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, status } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

const PAGES = Array.from({ length: 6 }, (_, n) => `/p/${n}`);

/** The address of a server that is gone: nobody listens there. */
async function goneSite(): Promise<{ name: string; url: (path: string) => string }> {
  await using site = await MisbehavingSite.start({});
  const { name, origin } = site;
  return { name, url: (path) => `${origin}${path}` };
}

describe("a site that is down, robots.txt included", () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open({ APP_BREAKER_FAILURES: "5", APP_BREAKER_COOLDOWN_SECONDS: "300" });
  });
  after(async () => server[Symbol.asyncDispose]());

  const breakerOf = async (name: string) =>
    (await server.api.get(`/sites/${encodeURIComponent(name)}`)).json<SiteView>().breaker;

  const blocked = async () =>
    (await server.api.get("/scraping/status"))
      .json<{ blocked_domains: { domain: string }[] }>()
      .blocked_domains.map(({ domain }) => domain);

  const alerts = async () =>
    (await server.api.get("/alerts?kind=breaker_open")).json<AlertView[]>().map(({ subject }) => subject);

  async function crawl(urls: readonly string[], more = {}): Promise<string> {
    const answer = await server.api.post("/scraping/async-scrape", { urls, strategy: "http", max_depth: 0, ...more });
    return answer.json<{ task_id: string }>().task_id;
  }

  /** Pages of the site fail until its breaker opens; by then the site is listed, and an alert has been raised. */
  async function opens(site: { name: string; url: (path: string) => string }): Promise<void> {
    const id = await crawl(PAGES.map((path) => site.url(path)));
    await until(async () => (await breakerOf(site.name)).state === "open", "the breaker opens");
    assert.ok((await blocked()).includes(site.name));
    await until(async () => (await alerts()).includes(site.name), "an alert is raised");
    await server.api.post(`/jobs/runs/${id}/cancel`, {});
    await server.ended(id);
  }

  test("a host where nobody listens opens its breaker, is a blocked domain, and raises an alert", async () => {
    await opens(await goneSite());
  });

  test("a server that answers 500 to everything does so, too", async () => {
    await using site = await MisbehavingSite.start({ "/robots.txt": status(500) });
    for (const path of PAGES) site.on(path, status(500));
    await opens(site);
    assert.equal(
      PAGES.reduce((sum, path) => sum + site.count(path), 0),
      0,
      "nothing is fetched without robots.txt",
    );
  });

  test("a crawl of a dead host says that the connection failed", async () => {
    const site = await goneSite();
    const id = await crawl([site.url("/")], { retry_attempts: 0 });
    assert.equal((await server.ended(id)).status, "failed");
    const groups = (await server.api.get(`/jobs/runs/${id}/errors`)).json<
      { class: string; failure_reason: string }[]
    >();
    assert.deepEqual(
      groups.map((group) => [group.class, group.failure_reason]),
      [["connection", "connection_refused"]],
    );
  });

  test("one page that jobs of its own ask for again and again does not close the site to others", async () => {
    await using site = await MisbehavingSite.start({
      "/robots.txt": status(500),
      "/": html("<title>Up</title><p>Up</p>"),
    });
    for (let n = 0; n < 8; n += 1)
      await server.run({ target_url: site.url("/"), strategy: "http", max_attempts: 1, respect_robots: true });
    const { state, failures } = await breakerOf(site.name);
    assert.deepEqual([state, failures], ["closed", 1]);
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { CrawlDetail } from "../../src/orchestrator/crawls/view.ts";
import type { RunSiteView } from "../../src/orchestrator/runs/sites.ts";
import type { SitesProgress } from "../../src/orchestrator/sites/sites-progress.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { held, html } from "../support/misbehaviours.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";

const FAST = 30;
const PLACES = 4;
/** More than the crawl may do at once: if it took all places, nobody else would get on. */
const SLOW = 25;

const start = (count: number) =>
  html(`<title>Start</title><p>x</p>${Array.from({ length: count }, (_, n) => `<a href="/p/${n}">p</a>`).join("")}`);

/** A port at which nobody listens: of all machines that nobody uses any more, and none that a test is given. */
const DEAD = "http://127.0.0.1:9/";

test("a crawl of three sites: the good one is done while one is slow and one is dead, and the end is partial", async () => {
  await using server = await TestServer.open({ APP_HTTP_TIMEOUT_SECONDS: "600" });
  const { promise: answers, resolve: answer } = Promise.withResolvers<void>();
  await using slow = await MisbehavingSite.start({ "/": start(SLOW) });
  // The good one begins when the slow one has taken all the places but its own.
  const taken = slow.when(() => slow.visits.filter(({ path }) => path.startsWith("/p/")).length >= PLACES - 1, "full");
  await using fast = await MisbehavingSite.start({ "/": held(taken, start(FAST)) });
  for (let n = 0; n < FAST; n += 1) fast.on(`/p/${n}`, html(`<title>Fast ${n}</title><p>Fast ${n}</p>`));
  for (let n = 0; n < SLOW; n += 1) slow.on(`/p/${n}`, held(answers, html(`<title>Slow ${n}</title><p>Slow ${n}</p>`)));
  const crawler = new Crawler(server);
  const id = await crawler.submit({
    url: [DEAD, slow.url("/"), fast.url("/")],
    strategy: "http",
    retry_attempts: 1,
    max_concurrent_articles: PLACES,
  });
  const bySite = async () => {
    const sites = (await server.api.get(`/jobs/runs/${id}/sites`)).json<RunSiteView[]>();
    return new Map(sites.map((site) => [site.site, site]));
  };
  // Whenever a page of the good site has ended, it is looked at how all of them are getting on.
  await fast.when(() => fast.visits.length >= FAST + 2 && fast.open === 0, "the good site is through");
  let sites = await bySite();
  while ((sites.get(fast.name)?.counts.completed ?? 0) < FAST + 1 || sites.get(new URL(DEAD).host)?.counts.failed !== 1)
    sites = await bySite();
  assert.equal(sites.get(slow.name)?.counts.completed, 1, "the slow one is still at its beginning");
  assert.equal((await crawler.view(id)).status, "running");
  const progress = (await server.api.get("/sites/progress")).json<SitesProgress>();
  assert.deepEqual(
    progress.sites.map(({ site }) => site),
    [slow.name],
    "only the slow one has open work",
  );
  answer();
  const { view, items } = await crawler.ended(id);
  assert.deepEqual([view.status, view.completed_items, view.failed_items], ["partial", FAST + SLOW + 2, 1]);
  assert.equal(items.length, FAST + SLOW + 2);
  const { error_groups: groups } = (await server.api.get(`/scraping/tasks/${id}/status`)).json<CrawlDetail>();
  assert.deepEqual(
    groups.map(({ example, count }) => [example.url, count]),
    [[DEAD, 1]],
  );
});

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { after, before, describe, test } from "node:test";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { WaitingView } from "../../src/domain/run/waiting.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import type { Overview } from "../../src/orchestrator/live/overview.ts";
import type { RunSiteView } from "../../src/orchestrator/runs/sites.ts";
import type { SiteView } from "../../src/orchestrator/sites/site-view.ts";
import type { WorkflowProgress } from "../../src/orchestrator/workflows/progress.ts";
import { until } from "../chaos/orb.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { hang, html, robots, status, tooMany } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

describe("what a run waits for is the same wherever it is read", () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open({
      APP_BREAKER_FAILURES: "2",
      APP_BREAKER_COOLDOWN_SECONDS: "600",
      APP_MAX_CONCURRENT_TASKS: "2",
      APP_MAX_PER_RESOLVER: '{"library":1}',
      APP_RETRY_BASE_SECONDS: "400",
      APP_RETRY_MAX_SECONDS: "900",
    });
  });
  after(async () => server[Symbol.asyncDispose]());

  async function crawl(site: MisbehavingSite): Promise<string> {
    const answer = await server.api.post("/scraping/async-scrape", { url: site.url("/"), strategy: "http" });
    return answer.json<{ task_id: string }>().task_id;
  }

  /** As the run itself, lists of runs, and of crawls, tell it; resolves when it is `reason`. */
  async function waitsFor(id: string, reason: string): Promise<WaitingView> {
    const get = async <T>(path: string) => (await server.api.get(path)).json<T>();
    const { kind } = await get<RunView>(`/jobs/runs/${id}`);
    // The last of its tasks may still be settled between two calls.
    return until(async () => {
      const { waiting_for: why } = await get<RunView>(`/jobs/runs/${id}`);
      if (why?.reason !== reason) return false;
      const listed = (await get<RunView[]>("/runs")).find((run) => run.id === id);
      const { active_runs: active } = await get<Overview>("/overview");
      const all = [listed?.waiting_for, active.find((run) => run.id === id)?.waiting_for];
      if (kind === "crawl") {
        all.push((await get<CrawlView>(`/scraping/tasks/${id}/status`)).waiting_for);
        all.push((await get<CrawlView[]>("/scraping/tasks")).find((one) => one.task_id === id)?.waiting_for);
      }
      return all.every((one) => isDeepStrictEqual(one, why)) && why;
    }, `it waits for ${reason}, and all lists say the same`);
  }

  const cancel = (id: string) => server.api.post(`/jobs/runs/${id}/cancel`);

  test("a crawl at a site that is down", async () => {
    const links = ["/a", "/b", "/c"];
    await using site = await MisbehavingSite.start({
      "/": html(links.map((link) => `<a href="${link}">x</a>`).join()),
    });
    for (const link of links) site.on(link, status(500));
    const id = await crawl(site);
    const { message, until: time } = await waitsFor(id, "circuit_open");
    assert.ok(message.startsWith(`${site.name}: `) && time !== null);
    await cancel(id);
  });

  test("a crawl whose last page waits for its next try [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": html('<a href="/a">x</a>'), "/a": status(500) });
    const id = await crawl(site);
    assert.notEqual((await waitsFor(id, "retry")).until, null);
    await cancel(id);
  });

  test("a page that waits for its next try, and one whose site asked for patience [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": status(500) });
    await using busy = await MisbehavingSite.start({ "/": tooMany("300") });
    for (const [there, reason] of [
      [site, "retry"],
      [busy, "rate_limited"],
    ] as const) {
      const { id } = await server.begin({ target_url: there.url("/"), strategy: "http" });
      assert.notEqual((await waitsFor(id, reason)).until, null);
      await cancel(id);
    }
  });

  test("a site whose tasks share a limit that another site uses up has nothing in flight, and says so", async () => {
    await using busy = await MisbehavingSite.start({ "/": hang });
    await using idle = await MisbehavingSite.start({ "/": html("x"), "/more": html("y") });
    const add = (id: string, url: string) =>
      server.api.post("/queue/items", { artifact_id: id, url, resolver: "library" });
    await add("busy", busy.url("/"));
    await busy.visited("/");
    await add("idle-1", idle.url("/"));
    await add("idle-2", idle.url("/more"));
    const path = `/sites/${encodeURIComponent(idle.name)}`;
    const { waiting_for: why, counts } = await until(async () => {
      const site = (await server.api.get(path)).json<SiteView>();
      return site.waiting_for?.reason === "concurrency_key" && site;
    }, "it waits for the shared limit");
    assert.match(why?.message ?? "", /^At the limit of the concurrency key library, which several sites share/);
    assert.deepEqual([counts.running, counts.queued], [0, 2]);
    assert.equal(idle.count("/"), 0);
    await server.api.call("PUT", "/queue/resolvers/library", { limit: 5 });
    await until(async () => {
      const site = (await server.api.get(path)).json<SiteView>();
      return site.counts.completed === 2 && site;
    }, "both are done");
    const queue = (await server.api.get("/runs?kind=queue")).json<RunView[]>()[0]!;
    await cancel(queue.id);
  });

  test("a crawl that has a page in flight waits for nothing, whatever its other sites wait for", async () => {
    await using site = await MisbehavingSite.start({ "/": hang });
    await using other = await MisbehavingSite.start({ "/": hang });
    const body = { url: [site.url("/"), other.url("/")], strategy: "http", max_concurrent_articles: 1 };
    const { task_id: id } = (await server.api.post("/scraping/async-scrape", body)).json<{ task_id: string }>();
    await until(async () => {
      const sites = (await server.api.get(`/jobs/runs/${id}/sites`)).json<RunSiteView[]>();
      return sites.some(({ waiting_for: why }) => why?.reason === "concurrency_key");
    }, "a site waits for the limit of the crawl");
    const listed = await until(async () => {
      const { active_runs: active } = (await server.api.get("/overview")).json<Overview>();
      return active.find((run) => run.id === id);
    }, "the overview shows it");
    assert.deepEqual([(await server.show(id)).waiting_for, listed.waiting_for], [null, null]);
    await cancel(id);
  });

  test("a paused crawl, one at a paused site, and one that waits for its turn [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": html('<a href="/a">x</a>'), "/a": hang });
    await using other = await MisbehavingSite.start({ "/": hang });
    const [first, second] = [await crawl(site), await crawl(other)];
    await Promise.all([site.visited("/a"), other.visited("/")]);
    const third = await crawl(site);
    await waitsFor(third, "turn");
    await server.api.post(`/jobs/runs/${first}/pause`);
    await waitsFor(first, "run_paused");
    for (const id of [first, second]) await cancel(id);
    await server.api.post(`/sites/${encodeURIComponent(site.name)}/pause`);
    const last = await crawl(site);
    await waitsFor(last, "site_paused");
    for (const id of [third, last]) await cancel(id);
  });

  test("a crawl between two requests that robots.txt keeps apart has nothing in flight", async () => {
    await using site = await MisbehavingSite.start({
      "/robots.txt": robots("User-agent: *\nCrawl-delay: 30\n"),
      "/": html(["/a", "/b", "/c"].map((link) => `<a href="${link}">x</a>`).join()),
    });
    const id = await crawl(site);
    const { message, until: time } = await waitsFor(id, "crawl_delay");
    assert.equal(message, `${site.name}: Paced: 30 s between requests, as its robots.txt asks`);
    assert.notEqual(time, null);
    const [at] = (await server.api.get(`/jobs/runs/${id}/sites`)).json<RunSiteView[]>();
    assert.deepEqual([at?.counts.running, at?.waiting_for?.reason], [0, "crawl_delay"]);
    await cancel(id);
  });

  test("what is taken in hand and not begun is not in flight while the site is paced [slow]", async () => {
    const links = ["/a", "/b", "/c", "/d"];
    await using site = await MisbehavingSite.start({
      "/": html(links.map((link) => `<a href="${link}">x</a>`).join()),
      "*": html("a page"),
    });
    const path = `/sites/${encodeURIComponent(site.name)}`;
    await server.api.call("PUT", path, { requests_per_second: 1 / 400, burst: 2 });
    const id = await crawl(site);
    await waitsFor(id, "rate");
    const { counts, waiting_for: why } = (await server.api.get(path)).json<SiteView>();
    assert.deepEqual([counts.running, why?.reason], [0, "rate"]);
    await cancel(id);
  });

  test("a run that waits for proxies says the same at its sites; paused, neither speaks of proxies [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": html("x") });
    const { id } = await server.begin({ target_url: site.url("/"), strategy: "http", proxy: "pool" });
    const { message } = await waitsFor(id, "proxies");
    const read = async () => {
      const [ofRun] = (await server.api.get(`/jobs/runs/${id}/sites`)).json<RunSiteView[]>();
      const ofSite = (await server.api.get(`/sites/${encodeURIComponent(site.name)}`)).json<SiteView>();
      return [ofRun?.waiting_for?.message, ofSite.waiting_for?.message];
    };
    assert.deepEqual(await read(), [message, message]);
    await server.api.post(`/jobs/runs/${id}/pause`);
    await waitsFor(id, "run_paused");
    assert.deepEqual(await read(), ["Its runs are paused", "Its runs are paused"]);
    await cancel(id);
  });

  test("a site at which one run is paused and another tries again says when", async () => {
    await using site = await MisbehavingSite.start({ "/": status(500), "/b": hang });
    const path = `/sites/${encodeURIComponent(site.name)}`;
    await server.api.post(`${path}/pause`);
    const paused = await server.begin({ target_url: site.url("/b"), strategy: "http" });
    await server.api.post(`/jobs/runs/${paused.id}/pause`);
    await server.api.post(`${path}/resume`);
    const failing = await server.begin({ target_url: site.url("/"), strategy: "http" });
    const { until: time } = await waitsFor(failing.id, "retry");
    const { waiting_for: why, counts } = (await server.api.get(path)).json<SiteView>();
    assert.deepEqual([counts.queued, counts.retrying, why?.reason, why?.until], [1, 1, "retry", time]);
    for (const { id } of [paused, failing]) await cancel(id);
  });
});

test("a step that no worker takes up says so, as its workflow does [slow]", async () => {
  await using server = await TestServer.open({}, { worker: false });
  const steps = [{ name: "pause", task_type: "wait", params: { seconds: 1 } }];
  const { id } = (await server.api.post("/workflows", { name: "Idle", steps })).json<{ id: string }>();
  await server.api.post(`/workflows/${id}/start`);
  const progress = (await server.api.get(`/workflows/${id}/progress`)).json<WorkflowProgress>();
  assert.equal(progress.waiting_for?.reason, "no_worker");
  const [step] = progress.steps;
  assert.deepEqual([step?.status, step?.waiting_for?.for], ["queued", "worker"]);
  assert.match(step?.waiting_for?.message ?? "", /^No worker is running/);
});

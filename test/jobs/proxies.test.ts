import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { openClient } from "../../src/app/context.ts";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { CheckResult } from "../../src/orchestrator/health.ts";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { TaskView } from "../../src/orchestrator/runs/view.ts";
import type { ProxyRecord } from "../../src/store/ports/proxy-port.ts";
import { until } from "../chaos/orb.ts";
import { browserGate } from "../support/browser-kit.ts";
import { startProxies, type TestProxies, type TestProxy } from "../support/proxies.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";

/** A site of many pages, each of which leads to all others; it knows what it was asked for. */
class Shop implements AsyncDisposable {
  readonly asked: string[] = [];
  readonly #server: Server;
  readonly pages: number;

  constructor(pages: number) {
    this.pages = pages;
    this.#server = createServer((request, response) => {
      this.asked.push(`${request.method} ${request.url} HTTP/1.1`);
      const path = request.url ?? "/";
      if (path === "/robots.txt")
        return void response.end(`User-agent: *\nAllow: /\nSitemap: ${this.url}/sitemap.xml\n`);
      response.setHeader("content-type", path.endsWith(".xml") ? "application/xml" : "text/html");
      if (path === "/sitemap.xml") return void response.end(`<urlset><url><loc>${this.url}/p/1</loc></url></urlset>`);
      const links = Array.from({ length: pages }, (_, n) => `<a href="/p/${n}">page ${n}</a>`).join(" ");
      return void response.end(`<title>${path}</title><p>This is ${path} of the shop.</p>${links}`);
    });
  }

  static async open(pages = 0): Promise<Shop> {
    const shop = new Shop(pages);
    await new Promise<void>((resolve) => shop.#server.listen(0, "127.0.0.2", resolve));
    return shop;
  }

  get url(): string {
    return `http://127.0.0.2:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const ENV = { APP_MIN_PROXIES: "1", APP_MIN_HOST_DELAY_MS: "0", APP_PROXY_REFRESH_MINUTES: "0" };

/** Brings them and has them checked. */
async function addToPool(server: TestServer, proxies: readonly TestProxy[]): Promise<void> {
  const brought = await server.api.post("/proxies", { proxies: proxies.map(({ url }) => url) });
  assert.equal(brought.json<{ added: number }>().added, proxies.length);
  const check = await server.api.post("/proxies/refresh");
  await server.ended(check.json<{ job_id: string }>().job_id);
}

/** What is written of each, in their order, when the worker has stopped; without the check. */
async function written(server: TestServer, proxies: readonly TestProxy[]): Promise<ProxyRecord[]> {
  await using client = await openClient(server.config);
  const all = await client.store.proxies({ limit: 100 });
  const ours = proxies.map(({ port }) => all.find((record) => record.port === port)!);
  return ours.map((record) => ({ ...record, successes: record.successes - 1 }));
}

/** Everything that reached the site came through a proxy, and the proxies' own logs say the same. */
function assertAllPassed(shop: Shop, { all }: TestProxies): void {
  const passed = all.flatMap(({ requests }) => requests).toSorted();
  assert.ok(shop.asked.length > 0);
  assert.deepEqual(passed, shop.asked.toSorted());
}

async function tasksOf(server: TestServer, run: string): Promise<TaskView[]> {
  return (await server.api.get(`/jobs/runs/${run}/tasks?limit=200`)).json<TaskView[]>();
}

describe("a crawl through the pool", () => {
  test("robots.txt, sitemaps and pages go through the proxies in turn, and each attempt says through which", async () => {
    await using shop = await Shop.open(40);
    await using proxies = await startProxies([{ kind: "connect" }, { kind: "socks5" }, { kind: "connect" }]);
    await using server = await TestServer.open(ENV);
    await addToPool(server, proxies.all);
    const { id, view } = await new Crawler(server).crawl({ url: shop.url, proxy: "pool", use_sitemap: true });
    assert.deepEqual([view.status, view.completed_items, view.failed_items], ["completed", 41, 0]);
    assertAllPassed(shop, proxies);
    assert.ok(
      shop.asked.some((line) => line.includes("/robots.txt")) &&
        shop.asked.some((line) => line.includes("/sitemap.xml")),
    );
    for (const { requests } of proxies.all) assert.ok(requests.length >= 8, `a fair share, not ${requests.length}`);
    const shown = new Set((await tasksOf(server, id)).flatMap(({ attempts }) => attempts.map(({ proxy }) => proxy)));
    assert.deepEqual([...shown].toSorted(), proxies.all.map(({ url }) => url).toSorted());
    await server.stop();
    const notes = await written(server, proxies.all);
    assert.ok(notes.every(({ state }) => state === "usable"));
    // The sitemap, the origin's and 41 pages; robots.txt is part of the first of them.
    assert.equal(
      notes.reduce((sum, { successes }) => sum + successes, 0),
      43,
    );
  });

  test("one that dies in the middle is dropped, no page fails and no attempt is spent [slow]", async () => {
    await using shop = await Shop.open(60);
    await using proxies = await startProxies([
      { kind: "connect", behaviour: "dies-after:5" },
      { kind: "connect" },
      { kind: "socks5" },
    ]);
    await using server = await TestServer.open({ ...ENV, APP_BREAKER_FAILURES: "2" });
    await addToPool(server, proxies.all);
    const { id, view } = await new Crawler(server).crawl({ url: shop.url, proxy: "pool" });
    assert.deepEqual([view.status, view.completed_items, view.failed_items], ["completed", 61, 0]);
    const attempts = (await tasksOf(server, id)).map(({ attempts: list }) => list.length);
    assert.deepEqual(new Set(attempts), new Set([1]));
    const site = await server.api.get(`/sites/${encodeURIComponent(new URL(shop.url).host)}`);
    assert.equal(site.json<{ breaker: { failures: number } }>().breaker.failures, 0, "the site is not to blame");
    await server.stop();
    const [dead, ...others] = await written(server, proxies.all);
    assert.equal(dead!.state, "resting");
    assert.ok(dead!.restUntil > Date.now() && dead!.lastError !== null);
    assert.ok(others.every(({ state }) => state === "usable"));
  });

  test("one that the site turns away is left out there, and its pages come through the others [slow]", async () => {
    await using shop = await Shop.open(60);
    await using proxies = await startProxies([{ kind: "connect", behaviour: "blocking" }, { kind: "connect" }]);
    await using server = await TestServer.open({ ...ENV, APP_MAX_PER_HOST: "1" });
    await addToPool(server, proxies.all);
    const { id, view } = await new Crawler(server).crawl({
      url: shop.url,
      proxy: "pool",
      strategy: "http",
      respect_robots: false,
    });
    assert.deepEqual([view.status, view.completed_items], ["completed", 61]);
    assert.ok((await tasksOf(server, id)).every(({ attempts }) => attempts.length === 1));
    await server.stop();
    const [blocking, good] = await written(server, proxies.all);
    const { blocks, successes } = blocking!;
    assert.ok(
      blocks >= 2 && blocks < 10 && successes === 0,
      `two are enough to know, few to see when it ends: ${blocks}`,
    );
    assert.deepEqual([good!.blocks, good!.successes], [0, 61]);
  });
});

describe("a crawl whose proxies have all gone", () => {
  test("waits, says for what, asks nobody meanwhile, and goes on where it was when one is back [slow]", async () => {
    await using shop = await Shop.open(60);
    await using proxies = await startProxies([
      { kind: "connect", behaviour: "dies-after:6" },
      { kind: "socks5", behaviour: "dies-after:6" },
    ]);
    await using server = await TestServer.open({ ...ENV, APP_BREAKER_FAILURES: "2" });
    await addToPool(server, proxies.all);
    const crawler = new Crawler(server);
    const id = await crawler.submit({ url: shop.url, proxy: "pool" });
    await server.said(id, /^Waiting for proxies: none is usable/);
    const { waiting_for: waits, status } = await server.show(id);
    const check = async () => {
      const ready = (await server.api.get("/ready")).json<{ status: string; checks: CheckResult[] }>();
      return ready.checks.find(({ name }) => name === "proxies");
    };
    const short = /^0 of 2 proxies are usable, fewer than the required \d+ \(APP_MIN_PROXIES\): runs wait for proxies$/;
    await until(async () => short.test((await check())?.message ?? ""), "it is told how many are left");
    assert.equal((await check())?.status, "degraded");
    assert.deepEqual([status, waits?.reason], ["running", "proxies"]);
    const connections = () => proxies.all.reduce((sum, proxy) => sum + proxy.connections, 0);
    await server.events(id);
    const [asked, tried] = [shop.asked.length, connections()];
    const events = (await server.events(id)).length;
    await setTimeout(1_500);
    assert.deepEqual([shop.asked.length, connections()], [asked, tried], "nobody is asked in vain");
    assert.equal((await server.events(id)).length, events, "nor is it told again and again");
    const waiting = (await tasksOf(server, id)).filter(({ status }) => status === "retrying");
    const failed = waiting.filter(({ failure_code }) => failure_code !== null).length;
    assert.ok(waiting.length > failed, "some only wait");
    const shown = (await server.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
    assert.equal(shown.retrying_items, failed, "what waits for a proxy has not failed");
    for (const proxy of proxies.all) await proxy.revive();
    await server.ended((await server.api.post("/proxies/refresh")).json<{ job_id: string }>().job_id);
    const { view } = await crawler.ended(id);
    assert.deepEqual([view.status, view.completed_items, view.failed_items], ["completed", 61, 0]);
    assert.equal((await check())?.status, "ok");
    // One that dies while it makes a connection to the site may have failed because of the site: that counts.
    const paid = (await tasksOf(server, id)).flatMap(({ attempts }) =>
      attempts.map((attempt) => attempt.failure_reason),
    );
    assert.ok(!paid.includes("proxy_unreachable"), "no page has paid for a proxy that was gone");
  });
});

describe("the same proxy for the same session and site", () => {
  test("all of a run goes through one proxy, and many runs spread [slow]", async () => {
    await using shop = await Shop.open(5);
    await using proxies = await startProxies([{ kind: "connect" }, { kind: "connect" }, { kind: "socks5" }]);
    await using server = await TestServer.open({ ...ENV, APP_PROXY_ROTATION: "sticky" });
    await addToPool(server, proxies.all);
    const crawler = new Crawler(server);
    const used = new Set<string | null>();
    for (let n = 0; n < 12; n += 1) {
      const { id } = await crawler.crawl({ url: shop.url, proxy: "pool", strategy: "http" });
      const ofRun = new Set((await tasksOf(server, id)).flatMap(({ attempts }) => attempts.map(({ proxy }) => proxy)));
      assert.equal(ofRun.size, 1, "one visitor has one address");
      for (const one of ofRun) used.add(one);
    }
    assert.ok(used.size > 1);
    assertAllPassed(shop, proxies);
  });
});

describe("a page through a proxy", () => {
  test("in a browser, with everything that the page loads [slow]", browserGate, async () => {
    await using shop = await Shop.open();
    await using proxies = await startProxies([
      { kind: "connect", auth: { username: "orb", password: "s3cr3t-Passw0rd" } },
    ]);
    await using server = await TestServer.open(ENV);
    await addToPool(server, proxies.all);
    const run = await server.run({ target_url: `${shop.url}/page`, strategy: "browser", proxy: "pool" });
    assert.equal(run.status, "completed", run.error_message ?? "");
    const [attempt] = (await server.task(run.id)).attempts;
    assert.deepEqual([attempt!.strategy, attempt!.proxy], ["browser", `http://***@127.0.0.1:${proxies.all[0]!.port}`]);
    assertAllPassed(shop, proxies);
  });

  test("one that the job names is never shown with its password, nor kept in clear [slow]", async () => {
    const auth = { username: "visible-user", password: "s3cr3t-Passw0rd" };
    await using shop = await Shop.open(3);
    await using proxies = await startProxies([{ kind: "socks5", auth }]);
    await using server = await TestServer.open(ENV);
    const [own] = proxies.all;
    const job = await server.job({ target_url: shop.url, strategy: "http", proxy: own!.url, schedule: "0 6 * * *" });
    const shown = `socks5://***@127.0.0.1:${own!.port}`;
    assert.equal(job.proxy, shown);
    assert.equal((await server.run(job.id)).status, "completed");
    // What is shown stands for itself in a change, and a change of something else leaves it.
    const same = await server.api.call("PATCH", `/jobs/${job.id}`, { proxy: shown, name: "renamed" });
    assert.equal(same.json<JobView>().proxy, shown);
    await server.api.call("PATCH", `/jobs/${job.id}`, { name: "again" });
    const run = await server.run(job.id);
    assert.equal(run.status, "completed");
    assert.equal((await server.task(run.id)).attempts[0]!.proxy, shown);
    const saved = await server.job({ kind: "crawl", crawl: { url: shop.url, proxy: own!.url } });
    assert.equal(saved.crawl?.proxy, shown);
    assert.equal((await server.run(saved.id)).status, "completed");
    const definition = {
      name: "files",
      steps: [
        { name: "page", task_type: "scrape", params: { url: shop.url, proxy: own!.url } },
        { name: "file", task_type: "download", params: { urls: [`${shop.url}/p/1`], proxy: own!.url } },
      ],
    };
    const flow = await server.job({ kind: "workflow", workflow: { definition } });
    assert.equal((await server.run(flow.id)).status, "completed");
    await server.api.get(`/jobs/${flow.id}`);
    assertAllPassed(shop, proxies);
    // One that lets nobody in is told, without saying how it was asked.
    const wrong = own!.url.replace("s3cr3t", "wr0ng-s3cr3t");
    const refused = await server.run({ target_url: shop.url, strategy: "http", proxy: wrong, max_attempts: 1 });
    assert.deepEqual([refused.status, refused.failure_reason], ["failed", "proxy_auth"]);
    const said = [...server.api.answered, ...server.log].join("\n");
    for (const secret of ["s3cr3t", "visible-user"]) assert.ok(!said.includes(secret), `${secret} is not told`);
    await server.stop();
    for (const { path, bytes } of server.stored())
      for (const secret of ["s3cr3t", "visible-user"])
        assert.ok(!bytes.includes(secret), `${secret} is not in ${path}`);
  });

  test("what is no proxy, or one that may not be asked, is refused with its path before anything is stored", async () => {
    await using server = await TestServer.open(ENV, { worker: false });
    const target_url = "https://shop.example/";
    const refuse = async (body: object, path: string, code: string, status = 422) => {
      const answer = await server.api.post("/jobs", body);
      assert.equal(answer.status, status, answer.text);
      const problem = answer.json<{ code: string; errors: { path: string }[] }>();
      assert.deepEqual([problem.code, problem.errors[0]?.path], [code, path]);
    };
    await refuse({ target_url, proxy: "ftp://proxy.example" }, "proxy", "input_invalid");
    await refuse({ target_url, proxy: "http://***@proxy.example:80" }, "proxy", "input_invalid");
    await refuse({ target_url, proxy: "http://10.0.0.1:8080" }, "proxy", "forbidden_target");
    await refuse({ kind: "crawl", target_url, proxy: "pool" }, "proxy", "input_invalid");
    await refuse(
      { kind: "crawl", crawl: { url: target_url, proxy: "socks5://[::1]:1080" } },
      "crawl.proxy",
      "forbidden_target",
    );
    const steps = [{ name: "a", task_type: "download", params: { urls: [target_url], proxy: "nonsense" } }];
    const definition = { name: "x", steps };
    await refuse(
      { kind: "workflow", workflow: { definition } },
      "workflow.definition.steps[0].params.proxy",
      "input_invalid",
    );
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { RunView, TaskView } from "../../src/orchestrator/runs/view.ts";
import { TestServer } from "../jobs/kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { held, html, page } from "../support/misbehaviours.ts";
import { startProxies, type TestProxy } from "../support/proxies.ts";

const ENV = { APP_PROXY_REFRESH_MINUTES: "0", APP_PROXY_CHECK_TIMEOUT_SECONDS: "60" };
const GOOD = { kind: "connect" } as const;
const DEAD = { kind: "connect", behaviour: "dead" } as const;

const urlsOf = (running: Awaited<ReturnType<typeof startProxies>>) => running.all.map(({ url }) => url);

describe("a run that needs proxies when there are too few", { concurrency: 2 }, () => {
  test("waits, names the reason, has them checked, and goes on when there are enough [slow]", async () => {
    await using running = await startProxies([GOOD, GOOD, DEAD]);
    // The check is not over before it was looked at what waits for it.
    const looked = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({ "/check": held(looked.promise, page("Here")), "/": page("Page") });
    await using server = await TestServer.open({
      ...ENV,
      APP_MIN_PROXIES: "2",
      APP_PROXY_SHORTAGE: "fail",
      APP_PROXY_CHECK_URL: site.url("/check"),
    });
    const [one, ...others] = urlsOf(running);
    await server.api.post("/proxies", { proxies: [one] });
    const { id } = await server.begin({ target_url: site.url("/"), proxy: "pool" });
    const waiting = await server.show(id);
    assert.equal(waiting.waiting_for?.reason, "proxies");
    assert.match(
      waiting.waiting_for.message,
      /^Waiting for proxies: none is usable, and the pool has only 1; they are checked/,
    );
    assert.ok(waiting.waiting_for.until !== null);
    const crawled = await server.api.post("/scraping/async-scrape", {
      url: site.url("/"),
      proxy: "pool",
      max_pages: 1,
    });
    const { task_id: crawl } = crawled.json<{ task_id: string }>();
    const status = (await server.api.get(`/scraping/tasks/${crawl}/status`)).json<{
      status: string;
      message: string;
    }>();
    assert.deepEqual([status.status, status.message.startsWith("Waiting for proxies")], ["pending", true]);
    await site.visited("/check", 1);
    assert.equal(site.of("/").length, 0, "nothing of it has begun");
    looked.resolve();

    await server.api.post("/proxies", { proxies: others });
    const check = (await server.api.get("/runs?kind=proxy_refresh")).json<RunView[]>();
    await server.ended(check[0]!.id);
    await server.api.post("/proxies/refresh");
    const run = await server.ended(id);
    assert.deepEqual([run.status, run.waiting_for], ["completed", null], run.error_message ?? "");
    assert.equal((await server.ended(crawl)).status, "completed");
    const events = (await server.events(id)).map(({ message }) => message);
    assert.ok(
      events.some((message) => /^Run continues: 2 proxies are usable$/.test(message)),
      JSON.stringify(events),
    );
    assert.equal((await server.task(id)).attempts.length, 1);
  });

  test("goes on with fewer when it has waited long enough, or fails: as the policy says [slow]", async () => {
    await using running = await startProxies([GOOD, DEAD]);
    await using site = await MisbehavingSite.start({ "/check": page("Here"), "/": page("Page") });
    const env = { ...ENV, APP_PROXY_WAIT_SECONDS: "4", APP_PROXY_CHECK_URL: site.url("/check") };
    await using server = await TestServer.open({ ...env, APP_PROXY_SHORTAGE: "fail" });
    const none = await server.run({ target_url: site.url("/"), proxy: "pool" });
    assert.deepEqual([none.status, none.failure_code, none.failure_reason], ["failed", "network", "no_proxies"]);
    assert.match(none.error_message ?? "", /0 of 0 proxies usable, at least 10 required/);
    await server.api.post("/proxies", { proxies: urlsOf(running) });
    // Known by then: a check that the run asks for may take longer than it waits.
    const check = await server.api.post("/proxies/refresh");
    await server.ended(check.json<{ job_id: string }>().job_id);
    const few = await server.run({ target_url: site.url("/"), proxy: "pool" });
    assert.deepEqual([few.status, few.failure_reason], ["failed", "no_proxies"]);
    assert.match(few.error_message ?? "", /1 of 2 proxies usable, at least 10 required/);
    assert.equal(site.of("/").length, 0);

    await server.stop();
    await server.start({ env: { APP_PROXY_SHORTAGE: "use_fewer" } });
    const { status } = await server.run({ target_url: site.url("/"), proxy: "pool" });
    assert.equal(status, "completed");
    const retried = await server.api.post(`/jobs/runs/${few.id}/retry-failed`);
    assert.equal(retried.status, 200, retried.text);
    assert.equal(
      (await server.ended(few.id)).status,
      "completed",
      "what failed for want of proxies is done when there are some",
    );
  });

  test("in its middle, when the last one dies: it waits, and goes on when that is back, without losing tries to the wait [slow]", async () => {
    await using running = await startProxies([{ kind: "connect", behaviour: "dies-after:5" }]);
    const [proxy] = running.all as [TestProxy];
    const paths = Array.from({ length: 12 }, (_, index) => `/page-${index + 1}`);
    await using site = await MisbehavingSite.start({
      "/check": page("Here"),
      "/": html(paths.map((path) => `<a href="${path}">${path}</a>`).join("\n")),
      ...Object.fromEntries(paths.map((path) => [path, page(`Page ${path}`)])),
    });
    await using server = await TestServer.open({
      ...ENV,
      APP_MIN_PROXIES: "1",
      APP_PROXY_CHECK_URL: site.url("/check"),
    });
    await server.api.post("/proxies", { proxies: [proxy.url] });
    const body = { url: site.url("/"), proxy: "pool", max_pages: 20, max_concurrent_articles: 2 };
    const { task_id: crawl } = (await server.api.post("/scraping/async-scrape", body)).json<{ task_id: string }>();
    await server.said(crawl, /^Run continues: 1 proxy is usable/);
    let holds = 0;
    await server.follow(crawl, ({ message }) => message.startsWith("Waiting for proxies") && (holds += 1) === 2);
    assert.equal((await server.show(crawl)).waiting_for?.reason, "proxies");
    await proxy.revive();
    await server.api.post("/proxies/refresh");
    assert.equal((await server.ended(crawl)).status, "completed");
    const tasks = (await server.api.get(`/jobs/runs/${crawl}/tasks?limit=100`)).json<TaskView[]>();
    // A tunnel that breaks may be the site's fault: only the two pages that passed through it then may have lost a try.
    const inFlight = tasks.filter(({ attempts }) => attempts[0]?.failure_reason === "connection_reset");
    assert.ok(inFlight.length <= 2, JSON.stringify(inFlight));
    for (const task of tasks)
      assert.equal(
        task.attempts.length,
        inFlight.includes(task) ? 2 : 1,
        `${task.url}: ${JSON.stringify(task.attempts)}`,
      );
    assert.ok(paths.every((path) => site.of(path).length > 0));
  });

  test("ends although checks can reach the proxies, when they let nobody in, or cannot be opened any more [slow]", async () => {
    const auth = { username: "user", password: "right" };
    await using running = await startProxies([
      { kind: "connect", auth },
      { kind: "connect", auth },
    ]);
    await using site = await MisbehavingSite.start({ "/": page("Page") });
    const env = { ...ENV, APP_MIN_PROXIES: "1", APP_PROXY_WAIT_SECONDS: "12" };
    await using server = await TestServer.open({ ...env, APP_SECRET_KEY: "0123456789abcdef0123456789abcdef" });
    await server.api.post("/proxies", { proxies: urlsOf(running).map((url) => url.replace("right", "wrong")) });
    const fails = async () => {
      const run = await server.run({ target_url: site.url("/"), proxy: "pool", strategy: "http" });
      assert.deepEqual([run.status, run.failure_reason], ["failed", "no_proxies"], run.error_message ?? "");
      return (await server.events(run.id)).filter(({ message }) => message.startsWith("Waiting for proxies")).length;
    };
    assert.ok((await fails()) > 1, "it went on, and nothing came");
    await server.stop();
    await server.start({ env: { APP_SECRET_KEY: "9876543210fedcba9876543210abcdef" } });
    await fails();
    assert.equal(site.of("/").length, 0);
  });
});

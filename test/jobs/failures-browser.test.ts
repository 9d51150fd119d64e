import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import {
  dripping,
  firstTimes,
  gzipBomb,
  hang,
  html,
  largerThan,
  page,
  resetAtOnce,
  resetInTheMiddle,
  sendTo,
  shortBody,
  status,
  tooMany,
} from "../support/misbehaviours.ts";
import type { ShownErrorGroup } from "../../src/orchestrator/runs/failed.ts";
import type { TaskView } from "../../src/orchestrator/runs/view.ts";
import { Crawler } from "./crawler.ts";
import { TestServer, told } from "./kit.ts";

/** The same mistakes of a site have the same names, whichever way the page is got. */
const TABLE: Record<string, [route: Route, code: string, reason: RegExp]> = {
  "/hang": [hang, "timeout", /^timeout_/],
  "/drip": [dripping, "timeout", /^timeout_/],
  "/reset": [resetAtOnce, "network", /^connection_reset$/],
  // A browser sees only that less came than was promised.
  "/reset-in-the-middle": [resetInTheMiddle, "bad_response", /^truncated_body$/],
  "/short": [shortBody, "bad_response", /^truncated_body$/],
  "/large": [largerThan(300_000), "bad_response", /^body_too_large$/],
  "/bomb": [gzipBomb(500_000), "bad_response", /^body_too_large$/],
  "/loop": [sendTo("/loop"), "bad_response", /^too_many_redirects$/],
  "/forbidden": [sendTo("http://127.0.0.9:81/"), "forbidden_target", /^private_address$/],
  "/metadata": [sendTo("http://169.254.169.254/latest/"), "forbidden_target", /^private_address$/],
  "/404": [status(404), "bad_response", /^http_not_found$/],
  "/401": [status(401), "blocked", /^http_unauthorized$/],
  "/500": [status(500), "bad_response", /^http_server_error$/],
  "/picture": [html("\u0089PNG", 200, { "content-type": "image/png" }), "bad_response", /^not_html$/],
  "/download": [html("bytes", 200, { "content-disposition": "attachment" }), "bad_response", /^not_html$/],
};

describe("what a site does wrong, seen by a browser", { ...browserGate, concurrency: 3 }, () => {
  let server: TestServer;
  let site: MisbehavingSite;
  before(async () => {
    server = await TestServer.open({ APP_BROWSER_MAX_PAGES: "3", APP_MAX_BODY_BYTES: "200000" });
    site = await MisbehavingSite.start(
      Object.fromEntries(Object.entries(TABLE).map(([path, [route]]) => [path, route])),
    );
  });
  after(async () => {
    await site[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  for (const [path, [, code, reason]] of Object.entries(TABLE))
    test(`${path.slice(1)}: ${code}`, async () => {
      const run = await server.run({
        target_url: site.url(path),
        strategy: "browser",
        max_attempts: 1,
        // Only what never ends is to be cut short; everything else has all the time that a busy machine takes.
        timeout_seconds: code === "timeout" ? 5 : 120,
      });
      assert.deepEqual([run.status, run.failure_code], ["failed", code], `${run.failure_reason}: ${run.error_message}`);
      assert.match(run.failure_reason ?? "", reason, run.error_message ?? "");
      assert.equal(run.stats["strategy"], "browser");
      const task = await server.task(run.id);
      assert.deepEqual(
        task.attempts.map(({ strategy, failure_code }) => [strategy, failure_code]),
        [["browser", code]],
      );
      assert.deepEqual(await server.results(run.id), []);
    });

  test("429 seen by a browser holds the site and burns no attempt", async () => {
    await using busy = await MisbehavingSite.start({ "/": firstTimes(1, tooMany("1"), page("Page")) });
    const run = await server.run({ target_url: busy.url("/"), strategy: "browser", max_attempts: 1 });
    assert.deepEqual([run.status, run.attempt, busy.count("/")], ["completed", 1, 2], String(run.error_message));
    assert.ok(told(await server.events(run.id)).includes("Rate limited"));
    const [first, second] = busy.of("/");
    assert.ok(second!.at - first!.at >= 999, "it waited as long as it was asked to");
  });

  test("of a crawl's pages that fail alike some are shown, and the examples of its errors are among them", async () => {
    const links = Array.from({ length: 6 }, (_, index) => `/${index % 2 === 0 ? "gone" : "wall"}/${index}`);
    const lost = html("<h1>Nothing of that name</h1>", 404);
    await using shop = await MisbehavingSite.start({
      "/": html(`<h1>Start</h1>${[...links, "/gone/7", "/gone/9"].map((link) => `<a href="${link}">x</a>`).join("")}`),
      ...Object.fromEntries(
        links.map((link) => [link, link.startsWith("/wall") ? firstTimes(1, status(500), page("Fine")) : lost]),
      ),
      "/gone/7": lost,
      "/gone/9": lost,
    });
    const crawler = new Crawler(server);
    const { id, view } = await crawler.crawl({
      url: shop.url("/"),
      strategy: "browser",
      max_depth: 1,
      retry_attempts: 1,
    });
    assert.equal(view.failed_items, 5, JSON.stringify(view));
    const groups = (await server.api.get(`/jobs/runs/${id}/errors`)).json<ShownErrorGroup[]>();
    assert.deepEqual(
      groups.map(({ failure_reason, count }) => [failure_reason, count]),
      [["http_not_found", 5]],
    );
    const { screenshot_id, snapshot_id, task_id } = groups[0]!.example;
    const picture = await fetch(`${server.api.url}/artifacts/${screenshot_id}`);
    assert.equal(picture.headers.get("content-type"), "image/png");
    assert.match(await (await fetch(`${server.api.url}/artifacts/${snapshot_id}`)).text(), /Nothing of that name/);
    const tasks = (await server.api.get(`/jobs/runs/${id}/tasks?limit=100`)).json<TaskView[]>();
    const shown = tasks.filter(({ artifacts }) => artifacts.length > 0);
    assert.equal(shown.length, 3, "a few, and none of those that went well in the end");
    assert.ok(shown.every(({ status: state }) => state === "failed") && shown.some(({ id: one }) => one === task_id));
  });

  test("a server that fails is tried again by a browser, too", async () => {
    await using flaky = await MisbehavingSite.start({ "/": firstTimes(2, resetAtOnce, page("Page")) });
    const run = await server.run({ target_url: flaky.url("/"), strategy: "browser" });
    assert.equal(run.status, "completed", String(run.error_message));
  });
});

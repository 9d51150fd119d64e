import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { OrbError } from "../../src/base/errors.ts";
import { parseAddressPolicy } from "../../src/net/address.ts";
import type { RunDeps } from "../../src/orchestrator/jobs/deps.ts";
import { createChildRuns } from "../../src/orchestrator/workflows/child-runs.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { article, hang, html, json, page, status } from "../support/misbehaviours.ts";
import { outputOf, Workshop } from "./kit.ts";

const links = (...paths: string[]): Route =>
  html(`<title>Start</title>${paths.map((path) => `<p><a href="${path}">${path}</a></p>`).join("")}`);
const bytes =
  (text: string): Route =>
  (_visit, response) =>
    void response.setHeader("content-type", "application/octet-stream").end(text);

describe("steps that start runs of their own", { concurrency: 3 }, () => {
  let shop: Workshop;
  before(async () => {
    shop = await Workshop.open({ APP_HTTP_TIMEOUT_SECONDS: "20" });
  });
  after(() => shop[Symbol.asyncDispose]());

  test("a crawl is a run as any other, and its articles are the items of the step", async () => {
    await using site = await MisbehavingSite.start({ "/": links("/a", "/b"), "/a": article("A"), "/b": article("B") });
    const { run, steps } = await shop.run([
      { name: "crawl", task_type: "crawl", params: { url: site.url("/"), max_depth: 1, strategy: "http" } },
    ]);
    assert.equal(run.status, "completed", run.message ?? "");
    const step = steps.get("crawl")!;
    const [child] = step.childRuns;
    assert.deepEqual(outputOf(step), { run_id: child, status: "completed", pages: 3, failed: 0, failed_pages: [] });
    const items = await shop.items(step);
    assert.deepEqual(
      items.map(({ url }) => url).toSorted(),
      ["/", "/a", "/b"].map((path) => site.url(path)),
    );
    const shown = await shop.server.show(child!);
    assert.deepEqual([shown.kind, shown.status, shown.name], ["crawl", "completed", "Test: crawl"]);
    assert.equal(step.task.tries, 1);
  });

  test("a crawl that ended in part completes the step, unless that is not to be", async () => {
    await using site = await MisbehavingSite.start({
      "/": links("/a", "/bad"),
      "/a": article("A"),
      "/bad": status(403),
    });
    const params = { url: site.url("/"), max_depth: 1, strategy: "http", retry_attempts: 0 };
    const taken = await shop.run([{ name: "crawl", task_type: "crawl", params }]);
    assert.deepEqual(
      [taken.run.status, outputOf(taken.steps.get("crawl"))["status"], outputOf(taken.steps.get("crawl"))["failed"]],
      ["completed", "partial", 1],
    );
    const strict = { ...params, accept_partial: false };
    const refused = await shop.run([{ name: "crawl", task_type: "crawl", params: strict, max_retries: 0 }]);
    assert.equal(refused.steps.get("crawl")?.task.failure?.reason, "step_child_failed");
  });

  test("pages are got one after the other, and those that fail are counted", async () => {
    await using site = await MisbehavingSite.start({ "/1": page("One"), "/2": status(404), "/3": page("Three") });
    const urls = ["/1", "/2", "/3", "/1"].map((path) => site.url(path));
    const { run, steps } = await shop.run([
      { name: "pages", task_type: "scrape", params: { urls, fields: ["title"] } },
    ]);
    assert.equal(run.status, "completed", run.message ?? "");
    assert.deepEqual(outputOf(steps.get("pages")), { pages: 2, failed: 1, records: 2, first: { title: "One" } });
    assert.deepEqual(
      (await shop.items(steps.get("pages")!)).map(({ url, title }) => [url, title]),
      [
        [site.url("/1"), "One"],
        [site.url("/3"), "Three"],
      ],
    );
    assert.equal(site.count("/1"), 1);
  });

  test("a page that is not there fails the step for the page's own reason, without more tries", async () => {
    await using site = await MisbehavingSite.start({ "/": status(404) });
    const { steps } = await shop.run([{ name: "page", task_type: "scrape", params: { url: site.url("/") } }]);
    const { failure, attempts } = steps.get("page")!.task;
    assert.deepEqual([failure?.reason, attempts.length, site.count("/")], ["http_not_found", 1, 1]);
    assert.equal(attempts[0]?.http_status, 404);
  });

  test("a try of a step began before it slept, and took all the time since", async () => {
    await using site = await MisbehavingSite.start({ "/": status(404) });
    const { steps } = await shop.run([{ name: "page", task_type: "scrape", params: { url: site.url("/") } }]);
    const { task, childRuns } = steps.get("page")!;
    const [attempt] = task.attempts;
    const child = await shop.store.run(childRuns[0]!);
    const began = Date.parse(attempt!.started_at);
    assert.ok(began <= child!.createdAt, "it began before what it waited for");
    assert.ok(began + attempt!.duration_ms >= child!.finishedAt!, "it ended after what it waited for");
  });

  test("files of a list are downloaded, each address once, with the data of the items they stand in", async () => {
    const gallery = html(
      `<title>Pictures</title>${["a", "b", "a", "lost"].map((name) => `<figure><img src="/${name}.bin"><figcaption>${name}</figcaption></figure>`).join("")}`,
    );
    await using site = await MisbehavingSite.start({
      "/": gallery,
      "/a.bin": bytes("first"),
      "/b.bin": bytes("second"),
      "/lost.bin": status(404),
    });
    const { run, steps } = await shop.run([
      {
        name: "list",
        task_type: "scrape",
        params: {
          url: site.url("/"),
          items: { css: "figure" },
          fields: { picture: { css: "img", attr: "src" }, caption: "figcaption" },
        },
      },
      { name: "files", task_type: "download", params: { field: "picture" }, dependencies: ["list"] },
    ]);
    assert.equal(run.status, "completed", JSON.stringify([...steps.values()].map(({ task }) => task.failure)));
    const step = steps.get("files")!;
    assert.deepEqual(outputOf(step), { downloaded: 2, failed: 1 });
    const items = await shop.items(step);
    assert.deepEqual(
      items.map(({ url, name, bytes: size, caption, source_url: from }) => [url, name, size, caption, from]),
      [
        [site.url("/a.bin"), "a.bin", 5, "a", site.url("/")],
        [site.url("/b.bin"), "b.bin", 6, "b", site.url("/")],
      ],
    );
    assert.equal(site.count("/a.bin"), 1);
    for (const { artifact_id: id, hash } of items) assert.equal((await shop.store.artifact(id!))?.hash, hash);
    const [failed] = await shop.files(step);
    assert.match(failed ?? "", /^\{"url":"[^"]*\/lost\.bin","error":"[^"]*404[^"]*"\}\n$/);
  });

  test("a download of which nothing can be had fails, and one of which too much failed, too", async () => {
    await using site = await MisbehavingSite.start({ "/a": bytes("a"), "/lost": status(404) });
    const download = (paths: string[], more: Record<string, unknown> = {}) =>
      shop.run([
        {
          name: "files",
          task_type: "download",
          params: { urls: paths.map((path) => site.url(path)), ...more },
          max_retries: 0,
        },
      ]);
    const none = await download(["/lost"]);
    assert.match(none.steps.get("files")!.task.failure!.message, /^the only download failed: the server answered 404/);
    const half = await download(["/a", "/lost"], { max_failed_ratio: 0.4 });
    assert.match(
      half.steps.get("files")!.task.failure!.message,
      /^1 of 2 downloads failed, more than max_failed_ratio \(0(\.\d+)?\) allows: the server answered 404/,
    );
    assert.equal((await download(["/a", "/lost"], { max_failed_ratio: 0.5 })).run.status, "completed");
  });

  test("a step whose time is over while it waits cancels what it had started [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": hang });
    const id = await shop.begin([
      { name: "page", task_type: "scrape", params: { url: site.url("/") }, timeout: 6, max_retries: 0 },
    ]);
    await site.visited("/");
    const { childRuns } = await shop.asleep(id, "page", "run");
    const { run, steps } = await shop.finished(id);
    assert.equal(run.status, "failed");
    assert.equal(steps.get("page")?.task.failure?.reason, "step_timeout");
    assert.equal((await shop.ended(childRuns[0]!)).status, "cancelled");
    await site.when(() => site.open === 0, "nothing is asked any more");
  });

  test("a child that somebody cancels fails its step for good", async () => {
    await using site = await MisbehavingSite.start({ "/": hang });
    const id = await shop.begin([{ name: "crawl", task_type: "crawl", params: { url: site.url("/") } }]);
    const { childRuns } = await shop.asleep(id, "crawl", "run");
    await site.visited("/");
    await shop.cancel(childRuns[0]!);
    const { run, steps } = await shop.finished(id);
    assert.equal(run.status, "failed");
    const { failure, attempts } = steps.get("crawl")!.task;
    assert.deepEqual([failure?.reason, attempts.length], ["step_child_cancelled", 1]);
  });

  test("what cannot be crawled fails the step before anything is started", async () => {
    const found = "${{ steps.wait.output.waited_seconds }}";
    const fields = { title: { css: `((${found}` } };
    const dependencies = ["wait"];
    const { steps } = await shop.run([
      { name: "wait", task_type: "wait", params: { seconds: 0 } },
      { name: "crawl", task_type: "crawl", params: { url: `http://10.0.0.${found}/` }, dependencies },
      { name: "page", task_type: "scrape", params: { url: "https://example.com/", fields }, dependencies },
    ]);
    assert.equal(steps.get("crawl")?.task.failure?.code, "forbidden_target");
    assert.equal(steps.get("page")?.task.failure?.reason, "step_params");
    for (const step of steps.values()) assert.deepEqual(step.childRuns, []);
  });

  test("crawls of workflows wait their turn among the others [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": links("/held"), "/held": hang, "/hook": json({}) });
    await using small = await Workshop.open({ APP_MAX_CONCURRENT_TASKS: "1", APP_HTTP_TIMEOUT_SECONDS: "20" });
    const params = { url: site.url("/"), max_depth: 1, strategy: "http" };
    const first = await small.begin([{ name: "crawl", task_type: "crawl", params }]);
    await site.visited("/held");
    const second = await small.begin([{ name: "crawl", task_type: "crawl", params }]);
    const { childRuns } = await small.asleep(second, "crawl", "run");
    assert.equal((await small.server.show(childRuns[0]!)).status, "queued");
    await small.cancel(first);
    await site.visited("/held", 2);
    await small.cancel(second);
    for (const id of [first, second]) assert.equal((await small.ended(id)).status, "cancelled");
  });
});

test("trouble with the database while a child is made is no fault of the step", async () => {
  const outage = new OrbError("database_unavailable", "the database cannot be used");
  const store = { session: () => Promise.reject(outage) };
  const deps = { store, policy: parseAddressPolicy(false), defaultMaxAttempts: 3 } as unknown as RunDeps;
  const child = { kind: "page", url: "https://example.com/", options: { session_id: randomUUID() } } as const;
  await assert.rejects(createChildRuns(deps).prepare(child, "child"), outage);
});

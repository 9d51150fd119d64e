import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { held, json, page, status } from "../support/misbehaviours.ts";
import { outputOf, signal, Workshop } from "./kit.ts";

const each = (site: MisbehavingSite, list: unknown, more: Record<string, unknown> = {}) => ({
  name: "each",
  task_type: "webhook",
  params: { url: `${site.origin}/\${{ item }}`, body: { index: "${{ index }}" } },
  for_each: { in: list, ...more },
});

describe("a step that is done for every entry of a list", { concurrency: 4 }, () => {
  let shop: Workshop;
  before(async () => {
    // A busy machine begins less at once than it may: what is held back here must not run out of time meanwhile.
    shop = await Workshop.open({ APP_HTTP_TIMEOUT_SECONDS: "20" });
  });
  after(() => shop[Symbol.asyncDispose]());

  test("gets each of them once, and hands on what became of them in the order of the list", async () => {
    await using site = await MisbehavingSite.start({
      "*": (visit, response, on) => json(visit.path)(visit, response, on),
    });
    const names = Array.from({ length: 30 }, (_, n) => `n${n}`);
    const { run, steps } = await shop.run([each(site, names, { concurrency: 7 })]);
    assert.equal(run.status, "completed", run.message ?? "");
    assert.deepEqual(outputOf(steps.get("each")), { total: 30, completed: 30, failed: 0, skipped: 0 });
    assert.deepEqual(site.visits.map(({ path }) => path).toSorted(), names.map((name) => `/${name}`).toSorted());
    for (const { path, body } of site.visits) assert.deepEqual(JSON.parse(body), { index: Number(path.slice(2)) });
    const items = await shop.items(steps.get("each")!);
    assert.deepEqual(
      items.map(({ item, index, status: state, output }) => [item, index, state, output]),
      names.map((name, n) => [name, n, "completed", { status: 200, answer: `/${name}` }]),
    );
  });

  test("never has more of them at work than it may", async () => {
    await using site = await MisbehavingSite.start();
    const [go, most] = [signal(), { now: 0, ever: 0 }];
    site.on("*", async (visit, response, on) => {
      most.now += 1;
      most.ever = Math.max(most.ever, most.now);
      await go.promise;
      // Long enough for one too many to come.
      on.after(20, () => {
        most.now -= 1;
        void json({})(visit, response, on);
      });
    });
    const id = await shop.begin([each(site, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], { concurrency: 2 })]);
    await site.when(() => site.visits.length === 2, "two are at work");
    const { items, waiting } = await shop.asleep(id, "each", "items");
    assert.deepEqual([items?.total, items?.completed, waiting?.for], [10, 0, "items"]);
    go.give();
    const { run } = await shop.finished(id);
    assert.deepEqual([run.status, most.ever, site.visits.length], ["completed", 2, 10]);
  });

  test("on_error stop: after the first failure no more are begun, and it fails", async () => {
    await using site = await MisbehavingSite.start({ "*": json({}), "/b": status(404) });
    const { run, steps, id } = await shop.run([
      each(site, ["a", "b", "c", "d"], { concurrency: 1, on_error: "stop" }),
      { name: "behind", task_type: "wait", params: { seconds: 0 }, dependencies: ["each"] },
    ]);
    assert.equal(run.status, "failed");
    assert.deepEqual(
      site.visits.map(({ path }) => path),
      ["/a", "/b"],
    );
    assert.equal(steps.get("each")?.task.failure?.reason, "step_entries_failed");
    assert.match(steps.get("each")!.task.failure!.message, /1 of 4 entries failed; entry 1:.*404/);
    assert.equal(steps.get("behind")?.task.state, "skipped");
    const entries = await shop.store.stepItems(id, 0, { limit: 10 });
    assert.deepEqual(
      entries.map(({ state }) => state),
      ["completed", "failed", "skipped", "skipped"],
    );
  });

  test("on_error finish: all are tried, and it fails", async () => {
    await using site = await MisbehavingSite.start({ "*": json({}), "/a": status(404) });
    const { run, steps } = await shop.run([each(site, ["a", "b", "c"], { concurrency: 1, on_error: "finish" })]);
    assert.deepEqual([run.status, site.visits.length], ["failed", 3]);
    assert.equal(steps.get("each")?.task.failure?.reason, "step_entries_failed");
  });

  test("on_error continue: it completes with what succeeded, unless nothing did", async () => {
    await using site = await MisbehavingSite.start({ "*": status(404), "/b": json({}) });
    const some = await shop.run([each(site, ["a", "b"], { on_error: "continue" })]);
    assert.deepEqual(outputOf(some.steps.get("each")), { total: 2, completed: 1, failed: 1, skipped: 0 });
    const items = await shop.items(some.steps.get("each")!);
    assert.deepEqual(
      items.map(({ status: state, error }) => [state, typeof error]),
      [
        ["failed", "string"],
        ["completed", "object"],
      ],
    );
    const none = await shop.run([each(site, ["a", "c"], { on_error: "continue" })]);
    assert.equal(none.run.status, "failed");
  });

  test("an empty list is done at once", async () => {
    await using site = await MisbehavingSite.start();
    const { run, steps } = await shop.run([each(site, [])]);
    assert.equal(run.status, "completed", run.message ?? "");
    assert.deepEqual(outputOf(steps.get("each")), { total: 0, completed: 0, failed: 0, skipped: 0 });
  });

  test("all items of an earlier step, and what the entries found goes on to the next one", async () => {
    const links = `<title>List</title><ul>${[1, 2, 3].map((n) => `<li><a href="/p${n}">Page ${n}</a></li>`).join("")}</ul>`;
    const list: Route = (_visit, response) => void response.setHeader("content-type", "text/html").end(links);
    await using site = await MisbehavingSite.start({ "/": list, "/hook": json({}) });
    for (const n of [1, 2, 3]) site.on(`/p${n}`, page(`Page ${n}`));
    const { run, steps } = await shop.run([
      {
        name: "list",
        task_type: "scrape",
        params: { url: site.url("/"), items: { css: "li" }, fields: { link: { css: "a", attr: "href", type: "url" } } },
      },
      {
        name: "pages",
        task_type: "scrape",
        params: { url: "${{ item.link }}", fields: ["title"] },
        dependencies: ["list"],
        for_each: { in: "${{ steps.list.items }}", concurrency: 2 },
      },
      { name: "pause", task_type: "wait", params: { seconds: 0 }, dependencies: ["pages"] },
    ]);
    assert.equal(run.status, "completed", JSON.stringify([...steps.values()].map(({ task }) => task.failure)));
    assert.deepEqual(outputOf(steps.get("pages")), { total: 3, completed: 3, failed: 0, skipped: 0 });
    const titles = (await shop.items(steps.get("pause")!)).map(({ title }) => title);
    assert.deepEqual(titles, ["Page 1", "Page 2", "Page 3"]);
  });

  test("entries are tried again by themselves, and done ones are not done again", async () => {
    const go = signal();
    await using site = await MisbehavingSite.start({ "*": json({}) });
    site.on("/b", (visit, response, on) =>
      (visit.nth === 1 ? status(500) : held(go.promise, json({})))(visit, response, on),
    );
    const id = await shop.begin([each(site, ["a", "b", "c"], { concurrency: 3 })]);
    await site.visited("/b", 2);
    go.give();
    const { run } = await shop.finished(id);
    assert.equal(run.status, "completed", run.message ?? "");
    assert.deepEqual(
      ["/a", "/b", "/c"].map((path) => site.count(path)),
      [1, 2, 1],
    );
  });
});

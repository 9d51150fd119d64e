import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { json, page, status } from "../support/misbehaviours.ts";
import { outputOf, Workshop } from "./kit.ts";

describe("recovering a workflow that failed", { concurrency: 3 }, () => {
  let shop: Workshop;
  before(async () => {
    shop = await Workshop.open({ APP_HTTP_TIMEOUT_SECONDS: "20" });
  });
  after(() => shop[Symbol.asyncDispose]());

  async function recovered(id: string, from?: string) {
    const answer = await shop.server.api.post(
      `/workflows/${id}/recover`,
      from === undefined ? undefined : { from_step: from },
    );
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json<{ status: string }>().status, "recovering");
    await shop.until(async () => (await shop.store.run(id))!.status !== "recovering", "it is taken up");
    return shop.finished(id);
  }

  test("does again what did not complete, with what the completed steps had put out", async () => {
    await using site = await MisbehavingSite.start({ "/a": json({ n: 1 }), "/b": status(404), "/c": json({}) });
    const call = (path: string) => ({ task_type: "webhook", params: { url: site.url(path) } });
    const first = await shop.run([
      { name: "a", ...call("/a") },
      {
        name: "b",
        task_type: "webhook",
        params: { url: site.url("/b"), body: "${{ steps.a.output.answer.n }}" },
        dependencies: ["a"],
      },
      { name: "c", ...call("/c"), dependencies: ["b"] },
    ]);
    assert.deepEqual([first.run.status, first.states], ["failed", { a: "completed", b: "failed", c: "skipped" }]);
    site.on("/b", json({}));
    const { run, states } = await recovered(first.id);
    assert.equal(run.status, "completed", run.message ?? "");
    assert.deepEqual(states, { a: "completed", b: "completed", c: "completed" });
    assert.deepEqual(
      ["/a", "/b", "/c"].map((path) => site.count(path)),
      [1, 2, 1],
    );
    assert.equal(site.of("/b")[1]?.body, "1");
  });

  test("entries of a list that were done are not done again when the list is the same", async () => {
    await using site = await MisbehavingSite.start({ "*": page("Page"), "/2": status(404) });
    const first = await shop.run([
      {
        name: "pages",
        task_type: "scrape",
        params: { url: `${site.origin}/\${{ item }}`, fields: ["title"] },
        for_each: { in: [1, 2, 3], concurrency: 1, on_error: "finish" },
      },
    ]);
    assert.equal(first.run.status, "failed");
    site.on("/2", page("Second"));
    const { run, steps } = await recovered(first.id);
    assert.equal(run.status, "completed", run.message ?? "");
    assert.deepEqual(outputOf(steps.get("pages")), { total: 3, completed: 3, failed: 0, skipped: 0 });
    assert.deepEqual(
      ["/1", "/2", "/3"].map((path) => site.count(path)),
      [1, 2, 1],
    );
    assert.deepEqual(
      (await shop.items(steps.get("pages")!)).map(({ title }) => title),
      ["Page", "Second", "Page"],
    );
  });

  test("from a step: that one and what follows from it, with a new child run", async () => {
    await using site = await MisbehavingSite.start({ "/page": page("Page"), "/side": json({}), "/end": status(404) });
    const first = await shop.run([
      { name: "page", task_type: "scrape", params: { url: site.url("/page"), fields: ["title"] } },
      { name: "side", task_type: "webhook", params: { url: site.url("/side") } },
      { name: "end", task_type: "webhook", params: { url: site.url("/end") }, dependencies: ["page"] },
    ]);
    assert.equal(first.run.status, "failed");
    site.on("/end", json({}));
    const { run, steps } = await recovered(first.id, "page");
    assert.equal(run.status, "completed", run.message ?? "");
    assert.deepEqual(
      ["/page", "/side", "/end"].map((path) => site.count(path)),
      [2, 1, 2],
    );
    const child = outputOf(steps.get("page"))["run_id"];
    assert.notEqual(child, first.steps.get("page")?.childRuns[0]);
    assert.equal(child, steps.get("page")?.childRuns.at(-1));
  });
});

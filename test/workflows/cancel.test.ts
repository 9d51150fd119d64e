import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { requireSqlite } from "../../src/app/context.ts";
import { TERMINAL_RUN_STATES } from "../../src/domain/run/states.ts";
import { laneOfStep } from "../../src/domain/workflow/definition.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { hang, held, html, json, page, status } from "../support/misbehaviours.ts";
import { signal, Workshop } from "./kit.ts";

describe("cancelling a workflow", { concurrency: 3 }, () => {
  let shop: Workshop;
  before(async () => {
    shop = await Workshop.open({ APP_HTTP_TIMEOUT_SECONDS: "250" });
  });
  after(() => shop[Symbol.asyncDispose]());

  /** Nothing of it is at work any more, nor will be: neither its steps, nor what they started. */
  async function gone(id: string, site: MisbehavingSite): Promise<void> {
    assert.equal((await shop.cancel(id)).status, "cancelled");
    await site.when(() => site.open === 0, "nothing is asked any more");
    const steps = await shop.until(async () => {
      const list = await shop.store.steps(id);
      return list.every(({ task }) => task.endedAt !== null) ? list : null;
    }, "all steps have ended");
    for (const { childRuns } of steps)
      for (const child of childRuns) {
        const run = await shop.store.run(child);
        assert.ok(run !== null && TERMINAL_RUN_STATES.includes(run.status), `child ${child} is ${run?.status}`);
      }
  }

  test("while a step is at work", async () => {
    await using site = await MisbehavingSite.start({ "/": hang });
    const id = await shop.begin([
      { name: "call", task_type: "webhook", params: { url: site.url("/") } },
      { name: "next", task_type: "webhook", params: { url: site.url("/next") }, dependencies: ["call"] },
    ]);
    await site.visited("/");
    await gone(id, site);
    assert.deepEqual([site.count("/"), site.count("/next")], [1, 0]);
  });

  test("while a step waits for a time", async () => {
    await using site = await MisbehavingSite.start();
    const id = await shop.begin([{ name: "wait", task_type: "wait", params: { seconds: 3600 } }]);
    await shop.asleep(id, "wait", "time");
    await gone(id, site);
  });

  test("while a step is to be tried again [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": status(500) });
    const call = { name: "call", task_type: "webhook", params: { url: site.url("/") }, max_retries: 10 };
    const id = await shop.begin([call]);
    // Each try is later than the one before: some day there is time enough, however slow the machine is.
    const tries = await shop.until(async () => {
      const { task } = await shop.step(id, "call");
      return task.state === "retrying" && task.readyAt - Date.now() > 3000 ? task.tries : null;
    }, "it is tried again, but not soon");
    await gone(id, site);
    assert.equal(site.count("/"), tries);
  });

  for (const [kind, params] of Object.entries({
    scrape: (site: MisbehavingSite) => ({ url: site.url("/held") }),
    crawl: (site: MisbehavingSite) => ({ url: site.url("/start"), strategy: "http" }),
    download: (site: MisbehavingSite) => ({ urls: [site.url("/held")] }),
  }))
    test(`while the run that a ${kind} has started is under way`, async () => {
      const start = html('<title>Start</title><a href="/held">held</a>');
      await using site = await MisbehavingSite.start({ "/start": start, "/held": hang });
      const id = await shop.begin([{ name: "child", task_type: kind, params: params(site) }]);
      await site.visited("/held");
      await gone(id, site);
      const { childRuns } = await shop.step(id, "child");
      assert.equal((await shop.store.run(childRuns[0]!))?.status, "cancelled");
    });

  test("while entries of a list are at work, wait for their turn and for runs of their own", async () => {
    await using site = await MisbehavingSite.start({ "*": hang });
    const id = await shop.begin([
      {
        name: "calls",
        task_type: "webhook",
        params: { url: `${site.origin}/call/\${{ item }}` },
        for_each: { in: [1, 2, 3], concurrency: 1 },
      },
      {
        name: "pages",
        task_type: "scrape",
        params: { url: `${site.origin}/page/\${{ item }}` },
        for_each: { in: [1, 2, 3], concurrency: 1 },
      },
    ]);
    await Promise.all(["/call/1", "/page/1"].map((path) => site.visited(path)));
    await gone(id, site);
    assert.equal(site.visits.length, 2);
    for (const index of [0, 1])
      for (const entry of await shop.store.stepItems(id, index, { limit: 10 })) {
        assert.ok(entry.endedAt !== null, `${entry.key} is ${entry.state}`);
        for (const child of await shop.store.childRuns(entry.id))
          assert.equal((await shop.store.run(child))?.status, "cancelled");
      }
  });

  test("by deleting it, while a step and runs of others are under way: nothing is left", async () => {
    await using site = await MisbehavingSite.start({ "*": hang });
    const id = await shop.begin([
      { name: "call", task_type: "webhook", params: { url: site.url("/call") } },
      {
        name: "pages",
        task_type: "scrape",
        params: { url: `${site.origin}/page/\${{ item }}` },
        for_each: { in: [1, 2, 3], concurrency: 2 },
      },
    ]);
    await Promise.all(["/call", "/page/1", "/page/2"].map((path) => site.visited(path)));
    const entries = await shop.store.stepItems(id, 1, { limit: 10 });
    const children = (await Promise.all(entries.map((entry) => shop.store.childRuns(entry.id)))).flat();
    assert.equal(children.length, 2);
    assert.equal((await shop.server.api.call("DELETE", `/workflows/${id}?force=true`)).status, 204);
    for (const run of [id, ...children]) assert.equal(await shop.store.run(run), null);
    await site.when(() => site.open === 0, "nothing is asked any more");
    // As the engine does once a minute. What it has in hand, and the lanes that it owns, are let go first.
    using database = new DatabaseSync(requireSqlite(shop.server.config), { readOnly: true });
    const left = (what: string) => database.prepare(`SELECT count(*) AS n FROM ${what}`).get()?.["n"];
    await shop.until(async () => {
      while ((await shop.store.removeExpired(100)) > 0);
      return left("runs WHERE removing_at IS NOT NULL") === 0;
    }, "all is removed");
    assert.equal(left(`lanes WHERE lane LIKE '${laneOfStep(id, 0).slice(0, -1)}%'`), 0);
    assert.deepEqual((await shop.store.audit()).findings, []);
  });

  test("before it has done anything, and twice", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Page") });
    const id = await shop.begin([{ name: "wait", task_type: "wait", params: { seconds: 3600 } }]);
    await gone(id, site);
    await gone(id, site);
  });
});

describe("a worker that is started again", () => {
  test("goes on with a step that was at work, and with one that sleeps [slow]", async () => {
    await using shop = await Workshop.open({ APP_SHUTDOWN_GRACE_SECONDS: "0.2", APP_HTTP_TIMEOUT_SECONDS: "250" });
    const go = signal();
    await using site = await MisbehavingSite.start({
      "/call": (visit, response, on) => (visit.nth === 1 ? hang : json({}))(visit, response, on),
      "/page": held(go.promise, page("Page")),
      "/end": json({}),
    });
    const id = await shop.begin([
      { name: "call", task_type: "webhook", params: { url: site.url("/call") } },
      { name: "page", task_type: "scrape", params: { url: site.url("/page"), fields: ["title"] } },
      { name: "end", task_type: "webhook", params: { url: site.url("/end") }, dependencies: ["call", "page"] },
    ]);
    await Promise.all([site.visited("/call"), site.visited("/page")]);
    const { childRuns } = await shop.asleep(id, "page", "run");
    await shop.restart();
    go.give();
    const { run, steps } = await shop.finished(id);
    assert.equal(run.status, "completed", run.message ?? "");
    assert.deepEqual([site.count("/call"), site.count("/end")], [2, 1]);
    // Being handed back costs no try, and there is still only one child.
    assert.equal(steps.get("call")?.task.tries, 1);
    assert.deepEqual(steps.get("page")?.childRuns, childRuns);
  });
});

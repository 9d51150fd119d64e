import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import * as orbweaver from "../src/index.ts";
import { bodyOf, Target } from "./chaos/target.ts";
import { makeDatabase } from "./support/prepared-database.ts";
import { tempDir } from "./support/temp-dir.ts";

const { Orchestrator } = orbweaver;

function configure(t: TestContext, env: Record<string, string> = {}): orbweaver.Config {
  const dir = tempDir();
  t.after(() => dir[Symbol.dispose]());
  const { config } = orbweaver.loadConfig({ env: { APP_ALLOW_PRIVATE_NETWORKS: "true", ...env }, cwd: dir.path });
  if (config.database.kind === "sqlite") makeDatabase(config.database.path);
  return config;
}

/** A small site of three pages. */
async function openSite(): Promise<Target> {
  const site = await Target.start(1);
  const links = '<a href="/one">one</a><a href="/two">two</a>';
  site.script = (path) =>
    path === "/missing"
      ? { status: 404, body: "no" }
      : {
          body: `<html><title>page ${path}</title><body><h1>At ${path}</h1>${path === "/" ? links : ""}</body></html>`,
          headers: { "content-type": "text/html" },
        };
  return site;
}

async function dataOf(results: AsyncIterable<orbweaver.ResultView>): Promise<orbweaver.ResultView["data"][]> {
  const all: orbweaver.ResultView["data"][] = [];
  for await (const { data } of results) all.push(data);
  return all;
}

test("a program enqueues, works, waits for the end and reads what came of it", async (t) => {
  await using target = await Target.start(1);
  await using orb = await Orchestrator.start(configure(t));
  assert.equal(orb.role, "engine");
  const items = [
    { artifact_id: "a", url: target.url("/a") },
    { artifact_id: "b", url: target.url("/b"), priority: 5 },
  ];
  assert.deepEqual(await orb.queue.submit(items), { added: 2, existing: 0 });
  const stats = await orb.queue.drained();
  assert.deepEqual([stats.done, stats.error], [2, 0]);
  const shown = await orb.queue.get("a");
  assert.deepEqual([shown.status, shown.files[0]?.size], ["done", Buffer.byteLength(bodyOf("/a"))]);
  assert.deepEqual(
    (await orb.queue.list({ limit: 10 })).map((item) => item.artifact_id),
    ["a", "b"],
  );
});

test("a program scrapes a page, runs a saved job and crawls a site", async (t) => {
  await using site = await openSite();
  await using orb = await Orchestrator.start(configure(t));
  assert.deepEqual(await orb.scrape(site.url("/"), { fields: { head: "h1" } }), [{ head: "At /" }]);
  await assert.rejects(orb.scrape(site.url("/missing")), (error) => {
    assert.ok(orbweaver.isOrbError(error, "fetch_failed"));
    assert.match(error.message, /404/);
    return true;
  });

  const job = await orb.jobs.create({ target_url: site.url("/one"), fields: ["title"] });
  const seen: string[] = [];
  const run = await orb.runs.wait((await orb.jobs.run(job.id)).id, { onProgress: ({ status }) => seen.push(status) });
  assert.deepEqual([run.status, seen.at(-1)], ["completed", "completed"]);
  const records = await dataOf(orb.runs.results(run.id));
  assert.deepEqual(records, [{ title: "page /one" }]);

  const { task_id: id, status } = await orb.crawls.start({ url: site.url("/"), max_depth: 1, fields: ["title"] });
  assert.ok(["pending", "running"].includes(status));
  const crawl = await orb.crawls.wait(id);
  assert.deepEqual([crawl.status, crawl.completed_items], ["completed", 3]);
  const pages = (await dataOf(orb.crawls.results(id))).map((data) => data["title"]);
  assert.deepEqual(pages.toSorted(), ["page /", "page /one", "page /two"]);
});

test("a program runs a workflow with a step of its own, mends it and goes on from where it failed [slow]", async (t) => {
  await using site = await openSite();
  const config = configure(t);
  const dir = tempDir();
  t.after(() => dir[Symbol.dispose]());
  const module = join(dir.path, "steps.mjs");
  const mended = join(dir.path, "mended");
  writeFileSync(
    module,
    `import { existsSync } from "node:fs";
     export const steps = [{
       kind: "shout",
       params: { type: "object", properties: { end: { type: "string" } }, required: ["end"], additionalProperties: false },
       async *words(context, end) { for await (const { head } of context.items()) yield { loud: head.toUpperCase() + end }; },
       async run(context, { end }) {
         if (!existsSync(${JSON.stringify(mended)})) throw Object.assign(new Error("not yet"), { retry: false });
         return { output: { end }, items: this.words(context, end) };
       },
     }];`,
  );
  await using orb = await Orchestrator.start(config, { handlers: module });
  const definition = {
    name: "loud pages",
    steps: [
      { name: "page", task_type: "scrape", params: { url: site.url("/one"), fields: { head: "h1" } } },
      { name: "shout", task_type: "shout", params: { end: "!" }, dependencies: ["page"] },
    ],
  };
  const wrong = { ...definition, steps: [{ name: "shout", task_type: "shout", params: { and: 1 } }] };
  const { valid, errors } = await orb.workflows.validate({ definition: wrong });
  assert.ok(!valid);
  assert.ok(
    errors.every(({ path }) => path.startsWith("definition.steps[0].params")),
    JSON.stringify(errors),
  );
  await assert.rejects(orb.workflows.create({ definition: wrong }), (error) =>
    orbweaver.isOrbError(error, "input_invalid"),
  );

  const { id } = await orb.workflows.create({ definition, start: false });
  assert.equal((await orb.workflows.get(id)).status, "pending");
  await orb.workflows.start(id);
  const seen: number[] = [];
  const failed = await orb.workflows.wait(id, { onProgress: ({ progress }) => seen.push(progress) });
  assert.equal(failed.status, "failed");
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  );
  const [, shout] = await orb.workflows.tasks(id);
  assert.deepEqual([shout?.failure_reason, shout?.error_message], ["handler_refused", "not yet"]);

  writeFileSync(mended, "");
  const hits = site.hits.length;
  await orb.workflows.recover(id);
  assert.equal((await orb.workflows.wait(id)).status, "completed");
  assert.equal(site.hits.length, hits, "what was done is not done again");
  assert.deepEqual((await orb.workflows.tasks(id)).at(-1)?.result, { end: "!" });
  const items: unknown[] = [];
  for await (const item of orb.workflows.items(id, "shout")) items.push(item);
  assert.deepEqual(items, [{ loud: "AT /ONE!" }]);
  assert.ok((await orb.workflows.kinds()).some(({ kind }) => kind === "shout"));
});

test("whoever waits may stop to wait, and the work goes on", async (t) => {
  await using site = await openSite();
  const config = configure(t);
  await using client = await Orchestrator.start(config, { work: false });
  assert.equal(client.role, null);
  const { task_id: id } = await client.crawls.start({ url: site.url("/"), max_depth: 0 });
  const giveUp = new AbortController();
  const waiting = client.crawls.wait(id, {
    signal: giveUp.signal,
    onProgress: () => giveUp.abort(new Error("enough")),
  });
  await assert.rejects(waiting, /enough/);
  await using _worker = await Orchestrator.start(config);
  assert.equal((await client.crawls.wait(id)).status, "completed");
  await client.queue.submit([{ artifact_id: "a", url: site.url("/a") }]);
  assert.equal((await client.queue.drained(AbortSignal.abort())).total, 1);
});

test("a program that only gives work has it done by another one", async (t) => {
  await using target = await Target.start(1);
  const config = configure(t);
  await using _worker = await Orchestrator.start(config);
  await using client = await Orchestrator.start(config, { work: false });
  async function* file(): AsyncGenerator<Uint8Array> {
    for (let n = 0; n < 20; n += 1)
      yield Buffer.from(`${JSON.stringify({ artifact_id: `${n}`, url: target.url(`/${n}`) })}\n`);
  }
  const report = await client.queue.import(file(), { bad: () => assert.fail("every line is good") });
  assert.equal(report.added, 20);
  assert.equal((await client.queue.drained()).done, 20);
});

test("two starts with one configuration share one orchestrator, until both have stopped", async (t) => {
  await using target = await Target.start(1);
  const config = configure(t);
  const [first, second] = await Promise.all([Orchestrator.start(config), Orchestrator.start({ ...config })]);
  // A second one of its own would stand by.
  assert.deepEqual([first.role, second.role], ["engine", "engine"]);
  await first.stop();
  await first.stop();
  await second.queue.submit([{ artifact_id: "a", url: target.url("/a") }]);
  assert.equal((await second.queue.drained()).done, 1);
  // Whoever starts while the last one stops gets a new one.
  const stopping = second.stop();
  await using third = await Orchestrator.start(config);
  await stopping;
  assert.equal(third.role, "engine");
  assert.equal((await third.queue.stats()).done, 1);
  await assert.rejects(second.queue.stats(), "what was stopped is closed");
});

test("with another configuration the second one stands by, and takes over when the first stops", async (t) => {
  await using target = await Target.start(1);
  const config = configure(t);
  const first = await Orchestrator.start(config);
  const became = Promise.withResolvers<void>();
  await using second = await Orchestrator.start(
    { ...config, maxWorkers: 3 },
    { onRole: (role) => role === "engine" && became.resolve() },
  );
  assert.deepEqual([first.role, second.role], ["engine", "standby"]);
  await first.stop();
  await became.promise;
  await second.queue.submit([{ artifact_id: "a", url: target.url("/a") }]);
  assert.equal((await second.queue.drained()).done, 1);
});

test("what is wrong with items is told all at once, by item and field, and nothing is added", async (t) => {
  await using orb = await Orchestrator.start(configure(t), { work: false });
  const items = [{ artifact_id: "a", url: "http://a.test/" }, { artifact_id: "", url: "ftp://a.test/" }, {}];
  await assert.rejects(orb.queue.submit(items), (error) => {
    assert.ok(orbweaver.isOrbError(error, "input_invalid"));
    assert.deepEqual(
      error.fields.map((field) => field.path),
      ["[1].artifact_id", "[1].url", "[2].artifact_id", "[2].url"],
    );
    return true;
  });
  assert.equal((await orb.queue.stats()).total, 0);
});

test("what cannot be started is refused by its code, every time [slow]", async (t) => {
  // Nobody listens there.
  const config = configure(t, {
    APP_DATABASE_URL: "postgres://me@127.0.0.1:1/orb",
    APP_REDIS_URL: "redis://127.0.0.1:1",
  });
  for (const work of [true, true, false])
    await assert.rejects(Orchestrator.start(config, { work }), (error) =>
      orbweaver.isOrbError(error, "database_unavailable"),
    );
  await assert.rejects(Orchestrator.start(configure(t), { handlers: "./no-such-module.ts" }), (error) =>
    orbweaver.isOrbError(error, "handlers_invalid"),
  );
});

test("limits of a site are set and shown", async (t) => {
  await using orb = await Orchestrator.start(configure(t), { work: false });
  await orb.sites.change("a.test", { maxConcurrency: 1 });
  assert.equal((await orb.sites.get("a.test")).max_concurrency, 1);
  await orb.sites.pause("a.test");
  assert.deepEqual(
    (await orb.sites.list({ state: "paused", limit: 10 })).map(({ site }) => site),
    ["a.test"],
  );
  for await (const { totals } of orb.sites.follow(new AbortController().signal)) {
    assert.equal(totals.paused_sites, 1);
    break;
  }
});

test("proxies are imported, checked, counted and switched off", async (t) => {
  const nobody = createServer();
  await new Promise<void>((resolve) => nobody.listen(0, "127.0.0.1", resolve));
  t.after(() => nobody.close());
  const { port } = nobody.address() as AddressInfo;
  await using orb = await Orchestrator.start(configure(t));
  await assert.rejects(orb.proxies.refresh(), (error) => orbweaver.isOrbError(error, "illegal_transition"));
  const imported = await orb.proxies.import([`http://127.0.0.1:${port}`, "nonsense"]);
  assert.deepEqual([imported.added, imported.invalid_count], [1, 1]);
  const { job_id: id } = await orb.proxies.refresh();
  const { status, total, result_count: usable, checks } = await orb.proxies.wait(id);
  assert.deepEqual([status, total, usable, checks], ["complete", 1, 1, "reachable"]);
  const found = await orb.proxies.list({ limit: 10 });
  assert.deepEqual([found.total, found.usable, found.proxies[0]?.state], [1, 1, "usable"]);
  const proxy = await orb.proxies.disable(found.proxies[0]?.id ?? "");
  assert.equal(proxy.state, "disabled");
  await orb.proxies.delete(proxy.id);
  assert.equal((await orb.proxies.list({ limit: 10 })).total, 0);
});

test("a program names a concurrency key by its older name, too: in items, in the configuration and in a handler [slow]", async (t) => {
  const config = configure(t);
  const dir = tempDir();
  t.after(() => dir[Symbol.dispose]());
  const module = join(dir.path, "handlers.mjs");
  writeFileSync(module, "export const handlers = { keys: (item) => [item.concurrency_key, item.resolver] };");
  const url = "http://127.0.0.1:9/";
  await using orb = await Orchestrator.start({ ...config, maxPerResolver: { api: 1 } }, { handlers: module });
  await orb.queue.submit([
    { artifact_id: "new", url, handler: "keys", concurrency_key: "api" },
    { artifact_id: "old", url, handler: "keys", resolver: "api" },
  ]);
  await orb.queue.drained();
  for (const name of ["new", "old"]) {
    const { concurrency_key, resolver, results } = await orb.queue.get(name);
    assert.deepEqual([concurrency_key, resolver, results], ["api", "api", [["api", "api"]]], name);
  }
  const two = { ...config, maxPerConcurrencyKey: { api: 1 }, maxPerResolver: { api: 2 } };
  await assert.rejects(Orchestrator.start(two), (error) => {
    assert.ok(orbweaver.isOrbError(error, "config_invalid"));
    assert.match(error.message, /maxPerConcurrencyKey: differs from its alias maxPerResolver/);
    return true;
  });
});

test("handlers keep their names and types", () => {
  const handlers = orbweaver.defineHandlers({
    plain: (item) => ({ id: item.artifact_id }),
    patient: { timeoutSeconds: 900, run: async (_, context) => void (await context.download()) },
  });
  assert.deepEqual(Object.keys(handlers), ["plain", "patient"]);
  assert.equal(handlers.patient.timeoutSeconds, 900);
  const keys: orbweaver.Handler = ({ concurrency_key: key, resolver }) => key === resolver;
  assert.equal(typeof keys, "function");
});

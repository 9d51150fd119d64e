import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { Document } from "@mendable/firecrawl-js";
import { createClient, type RunEvent } from "../../src/api-client/client.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { TERMINAL_RUN_STATES } from "../../src/domain/run/states.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { openGate } from "../api-client/kit.ts";
import { until } from "../chaos/orb.ts";
import { assertNoBrowsers } from "../chaos/served.ts";
import { assertAccounted, untilStarted } from "../chaos/schedule-occurrences.ts";
import { clientOf, Receiver, refused } from "../firecrawl/kit.ts";
import { Site } from "../firecrawl/site.ts";
import * as every from "../mcp/every-tool.ts";
import { comeOverHttp, openMagazine } from "../mcp/kit.ts";
import { LiveViewer, SQUARES, walledSite } from "../jobs/live-viewer.ts";
import { browserGate, chromiumPath } from "../support/browser-kit.ts";
import { LlmServer, says } from "../support/llm-server.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { hang, held, html, json, page, slow, status } from "../support/misbehaviours.ts";
import { servicesGate } from "../support/services-kit.ts";
import { Cluster, type Worker } from "./kit.ts";

const SECRET = "receiver-secret-0123456789";
const PAGES = 110;

/** Every way in that callers use, where the API does no work itself; one cluster for all of them. */
describe("what is asked of an API is done by workers elsewhere", servicesGate, () => {
  let cluster: Cluster;
  let llm: LlmServer;
  let store: Store;

  before(async () => {
    llm = await LlmServer.start();
    cluster = await Cluster.start({
      workers: 2,
      env: {
        ...llm.env,
        APP_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8",
        APP_WEBHOOK_SECRET: SECRET,
        APP_RESPECT_ROBOTS: "true",
        APP_BROWSER_PATH: chromiumPath,
        APP_MAX_PER_HOST: "4",
      },
    });
    store = await openPostgresStore({ url: cluster.postgres.url, clock: systemClock, log: silentLog });
  });

  after(async () => {
    await store?.close();
    await cluster?.[Symbol.asyncDispose]();
    await llm?.[Symbol.asyncDispose]();
  });

  /** Dies at once; somebody else comes in its place. */
  const replaced = async (worker: Worker): Promise<void> => {
    await worker.process.killed();
    await cluster.addWorker();
  };

  /** The one that does what is to be done once, and so tells webhooks. */
  const leader = () =>
    until(async () => {
      const pid = (await store.engineHolder())?.pid;
      return cluster.workers.find(({ process }) => process.alive && process.pid === pid);
    }, "one of the workers leads");

  test("Firecrawl's client scrapes, crawls, scrapes a batch, cancels, and asks what failed", async () => {
    await using site = await Site.open(PAGES);
    const app = clientOf(cluster.api.api.url);
    const kettle = await app.scrape(`${site.url}/shop`, { formats: ["markdown"] });
    assert.match(kettle.markdown ?? "", /^# A kettle/);
    const crawled = await app.crawl(site.url, { sitemap: "skip", pollInterval: 1 });
    const got = ["/", ...Array.from({ length: PAGES }, (_, n) => `/pages/${n + 1}`)];
    assert.deepEqual([crawled.status, pathsOf(crawled.data)], ["completed", got.toSorted()]);
    const first = await app.getCrawlStatus(crawled.id, { autoPaginate: false });
    assert.deepEqual([first.data.length, first.next !== null], [100, true], "the rest is on another page");
    const { errors, robotsBlocked } = await app.getCrawlErrors(crawled.id);
    assert.deepEqual(
      errors.map(({ url }) => url),
      [`${site.url}/gone`],
    );
    assert.deepEqual(robotsBlocked, [`${site.url}/private/a`]);

    const batch = await app.batchScrape([`${site.url}/blog/one`, `${site.url}/gone`], { pollInterval: 1 });
    assert.deepEqual([batch.status, pathsOf(batch.data)], ["completed", ["/blog/one"]]);
    assert.equal((await app.getBatchScrapeErrors(batch.id)).errors.length, 1);

    const open = Promise.withResolvers<void>();
    site.gate = open.promise;
    const { id } = await app.startCrawl(site.url, { sitemap: "skip" });
    const before = site.asked.length;
    await until(() => site.asked.slice(before).some((path) => path.startsWith("/pages/")), "a worker is at it");
    assert.equal(await app.cancelCrawl(id), true);
    assert.equal((await app.getCrawlStatus(id)).status, "cancelled");
    open.resolve();
    assert.match((await refused(app.getCrawlStatus("0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c"))).message, /not found/i);
  });

  test("Firecrawl's watcher hears of every page while it is got", async () => {
    await using site = await Site.open(5);
    const app = clientOf(cluster.api.api.url);
    const open = Promise.withResolvers<void>();
    site.gate = open.promise;
    const { id } = await app.startCrawl(site.url, { sitemap: "skip" });
    const watcher = app.watcher(id, { kind: "crawl" });
    const documents: Document[] = [];
    watcher.on("document", (document: Document) => documents.push(document));
    const done = new Promise<{ status: string }>((resolve, reject) => {
      watcher.on("done", resolve);
      watcher.on("error", (error: object) => reject(new Error(JSON.stringify(error))));
    });
    const watching = watcher.start();
    // What it was told when it came.
    await new Promise((resolve) => watcher.once("snapshot", resolve));
    open.resolve();
    assert.equal((await done).status, "completed");
    await watching;
    assert.deepEqual(pathsOf(documents), ["/", ...[1, 2, 3, 4, 5].map((n) => `/pages/${n}`)]);
  });

  test("a webhook hears of every page, signed, although workers are killed meanwhile", async () => {
    const paths = Array.from({ length: 40 }, (_, n) => `/page-${n}`);
    const links = paths.map((path) => `<a href="${path}">x</a>`).join("");
    const routes: Record<string, Route> = {
      "/": html(`<title>Start</title><p>Start.</p>${links}<a href="/gone">x</a>`),
    };
    const killed = Promise.withResolvers<void>();
    for (const [n, path] of paths.entries()) {
      const words = html(`<title>${path}</title><p>Words of ${path}.</p>`);
      // Half of them are left until both are dead, however fast the machine is.
      routes[path] = n < paths.length / 2 ? slow(50, words) : held(killed.promise, words);
    }
    await using site = await MisbehavingSite.start(routes);
    await using receiver = await Receiver.open();
    const { id } = await clientOf(cluster.api.api.url).startCrawl(site.url("/"), {
      sitemap: "skip",
      webhook: receiver.url,
    });
    const pages = () => receiver.heard.filter(({ body }) => body.type === "crawl.page");
    await receiver.until(() => pages().length >= 3);
    await replaced(await leader());
    // The one that asks this site, whoever that is now.
    const asking = () => {
      const agent = site.visits.at(-1)?.headers["user-agent"] ?? "";
      return cluster.workers.find(({ name, process }) => process.alive && agent.includes(`(${name})`));
    };
    await replaced(await until(asking, "one that lives asks the site"));
    killed.resolve();
    await receiver.until(() => receiver.types.includes("crawl.completed"));
    const all = ["/", "/gone", ...paths];
    assert.deepEqual(
      [...new Set(pages().map(({ body }) => String(body.data[0]?.metadata["sourceURL"])))].toSorted(),
      all.map((path) => site.url(path)).toSorted(),
      "every page, and no other",
    );
    // What was on its way when its sender died may come twice, under the same id.
    const ids = new Set(receiver.heard.map(({ body }) => body.webhookId));
    assert.equal(ids.size, all.length + 2, "the beginning, every page, the end");
    assert.equal(receiver.types[0], "crawl.started");
    assert.equal(receiver.types.at(-1), "crawl.completed");
    for (const { headers, text, body } of receiver.heard) {
      const signature = `sha256=${createHmac("sha256", SECRET).update(text).digest("hex")}`;
      assert.deepEqual([headers["x-firecrawl-signature"], body.id], [signature, id]);
    }
  });

  test("an agent at /mcp scrapes, crawls, waits, and reads what was found", async () => {
    await using target = await openMagazine();
    await using agent = await comeOverHttp(cluster.api.api.url, { modern: true });
    await every.onePageIsScraped(agent, target);
    assert.match(await agent.refused("scrape", { url: target.url("/gone") }), /http_not_found.*no such page/i);
    await every.resultsAreReadInParts(agent, await every.aCrawlIsFollowedToItsEnd(agent, target));
    assert.match(await every.aWorkflowMakesAFile(agent, target), /^orb:\/\/artifacts\//);
  });

  test("a model is asked by a worker, and what it says is the record", async () => {
    const good = { name: "A Light", price: 51.77 };
    llm.on("/book", says(good));
    await using site = await MisbehavingSite.start({ "*": page("A book", "A Light, 51.77 pounds, in stock.") });
    const run = await cluster.api.run({
      target_url: site.url("/book"),
      strategy: "http",
      extract: { llm: { prompt: "The book that is for sale." } },
    });
    assert.equal(run.status, "completed", run.error_message ?? "");
    assert.deepEqual(
      (await cluster.api.results(run.id)).map(({ data }) => data),
      [good],
    );
    assert.equal(llm.of("/book").length, 1);
  });

  test("a run of a worker waits for a person, who clears the wall on the API's live view", browserGate, async () => {
    await using site = await walledSite();
    const { api } = cluster;
    const { id } = await api.begin({ target_url: site.url("/"), strategy: "browser" });
    await api.said(id, /^Waiting for a person/);
    const answer = await api.api.post("/live-views", { run_id: id });
    assert.equal(answer.status, 201, answer.text);
    const view = answer.json<{ id: string }>();
    await using viewer = await LiveViewer.connect(api.api.url, view.id);
    await viewer.until(() => viewer.shows("Verify you are human"), "the page");
    for (const { name, x, y } of SQUARES) {
      viewer.click(x, y);
      await site.hit(`/clicked/${name}`);
    }
    await site.hit("/seen");
    assert.equal((await api.api.post(`/live-views/${view.id}/save`, {})).status, 201);
    const run = await api.ended(id);
    assert.deepEqual([run.status, run.stats["title"]], ["completed", "Behind the wall"]);
  });

  test("a browser of a worker takes a picture, which the API gives out", browserGate, async () => {
    const words = "Enough words, commas and patience to be what this page is about, for everybody who reads.";
    await using site = await MisbehavingSite.start({ "*": html(`<title>Start</title><main><p>${words}</p></main>`) });
    const run = await cluster.api.run({ target_url: site.url("/"), document: { formats: ["markdown", "screenshot"] } });
    assert.deepEqual([run.status, run.resolved_strategy], ["completed", "browser"], run.error_message ?? "");
    const [result] = await cluster.api.results(run.id);
    const { markdown, screenshot } = (result!.data as { document: Shown }).document;
    assert.match(markdown, /^Enough words/);
    const file = await cluster.api.api.get(`/artifacts/${screenshot.artifact_id}`);
    assert.deepEqual([file.status, file.headers["content-type"]], [200, "image/png"]);
    assert.equal(file.bytes.subarray(1, 4).toString(), "PNG");
  });

  test("a program follows a run over a restart of the API: no event is lost, none comes twice", async () => {
    const open = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({ "*": held(open.promise, page("Late", "It came after all.")) });
    await using gate = await openGate(() => cluster.api.api.url);
    const client = createClient({ url: gate.url });
    const { id } = await client.runs.start({ target_url: site.url("/late"), strategy: "http" });
    const told: RunEvent[] = [];
    const followed = (async () => {
      for await (const event of client.followRun(id)) told.push(event);
    })();
    const waited = client.waitForRun(id);
    await site.visited("/late");
    await until(() => told.length > 0, "something is told");
    await cluster.api.terminated();
    open.resolve();
    // It ends while nobody is there to tell of it.
    await until(async () => TERMINAL_RUN_STATES.includes((await store.run(id))!.status), "the run has ended");
    await cluster.replaceApi();
    await followed;
    assert.equal((await waited).status, "completed");
    assert.deepEqual(
      told.map((event) => event.id),
      (await client.runs.events(id, { limit: 1000 })).map((event) => event.id),
    );
    assert.equal(site.count("/late"), 1, "the worker did not notice");
  });

  test("a schedule starts once each time, with two APIs of which one works, too, and then is gone", async () => {
    await using site = await MisbehavingSite.start({ "*": page("Often", "Every second.") });
    const other = await cluster.serve([]);
    const schedule = { cron: "* * * * * *", overlap: "cancel" } as const;
    const job = await other.job({ target_url: site.url("/often"), strategy: "http", schedule });
    await untilStarted(store, job.id, 2);
    await other.killed();
    await untilStarted(store, job.id, 2);
    assert.equal((await cluster.api.api.post(`/schedules/${job.id}/pause`)).status, 200);
    await assertAccounted(store, job.id);
  });

  test("a workflow is paused, goes on, and is recovered from a step, although the one that had it is dead", async () => {
    const open = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({
      "*": json({}),
      "/slow": held(open.promise, json({})),
      "/broken": status(500),
    });
    const created = await cluster.api.api.post("/workflows", {
      definition: { name: "Elsewhere", steps: chain(site, ["first", "slow", "broken", "last"]) },
    });
    const { id } = created.json<{ id: string }>();
    const act = async (what: string, body?: object) => {
      const answer = await cluster.api.api.post(`/workflows/${id}/${what}`, body);
      assert.equal(answer.status, 200, answer.text);
      return answer.json<{ status: string }>().status;
    };
    const { headers } = await site.visited("/slow");
    assert.equal(await act("pause"), "paused");
    const owner = cluster.workers.find(({ name }) => headers["user-agent"]?.includes(`(${name})`));
    assert.ok(owner !== undefined, `one of the workers asked: ${headers["user-agent"]}`);
    await replaced(owner);
    assert.equal(site.count("/slow"), 1, "nothing is begun meanwhile");
    assert.equal(await act("resume"), "running");
    await site.when(() => site.count("/slow") === 2, "another worker does the step");
    open.resolve();
    assert.equal((await cluster.api.ended(id)).status, "failed");
    const counts = () => ["/first", "/slow", "/broken", "/last"].map((path) => site.count(path));
    assert.deepEqual(counts(), [1, 2, 1, 0]);
    site.on("/broken", json({}));
    assert.equal(await act("recover", { from_step: "slow" }), "recovering");
    await cluster.api.said(id, /^Run completed/);
    assert.deepEqual(counts(), [1, 3, 2, 1]);
  });

  test("a workflow is cancelled while a worker has a step in hand, which lets go of it", async () => {
    await using site = await MisbehavingSite.start({ "*": json({}), "/slow": hang });
    const created = await cluster.api.api.post("/workflows", {
      definition: { name: "Not wanted", steps: chain(site, ["slow", "last"]) },
    });
    const { id } = created.json<{ id: string }>();
    await site.visited("/slow");
    const answer = await cluster.api.api.post(`/workflows/${id}/cancel`);
    assert.equal(answer.json<{ status: string }>().status, "cancelled", answer.text);
    await site.when(() => site.open === 0, "nothing is asked any more");
    await until(async () => (await store.steps(id)).every(({ task }) => task.endedAt !== null), "all steps have ended");
    assert.equal(site.count("/last"), 0);
  });

  test("/ready names what is away, Redis or Postgres, /metrics tells the rest, and all is well again without a restart", async () => {
    const ready = async () => {
      const answer = await cluster.api.api.get("/ready");
      return { ...answer.json<{ status: string | number; detail?: string; checks: Check[] }>(), code: answer.status };
    };
    type Ready = Awaited<ReturnType<typeof ready>>;
    // What is on its way when something goes away ends in ways of its own.
    const comesToSay = async (look: (now: Ready) => unknown, expected: unknown) => {
      let now: unknown;
      const same = async () => isDeepStrictEqual((now = look(await ready())), expected);
      await until(same, "/ready says so").catch(() => assert.deepEqual(now, expected));
    };
    const well = () => comesToSay(({ status }) => status, "ready");
    const refused = (port: number) => `connect ECONNREFUSED 127.0.0.1:${port}`;
    await well();
    const { port: redis } = cluster.redis;
    await cluster.redis.stop();
    await comesToSay(
      ({ code, status, checks }) => [
        code,
        status,
        ...checks.filter((check) => check.status !== "ok").map(({ name, message }) => `${name}: ${message}`),
      ],
      [200, "degraded", `redis: Redis at 127.0.0.1:${redis} cannot be used: ${refused(redis)}`],
    );
    await cluster.redis.start();
    await well();
    await cluster.postgres.stop();
    await comesToSay(
      ({ code, detail }) => [code, detail],
      [
        503,
        // What is known by the database alone is named with it.
        `database, key, worker, memory, proxies, browser: the database cannot be reached: ${refused(cluster.postgres.port)}`,
      ],
    );
    const numbers = await cluster.api.api.get("/metrics");
    assert.equal(numbers.status, 200, numbers.text);
    assert.match(numbers.text, /^orb_database_up 0$/m);
    assert.match(numbers.text, /^orb_uptime_seconds \d+$/m);
    assert.doesNotMatch(numbers.text, /^orb_runs\{/m);
    await cluster.postgres.start();
    await well();
    assert.match((await cluster.api.api.get("/metrics")).text, /^orb_database_up 1$/m);
  });

  test("the books are right after all of it, and no browser is left", async () => {
    await cluster.orb.audit();
    for (const { process } of cluster.workers) if (process.alive) process.kill("SIGTERM");
    for (const { process } of cluster.workers) await process.end();
    await assertNoBrowsers(cluster.orb);
  });
});

interface Check {
  name: string;
  status: string;
  message?: string;
}

/** Steps that call these paths of the site, one after the other. */
const chain = (site: MisbehavingSite, names: readonly string[]) =>
  names.map((name, n) => ({
    name,
    task_type: "webhook",
    dependencies: names.slice(Math.max(0, n - 1), n),
    params: { url: site.url(`/${name}`), body: {} },
    max_retries: 0,
  }));

interface Shown {
  markdown: string;
  screenshot: { artifact_id: string };
}

const pathsOf = (data: readonly Document[]) =>
  data.map(({ metadata }) => new URL(metadata?.sourceURL ?? "").pathname).toSorted();

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "undici";
import { createLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { ConfigRow } from "../../src/config/show.ts";
import type { DeliveryView } from "../../src/orchestrator/notifications/deliveries.ts";
import type { LaneView } from "../../src/orchestrator/queue/lanes.ts";
import type { SiteRobotsView } from "../../src/orchestrator/sites/site-robots.ts";
import { startServer } from "../../src/app/server.ts";
import { newJob } from "../contract/store/jobs.ts";
import { candidate, newTask, TTL } from "../contract/store/kit.ts";
import { newChannel } from "../contract/store/notifications.ts";
import { tempDir } from "../support/temp-dir.ts";
import { openTestApi } from "./kit.ts";

describe("what pages show besides", () => {
  test("the configuration says what holds and where it comes from, and no secret", async () => {
    using dir = tempDir();
    const token = "a-secret-that-nobody-may-read";
    const { config, sources } = loadConfig({ env: { APP_PORT: "0", APP_API_TOKEN: token }, cwd: dir.path });
    const log = createLog({ level: "error", pretty: false, write: () => {} });
    await using server = await startServer(config, log, { version: "0", worker: false, sources });
    const { body } = await request(`${server.url}/config`, { headers: { authorization: `Bearer ${token}` } });
    const text = await body.text();
    const rows = JSON.parse(text) as ConfigRow[];
    const row = (name: string) => rows.find((one) => one.name === name);
    assert.deepEqual([row("APP_PORT")?.value, row("APP_PORT")?.source], ["0", "environment"]);
    assert.equal(row("APP_HOST")?.source, "default");
    assert.ok(rows.every(({ about }) => about !== ""));
    assert.ok(!text.includes(token));
  });

  test("a notification that was sent or waits names its job and its run", async (t) => {
    const { store, get } = await openTestApi(t);
    const now = Date.now();
    await store.createChannel(newChannel("ops"), now);
    const { created: job } = await store.createJob(newJob("prices"), now);
    const { created: run } = await store.startRun(
      { kind: "page", maxAttempts: 1, snapshot: { url: "https://a.example/" }, jobId: job.id },
      [newTask("p")],
      now,
    );
    const notice = { key: "1", type: "run_failed" as const, subject: run.id, message: "Run failed: HTTP 500" };
    await store.raiseAlerts(
      [],
      { deliver: false, notices: [{ ...notice, detail: null, runId: run.id, createdAt: now }] },
      now,
    );
    const [delivery, ...others] = (await get("/notifications/deliveries")).json<DeliveryView[]>();
    assert.deepEqual(
      [delivery?.job_id, delivery?.job_name, delivery?.run_id, others.length],
      [job.id, "prices", run.id, 0],
    );
  });

  test("lanes with open work tell what waits there, why, and who has them", async (t) => {
    const served = await openTestApi(t);
    const { store } = served;
    const began = Date.now();
    const tasks = [newTask("1"), newTask("2"), newTask("3", { lane: "site:b.example" })];
    await store.startRun({ kind: "download", maxAttempts: 1, snapshot: {} }, tasks, began);
    await served.send("POST", "/sites/b.example/pause");
    await store.takeEngine(candidate("w"), TTL);
    const hold = (await store.takeLane("site:a.example", "w", TTL))!;
    await store.claim(hold, { limit: 1 }, Date.now());
    const first = await served.get("/queue/lanes?limit=1");
    const [a] = first.json<LaneView[]>();
    assert.deepEqual(
      [a?.lane, a?.sites, a?.counts, a?.runs, a?.owned],
      ["site:a.example", ["a.example"], { queued: 1, running: 1, retrying: 0 }, 1, true],
    );
    assert.equal(a?.oldest_queued_at, new Date(began).toISOString());
    const next = /<([^>]+)>/.exec(String(first.headers["link"]))?.[1] ?? "";
    const [b, ...rest] = (await served.get(next)).json<LaneView[]>();
    assert.deepEqual([b?.lane, b?.state, b?.owned, rest], ["site:b.example", "paused", false, []]);
    assert.ok(b?.waiting_for !== null);
  });

  test("however many lanes have work, an answer has 50 of them or as many as asked for, up to 1000, and the rest behind its link", async (t) => {
    const served = await openTestApi(t);
    const lanes = Array.from({ length: 1003 }, (_, n) => `site:s${String(n).padStart(4, "0")}.example`);
    const tasks = lanes.map((lane) => newTask(lane, { lane }));
    await served.store.startRun({ kind: "download", maxAttempts: 1, snapshot: {} }, tasks, Date.now());
    const namesIn = (answer: { json<T>(): T }) => answer.json<LaneView[]>().map(({ lane }) => lane);
    assert.deepEqual(namesIn(await served.get("/queue/lanes")), lanes.slice(0, 50));
    const most = await served.get("/queue/lanes?limit=1000");
    assert.deepEqual(namesIn(most), lanes.slice(0, 1000));
    const next = /<([^>]+)>; rel="next"/.exec(String(most.headers["link"]))?.[1] ?? "";
    const last = await served.get(next);
    assert.deepEqual([namesIn(last), last.headers["link"]], [lanes.slice(1000), undefined]);
    const tooMany = await served.get("/queue/lanes?limit=1001");
    assert.equal(tooMany.status, 422);
    assert.match(tooMany.text, /limit/);
  });

  test("the robots.txt of a site is shown as it is kept, with what it says to us", async (t) => {
    const served = await openTestApi(t);
    assert.equal((await served.get("/sites/a.example/robots")).status, 404);
    await served.send("PUT", "/sites/a.example", { max_concurrency: 1 });
    assert.deepEqual((await served.get("/sites/a.example/robots")).json<SiteRobotsView>().origins, []);
    const text =
      "User-agent: *\nDisallow: /private/*.html$\nAllow: /\nCrawl-delay: 2\nSitemap: https://a.example/map.xml\n";
    const fetchedAt = Date.parse("2030-01-01T00:00:00Z");
    await served.store.keepRobots(
      { origin: "https://a.example", site: "a.example", body: Buffer.from(text), crawlDelayMs: 2000, fetchedAt },
      { staleBefore: 0, uselessBefore: 0, mostBytes: 1_000_000 },
    );
    const shown = async (query: string) =>
      (await served.get(`/sites/a.example/robots${query}`)).json<SiteRobotsView>().origins[0];
    assert.deepEqual(await shown(""), {
      origin: "https://a.example",
      fetched_at: "2030-01-01T00:00:00.000Z",
      text,
      crawl_delay_seconds: 2,
      sitemaps: ["https://a.example/map.xml"],
      rules: ["Disallow: /private/*.html$", "Allow: /"],
      allowed: null,
    });
    assert.equal((await shown("?path=/private/a.html"))?.allowed, false);
    assert.equal((await shown("?path=/public"))?.allowed, true);
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CrawlHealth } from "../../src/orchestrator/crawls/read.ts";
import type { SiteView } from "../../src/orchestrator/sites/site-view.ts";
import { until } from "../chaos/orb.ts";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { page } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

/** No process of ours fits into that. */
const TIGHT = { APP_MAX_MEMORY_MB: "64" };

describe("a limit of memory that is too low", () => {
  test("lets one task at a time run, and what waits for it says so", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = async (...visit: Parameters<ReturnType<typeof page>>) => {
      await gate.promise;
      await page("Slow")(...visit);
    };
    await using site = await MisbehavingSite.start({ "/": slow });
    await using other = await MisbehavingSite.start({ "/": page("Other") });
    await using server = await TestServer.open(TIGHT);
    const first = await server.begin({ target_url: site.url("/"), strategy: "http" });
    await site.visited("/");
    const second = await server.begin({ target_url: other.url("/"), strategy: "http" });
    const waits = await until(async () => (await server.show(second.id)).waiting_for, "the run says why it waits");
    assert.equal(waits.reason, "worker_paused");
    assert.match(waits.message, /APP_MAX_MEMORY_MB is 64, .* at startup, .* set it to \d+ or more/);
    const { waiting_for: why } = (await server.api.get(`/sites/${other.name}`)).json<SiteView>();
    assert.deepEqual([why?.reason, why?.message], [waits.reason, waits.message]);
    await until(async () => (await server.show(first.id)).waiting_for === null, "what is under way waits for nothing");
    const ready = await server.api.get("/ready");
    assert.deepEqual([ready.status, ready.json<{ status: string }>().status], [200, "degraded"]);
    const { degraded, healthy } = (await server.api.get("/scraping/status")).json<CrawlHealth>();
    assert.deepEqual(degraded.map(({ what }) => what).toSorted(), ["memory", "worker"]);
    assert.equal(healthy, true, "it heals by itself");
    assert.equal(other.count("/"), 0);
    gate.resolve();
    for (const run of [first, second]) assert.equal((await server.ended(run.id)).status, "completed");
  });

  test("still lets browser pages open", browserGate, async () => {
    await using site = await MisbehavingSite.start({ "/1": page("One"), "/2": page("Two") });
    await using server = await TestServer.open(TIGHT);
    const runs = await Promise.all(
      ["/1", "/2"].map((path) => server.begin({ target_url: site.url(path), strategy: "browser" })),
    );
    for (const run of runs) assert.equal((await server.ended(run.id)).status, "completed");
  });
});

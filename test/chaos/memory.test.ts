import assert from "node:assert/strict";
import { test } from "node:test";
import type { CrawlHealth } from "../../src/orchestrator/crawls/read.ts";
import { Orb, until } from "./orb.ts";
import { Served } from "./served.ts";
import { Target } from "./target.ts";

test("a process that is above its limit of memory takes work but begins none, and says why", async () => {
  await using target = await Target.start(1);
  // No process of ours fits into that.
  await using orb = new Orb({ APP_MAX_MEMORY_MB: "64" });
  const tight = await Served.start(orb);
  await tight.process.said("work pauses until memory is free again");
  const run = await tight.begin({ target_url: target.url("/a"), strategy: "http" });
  const ready = await tight.api.get("/ready");
  assert.deepEqual([ready.status, ready.json<{ status: string }>().status], [200, "degraded"]);
  const { degraded, healthy } = (await tight.api.get("/scraping/status")).json<CrawlHealth>();
  assert.deepEqual(degraded.map(({ what }) => what).toSorted(), ["memory", "worker"]);
  assert.match(degraded.map(({ why }) => why).join(), /APP_MAX_MEMORY_MB is 64/);
  assert.equal(healthy, true, "it heals by itself");
  assert.equal((await tight.show(run.id)).status, "queued");
  assert.equal((await tight.terminated()).code, 0);
  assert.equal(target.hits.length, 0);
  orb.env["APP_MAX_MEMORY_MB"] = "8192";
  const roomy = await Served.start(orb);
  assert.equal((await roomy.ended(run.id)).status, "completed");
  await until(async () => (await roomy.api.get("/ready")).json<{ status: string }>().status === "ready", "all is well");
  await roomy.terminated();
  await orb.audit();
});

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { SiteView } from "../../src/orchestrator/sites/site-view.ts";
import { report } from "../chaos/orb.ts";
import { servicesGate } from "../support/services-kit.ts";
import { allTakePart, Cluster, Web } from "./kit.ts";

const PAGES = 120;
const AT_ONCE = 6;
const SHARDS = 3;

describe("one large site and many processes", servicesGate, () => {
  let cluster: Cluster;

  before(async () => {
    cluster = await Cluster.start({ workers: SHARDS });
  });

  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  test("a site in three shards is crawled by three workers, within its limit, although one is killed", async () => {
    await using web = await Web.start({ sites: 1, pages: PAGES, latencyMs: 150 });
    const { api } = cluster.api;
    const path = `/sites/${encodeURIComponent(web.target.sites[0] as string)}`;
    const set = async (change: Record<string, unknown>) => {
      const answer = await api.call("PATCH", path, change);
      assert.equal(answer.status, 200, answer.text);
      return answer.json<SiteView>();
    };
    const before = await set({ max_concurrency: AT_ONCE, shards: SHARDS });
    assert.deepEqual([before.shards, before.effective.shards, before.min_delay_ms], [SHARDS, SHARDS, 0]);

    // No page is answered before each shard has asked for one: however slow the machine is, they work at the same time.
    web.hold();
    const id = await cluster.crawl(web);
    await web.target.when(() => web.target.open >= SHARDS, "all shards ask at the same time");
    web.letGo();
    await allTakePart(cluster, web, 5);
    const victim = cluster.workers[1]!;
    await victim.process.killed();
    const left = web.target.hits.length;
    await web.target.when(() => web.target.hits.length > left + 20, "the others go on without it");
    // Nobody knows yet what became of the third shard: what it has is divided anew when its lease is over.
    await set({ shards: 2 });
    await cluster.assertWhole(web, await cluster.crawler.ended(id));
    assert.ok(web.mostPerSite <= AT_ONCE, `${web.mostPerSite} at a time`);
    const { shards, effective } = (await api.get(path)).json<SiteView>();
    assert.deepEqual([shards, effective.shards], [2, 2]);
    report("requests", { ...Object.fromEntries(web.askedBy), "most at once": web.mostPerSite });
  });
});

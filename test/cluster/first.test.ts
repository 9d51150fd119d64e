import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { report, until } from "../chaos/orb.ts";
import { servicesGate } from "../support/services-kit.ts";
import { allTakePart, Cluster, terminated, Web } from "./kit.ts";

describe("many processes on Postgres and Redis", servicesGate, () => {
  test("a crawl that was given to an API without a worker is done by all workers", async () => {
    await using web = await Web.start({ sites: 6, pages: 15, latencyMs: 10 });
    await using cluster = await Cluster.start({
      workers: 2,
      env: { APP_MAX_PER_HOST: "3", APP_LEASE_TTL_SECONDS: "300" },
    });
    web.hold();
    const id = await cluster.crawl(web);
    await allTakePart(cluster, web, 2);
    const board = await fetch(`${cluster.api.api.url}/admin/queues/api/queues?activeQueue=sites`);
    const { queues } = (await board.json()) as { queues: { name: string; jobs: { name: string }[] }[] };
    assert.ok(queues[0]?.jobs[0]?.name.startsWith("site:"), `the board shows its tickets: ${JSON.stringify(queues)}`);
    web.letGo();
    const crawled = await cluster.crawler.ended(id);
    await cluster.assertWhole(web, crawled);
    assert.equal(web.target.hits.length, web.urls().length, "no page was asked for twice");
    assert.ok(web.mostPerSite <= 3, `at most three at a time per site, over all workers: ${web.mostPerSite}`);
    const workers = await until(async () => {
      const list = await cluster.registered();
      return list.length === cluster.workers.length && list;
    }, "both are known");
    assert.deepEqual(
      workers.map(({ engine, role }) => `${engine} ${role}`),
      ["bullmq engine", "bullmq engine"],
    );
    report("requests", Object.fromEntries(web.askedBy));
    for (const worker of cluster.workers) assert.equal((await terminated(worker)).code, 0, worker.process.story());
  });

  test("of two workers that start with different keys, one works [slow]", async () => {
    await using cluster = await Cluster.start({ workers: 0, env: { APP_LEASE_TTL_SECONDS: "300" } });
    const both = ["one", "two"].map((key) => cluster.addWorker({ APP_SECRET_KEY: `a-key-that-is-long-enough-${key}` }));
    await Promise.any(both);
    const refused = await until(
      () => cluster.workers.find(({ process }) => !process.alive),
      "of two with different keys one is refused",
    );
    assert.match(
      (await refused.process.end()).stderr,
      /APP_SECRET_KEY differs from the key of the workers of this depl/,
    );
    await Promise.allSettled(both);
    await until(async () => (await cluster.registered()).length === 1, "one works");
  });
});

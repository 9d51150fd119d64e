import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "../chaos/orb.ts";
import { servicesGate } from "../support/services-kit.ts";
import { Cluster, type Worker } from "./kit.ts";
import { crawlThrough, ENV, living, times } from "./ordeal.ts";

/** A crawl goes on through whatever happens to those who work on it; one cluster bears all of it. */
describe("workers break while a cluster works", servicesGate, () => {
  let cluster: Cluster;

  before(async () => {
    cluster = await Cluster.start({ workers: 3, env: ENV });
  });

  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  test("workers are killed one after the other, and replaced", async () => {
    const replaced: Promise<Worker>[] = [];
    await crawlThrough(cluster, "workers killed", async ({ web, harmed, progress }) => {
      const kills = times(2, 20);
      for (let n = 0; n < kills; n += 1) {
        await progress((n + 1) / (kills + 3));
        const victim = await until(
          () => living(cluster).find(({ name }) => web.askedBy.has(name)),
          "one that lives takes part",
        );
        harmed.add(victim);
        await victim.process.killed();
        // Not waited for: the others go on without it.
        replaced.push(cluster.addWorker());
      }
    });
    await Promise.all(replaced);
  });

  test("one is frozen until others have its lanes, and wakes up in the middle of their work", async () => {
    await crawlThrough(cluster, "a worker frozen", async ({ web, harmed, progress }) => {
      for (let n = 0; n < times(1, 5); n += 1) {
        const victim = living(cluster)[n % 3] as Worker;
        harmed.add(victim);
        const { hits } = web.target;
        const lastOf = (site: string) => hits.findLast((hit) => hit.site === site)?.agent ?? "";
        const own = web.target.sites.filter((site) => lastOf(site).includes(`(${victim.name})`));
        assert.ok(own.length > 0, `${victim.name} owns some of the sites`);
        victim.process.kill("SIGSTOP");
        await until(() => own.some((site) => !lastOf(site).includes(`(${victim.name})`)), "another asks its sites");
        victim.process.kill("SIGCONT");
        // It knows by itself, and joins the others under another name.
        await victim.process.said("lost its lanes");
        await progress((n + 1) / times(4, 8));
      }
    });
  });
});

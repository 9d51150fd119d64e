import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { until } from "../chaos/orb.ts";
import { servicesGate } from "../support/services-kit.ts";
import { Cluster, LEASE_S, type Worker } from "./kit.ts";
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
    await crawlThrough(cluster, "a worker frozen", async ({ harmed }) => {
      for (let n = 0; n < times(1, 5); n += 1) {
        const victim = living(cluster)[n % 3] as Worker;
        harmed.add(victim);
        victim.process.kill("SIGSTOP");
        await wait(LEASE_S * 1500);
        victim.process.kill("SIGCONT");
        // It knows by itself, and joins the others under another name.
        await victim.process.said("lost its lanes");
      }
    });
  });
});

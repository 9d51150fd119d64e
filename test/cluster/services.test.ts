import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Redis } from "ioredis";
import pg from "pg";
import { Cable } from "../support/cable.ts";
import { FULL } from "../chaos/orb.ts";
import { servicesGate } from "../support/services-kit.ts";
import { Cluster, LEASE_S } from "./kit.ts";
import { crawlThrough, ENV, times } from "./ordeal.ts";

/** Work goes on when so many more pages are asked for. */
const MORE = 16;

/** A crawl on several workers goes on through whatever happens to Postgres and Redis; one cluster bears all of it. */
describe("Postgres and Redis break while a cluster works", servicesGate, () => {
  let cluster: Cluster;
  let cable: Cable;

  before(async () => {
    cluster = await Cluster.start({
      workers: times(2, 3),
      env: ENV,
      via: {
        postgres: async (address) => {
          const url = new URL(address);
          cable = await Cable.to(Number(url.port));
          url.port = String(cable.port);
          return url.href;
        },
      },
    });
  });

  after(async () => {
    cable?.cut();
    await cluster?.[Symbol.asyncDispose]();
  });

  test("Redis is wiped, and the lanes are found again", async () => {
    await crawlThrough(cluster, "Redis wiped", async (ordeal) => {
      for (let n = 0; n < times(2, 10); n += 1) {
        const redis = new Redis(cluster.redis.url);
        await redis.flushall();
        redis.disconnect();
        await ordeal.progress((n + 1) / times(4, 12));
      }
    });
  });

  test("Redis stands still for a while: what is owned goes on, and nothing is lost", async () => {
    await crawlThrough(cluster, "Redis stopped", async (ordeal) => {
      await cluster.redis.stop();
      await ordeal.someMore(MORE);
      await ordeal.answers();
      await wait(times(4000, 20_000));
      await cluster.redis.start();
    });
  });

  test("Postgres crashes and starts again", async () => {
    await crawlThrough(cluster, "Postgres crashed", async (ordeal) => {
      for (let n = 0; n < times(1, 5); n += 1) {
        await cluster.postgres.stop("SIGQUIT");
        await ordeal.answers();
        await cluster.postgres.start();
        await ordeal.someMore(MORE);
      }
    });
  });

  // By default the store alone goes through such storms (test/store/postgres-faults.test.ts).
  test("connections to Postgres are ended again and again", { skip: !FULL && "only in the full run" }, async () => {
    await crawlThrough(cluster, "connections ended", async (ordeal) => {
      const admin = new pg.Client({ connectionString: cluster.postgres.url });
      await admin.connect();
      try {
        for (let n = 0; n < times(8, 40); n += 1) {
          await admin.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'orbweaver'",
          );
          await wait(150);
          if (n % 4 === 3) await ordeal.someMore(MORE);
        }
      } finally {
        await admin.end();
      }
    });
  });

  test("nothing comes through to Postgres or back for a while", async () => {
    await crawlThrough(cluster, "Postgres out of reach", async ({ answers }) => {
      cable.freeze();
      await answers();
      // Longer than whatever they own is theirs.
      await wait((LEASE_S + times(1, 10)) * 1000);
      cable.thaw();
    });
  });

  test("all of them end when they are asked to, and keep no connection", async () => {
    const family = [cluster.api.process, ...cluster.workers.map(({ process }) => process)];
    for (const process of family) process.kill("SIGTERM");
    for (const process of family) assert.equal((await process.end()).code, 0, process.story());
    const admin = new pg.Client({ connectionString: cluster.postgres.url });
    await admin.connect();
    const left = await admin.query("SELECT query FROM pg_stat_activity WHERE application_name = 'orbweaver'");
    await admin.end();
    assert.deepEqual(left.rows, []);
  });
});

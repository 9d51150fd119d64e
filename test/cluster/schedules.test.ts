import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { MISSED_AFTER_MS } from "../../src/domain/run/schedule.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { report, until } from "../chaos/orb.ts";
import { assertAccounted, occurrencesOf, untilStarted } from "../chaos/schedule-occurrences.ts";
import { Target } from "../chaos/target.ts";
import { servicesGate } from "../support/services-kit.ts";
import { Cluster, type Worker } from "./kit.ts";

function leaderOf({ workers }: Cluster, store: Store): Promise<Worker> {
  return until(async () => {
    const holder = await store.engineHolder();
    return workers.find(({ process }) => process.alive && process.pid === holder?.pid);
  }, "one of the workers leads");
}

describe("schedules of a cluster", servicesGate, () => {
  let cluster: Cluster;

  before(async () => {
    // Whatever one that is gone has is its own for longer than this test takes.
    cluster = await Cluster.start({ workers: 2, env: { APP_LEASE_TTL_SECONDS: "60" } });
  });

  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  test("no time is missed or doubled when the one that leads is frozen, wakes up, and is killed", async () => {
    await using target = await Target.start(1);
    const schedule = { cron: "* * * * * *", overlap: "cancel" } as const;
    const job = await cluster.api.job({ target_url: target.url("/"), strategy: "http", schedule });
    const store = await openPostgresStore({ url: cluster.postgres.url, clock: systemClock, log: silentLog });
    try {
      await untilStarted(store, job.id, 1);
      const frozen = await leaderOf(cluster, store);
      frozen.process.kill("SIGSTOP");
      await untilStarted(store, job.id, 2);
      frozen.process.kill("SIGCONT");
      await untilStarted(store, job.id, 1);
      await (await leaderOf(cluster, store)).process.killed();
      await untilStarted(store, job.id, 2);
      assert.equal((await cluster.api.api.post(`/schedules/${job.id}/pause`)).status, 200);
      const counts = await assertAccounted(store, job.id);
      const occurrences = await occurrencesOf(store, job.id);
      const latest = Math.max(...occurrences.map(({ at, notedAt }) => notedAt - at));
      report("a schedule of every second", { ...counts, "latest start ms": latest });
      // Unless the machine was so slow that nobody came to look for as long as it takes to be too late.
      assert.ok(counts["missed"] === 0 || latest > MISSED_AFTER_MS, "somebody was there for each of them");
      await cluster.orb.audit();
    } finally {
      await store.close();
    }
  });
});

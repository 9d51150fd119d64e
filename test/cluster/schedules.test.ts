import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import type { Store } from "../../src/store/port.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { report } from "../chaos/orb.ts";
import { assertAccounted, slotsOf, started } from "../chaos/slots.ts";
import { Target } from "../chaos/target.ts";
import { servicesGate } from "../support/services-kit.ts";
import { Cluster, type Worker } from "./kit.ts";

async function leaderOf({ workers }: Cluster, store: Store): Promise<Worker> {
  const holder = await store.engineHolder();
  const leader = workers.find(({ process }) => process.pid === holder?.pid);
  assert.ok(leader !== undefined, "one of the workers leads");
  return leader;
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
      await started(store, job.id, 1);
      const frozen = await leaderOf(cluster, store);
      frozen.process.kill("SIGSTOP");
      await started(store, job.id, 2);
      frozen.process.kill("SIGCONT");
      await started(store, job.id, 1);
      await (await leaderOf(cluster, store)).process.killed();
      await started(store, job.id, 2);
      assert.equal((await cluster.api.api.post(`/schedules/${job.id}/pause`)).status, 200);
      const counts = await assertAccounted(store, job.id);
      const slots = await slotsOf(store, job.id);
      const latest = Math.max(...slots.map(({ at, notedAt }) => notedAt - at));
      report("a schedule of every second", { ...counts, "latest start ms": latest });
      assert.equal(counts["missed"], 0, "somebody was there for each of them");
      await cluster.orb.audit();
    } finally {
      await store.close();
    }
  });
});

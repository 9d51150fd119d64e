import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { FULL, Orb, report } from "./orb.ts";
import { Served } from "./served.ts";
import { assertAccounted, SECOND, occurrencesOf, untilStarted } from "./schedule-occurrences.ts";
import { Target } from "./target.ts";

const KILLS = FULL ? 10 : 3;

describe("a schedule of every second", () => {
  test("over restarts after kill -9 each time starts at most one run, and the missed ones are told", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb();
    let served = await Served.start(orb);
    const job = await served.job({ target_url: target.url("/"), strategy: "http", schedule: "* * * * * *" });
    const store = openSqliteStore({ path: orb.database, clock: systemClock });
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await untilStarted(store, job.id, 2);
        await served.killed();
        // Long enough that two occurrences are missed.
        await new Promise((resolve) => setTimeout(resolve, 3 * SECOND));
        served = await Served.start(orb);
      }
      await untilStarted(store, job.id, 2);
      assert.equal((await served.api.post(`/schedules/${job.id}/pause`)).status, 200);
      const { code } = await served.terminated();
      assert.equal(code, 0);
      const counts = await assertAccounted(store, job.id);
      const gaps = (await occurrencesOf(store, job.id)).filter(({ outcome }) => outcome === "missed");
      assert.ok(gaps.length >= KILLS, `each gap is told: ${JSON.stringify(gaps)}`);
      report("a schedule of every second", counts);
    } finally {
      await store.close();
    }
    await orb.audit();
  });

  test("two processes on one database start each time at most once, whichever of them dies", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb();
    const served = await Served.start(orb);
    const schedule = { cron: "* * * * * *", overlap: "cancel" } as const;
    const job = await served.job({ target_url: target.url("/"), strategy: "http", schedule });
    const store = openSqliteStore({ path: orb.database, clock: systemClock });
    try {
      const standby = orb.start(["worker"]);
      await standby.said("standing by");
      await untilStarted(store, job.id, 2);
      await served.killed();
      await standby.said("working on runs");
      const third = orb.start(["worker"]);
      await third.said("standing by");
      await untilStarted(store, job.id, 2);
      await standby.killed();
      await third.said("working on runs");
      await untilStarted(store, job.id, 2);
      await third.killed();
      report("with a standby", await assertAccounted(store, job.id));
    } finally {
      await store.close();
    }
  });
});

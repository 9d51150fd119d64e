import assert from "node:assert/strict";
import { test } from "node:test";
import { plainRecipe } from "../../src/domain/run/recipe.ts";
import { newJob } from "../contract/store/jobs.ts";
import { DONE, Kit, LANE, newTask } from "../contract/store/kit.ts";
import { Child, sqliteHarness } from "./bench.ts";

const URL = "https://a.example/";
const recipe = { ...plainRecipe("http", { fields: { price: ".price" } }), schedule: { cron: "0 6 * * *" } };

/** A run of the job with so many prices among its hundred records. */
async function endedRun(kit: Kit, jobId: string, prices: number): Promise<string> {
  kit.pass(1000);
  const run = { kind: "page" as const, maxAttempts: 1, snapshot: { url: URL, recipe }, jobId };
  const { created } = await kit.store.startRun(run, [newTask("p")], kit.now);
  const lane = await kit.take("A", LANE);
  const results = Array.from({ length: 100 }, (_, n) => ({ price: n < prices ? `€ ${n}` : null }));
  await kit.work(lane, { ...DONE, results } as typeof DONE);
  await kit.store.releaseLane(lane);
  return created.id;
}

async function profiled(path: string): Promise<void> {
  await using child = new Child("profile-runs", path);
  assert.equal(await child.line(), "ready");
  child.say("go");
  assert.equal(await child.line(), "done");
  await child.end();
}

/** The first statement of the transaction, and others up to its last ones. */
const STATEMENTS = [
  "SET health_generation",
  "INSERT INTO run_health",
  "INSERT INTO events",
  "INSERT INTO alerts",
  "schedule_paused_at",
];

test("a process that is killed while it ends a degraded run leaves it open, and the next one fails it once [slow]", async () => {
  const harness = await sqliteHarness();
  try {
    const kit = new Kit(await harness.open(), harness);
    const job = newJob("prices", { recipe, onDegraded: "fail" });
    const { id } = (await kit.store.createJob(job, kit.now)).created;
    for (let run = 0; run < 4; run += 1) {
      await endedRun(kit, id, 98);
      await profiled(harness.path);
    }
    const degraded = await endedRun(kit, id, 30);
    for (const statement of ["INSERT INTO run_health", "UPDATE runs SET status"]) {
      await using child = new Child("profile-runs", harness.path, statement);
      assert.equal(await child.line(), "ready");
      child.say("go");
      assert.equal(await child.line(), "stopped", statement);
      await child.kill();
      assert.equal((await kit.store.run(degraded))?.status, "running", statement);
      await kit.expectClean();
    }
    await profiled(harness.path);
    await profiled(harness.path);
    const types = (await kit.store.events(degraded, { limit: 100 })).map(({ type }) => type);
    assert.deepEqual(types.slice(-2), ["extraction.degraded", "run.failed"]);
    assert.equal((await kit.store.run(degraded))?.status, "failed");
    await kit.expectClean();
  } finally {
    await harness.close();
  }
});

test("a process that is killed while it compares records leaves all of the verdict or nothing, and it is written once [slow]", async () => {
  const harness = await sqliteHarness();
  try {
    const kit = new Kit(await harness.open(), harness);
    const job = newJob("prices", { recipe, nextAt: kit.now + 9e9, onDegraded: "pause_schedule" });
    const { id } = (await kit.store.createJob(job, kit.now)).created;
    for (let run = 0; run < 4; run += 1) await endedRun(kit, id, 98);
    await profiled(harness.path);
    assert.equal((await kit.store.runHealth(id, { limit: 10 })).length, 4);
    const degraded = await endedRun(kit, id, 30);
    for (const statement of STATEMENTS) {
      await using child = new Child("profile-runs", harness.path, statement);
      assert.equal(await child.line(), "ready");
      child.say("go");
      assert.equal(await child.line(), "stopped", statement);
      await child.kill();
      assert.equal((await kit.store.run(degraded))?.degraded, null, statement);
      assert.deepEqual(await kit.store.runsWithoutHealth(10), [{ runId: degraded, generation: 1 }]);
      assert.equal((await kit.store.job(id))?.schedulePausedAt, null);
      await kit.expectClean();
    }
    await profiled(harness.path);
    await profiled(harness.path);
    assert.equal((await kit.store.run(degraded))?.degraded?.[0]?.metric, "coverage");
    assert.equal((await kit.store.runHealth(id, { limit: 10 })).length, 5);
    const types = (await kit.store.events(degraded, { limit: 100 })).map(({ type }) => type);
    assert.deepEqual(types.slice(-2), ["extraction.degraded", "schedule.paused"]);
    assert.equal(types.filter((type) => type === "extraction.degraded").length, 1);
    assert.equal((await kit.store.alerts({ limit: 10 })).length, 1);
    assert.equal(await kit.store.countDegradedRuns(), 1);
    await kit.expectClean();
  } finally {
    await harness.close();
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { ProfileBuilder } from "../../src/domain/health/profile.ts";
import type { RepairProposal } from "../../src/domain/health/repair.ts";
import { rulesOfJob } from "../../src/domain/health/run-records.ts";
import { plainRecipe } from "../../src/domain/run/recipe.ts";
import { newJob } from "../contract/store/jobs.ts";
import { DONE, Kit, LANE, newTask } from "../contract/store/kit.ts";
import { Child, sqliteHarness } from "./bench.ts";

const recipe = plainRecipe("http", { fields: { price: ".price" } });
const RULES = { fields: { price: ".amount" } };
const proposal: RepairProposal = {
  fields: [{ field: "price", old_rule: ".price", new_rule: ".amount", confidence: 1, reason: null, values: [] }],
  pages: { paired: 3, others: 5 },
  reason: null,
};

/** A run of the job with so many prices among its hundred records, compared with those before. */
async function comparedRun(kit: Kit, jobId: string, prices: number, rules = "rules-1"): Promise<string> {
  kit.pass(1000);
  const snapshot = { url: "https://a.example/", recipe };
  const run = { kind: "page" as const, maxAttempts: 1, snapshot, jobId };
  const { created } = await kit.store.startRun(run, [newTask("p")], kit.now);
  const lane = await kit.take("A", LANE);
  const results = Array.from({ length: 100 }, (_, n) => ({ price: n < prices ? `€ ${n}` : null }));
  await kit.work(lane, { ...DONE, results } as typeof DONE);
  await kit.store.releaseLane(lane);
  const builder = new ProfileBuilder();
  for (const record of results) builder.add(record, "t", null);
  const found = { rules, profile: builder.profile() };
  await kit.store.recordRunHealth({ runId: created.id, generation: 1 }, found, { deliver: false }, kit.now);
  return created.id;
}

async function openRepair(kit: Kit): Promise<{ job: string; run: string }> {
  const job = (await kit.store.createJob(newJob("prices", { recipe }), kit.now)).created.id;
  for (let run = 0; run < 3; run += 1) await comparedRun(kit, job, 98);
  const run = await comparedRun(kit, job, 10);
  await kit.store.recordRepair(job, { runId: run, version: 1, state: "open", proposal }, {}, kit.now);
  return { job, run };
}

const filled = async (kit: Kit, run: string) =>
  (await kit.store.results(run, { limit: 200 })).filter(({ data }) => (data as { price: unknown }).price !== null)
    .length;

const CASES = [
  {
    how: "person",
    statements: ["UPDATE jobs SET recipe", "INSERT INTO job_versions", "SET state = 'accepted'", "INSERT INTO events"],
  },
  {
    how: "reread",
    statements: [
      "UPDATE jobs SET recipe",
      "DELETE FROM results",
      "INSERT INTO results",
      "UPDATE runs SET snapshot",
      "SET state = 'accepted'",
    ],
  },
  {
    how: "automatic",
    statements: [
      "INSERT INTO repairs",
      "INSERT INTO job_versions",
      "DELETE FROM results",
      "INSERT INTO results",
      "UPDATE runs SET snapshot",
      "UPDATE run_health SET rules",
      "INSERT INTO alerts",
      "INSERT INTO events",
    ],
  },
] as const;

for (const { how, statements } of CASES)
  test(`a process that is killed while it accepts a repair (${how}) leaves the job, its version and its records as they were, and the next one accepts it [slow]`, async () => {
    const harness = await sqliteHarness();
    try {
      const kit = new Kit(await harness.open(), harness);
      const { job, run } = await openRepair(kit);
      for (const statement of statements) {
        await using child = new Child("accept-repair", harness.path, how, statement);
        assert.equal(await child.line(), "ready");
        child.say("go");
        assert.equal(await child.line(), "stopped", statement);
        await child.kill();
        const versions = await kit.store.jobVersions(job, { limit: 10 });
        assert.deepEqual(
          [(await kit.store.job(job))?.recipe, versions.length, (await kit.store.repair(job))?.state],
          [recipe, 1, "open"],
          statement,
        );
        assert.deepEqual([await filled(kit, run), (await kit.store.run(run))?.degraded?.length], [10, 1], statement);
        await kit.expectClean();
      }
      await using child = new Child("accept-repair", harness.path, how);
      assert.equal(await child.line(), "ready");
      child.say("go");
      assert.equal(await child.line(), "done");
      await child.end();
      const [newest] = await kit.store.jobVersions(job, { limit: 1 });
      assert.deepEqual([newest?.version, newest?.author], [2, "repair"]);
      assert.deepEqual((await kit.store.job(job))?.recipe, { ...recipe, ...RULES });
      assert.equal((await kit.store.repair(job))?.state, "accepted");
      assert.equal(await filled(kit, run), how === "person" ? 10 : 100);
      assert.equal((await kit.store.events(run, { limit: 100 })).at(-1)?.type, "repair.accepted");
      await kit.expectClean();
    } finally {
      await harness.close();
    }
  });

test("a process that is killed while it restores rules from before a repair leaves the job and its baseline as they were [slow]", async () => {
  const harness = await sqliteHarness();
  try {
    const kit = new Kit(await harness.open(), harness);
    const job = (await kit.store.createJob(newJob("prices", { recipe }), kit.now)).created;
    const repaired = { ...recipe, ...RULES };
    const rules = { before: rulesOfJob(job)!, after: rulesOfJob({ ...job, recipe: repaired })! };
    for (let run = 0; run < 3; run += 1) await comparedRun(kit, job.id, 98, rules.before);
    const run = await comparedRun(kit, job.id, 10, rules.before);
    await kit.store.recordRepair(job.id, { runId: run, version: 1, state: "open", proposal }, {}, kit.now);
    await kit.store.acceptRepair(job.id, 1, { recipe: repaired, rules, reread: null }, kit.now);
    const state = async () => {
      const health = await kit.store.runHealth(job.id, { limit: 10 });
      const baseline = health.filter(({ isBaseline }) => isBaseline).map((one) => one.rules);
      const versions = await kit.store.jobVersions(job.id, { limit: 10 });
      return [(await kit.store.job(job.id))?.recipe, versions.length, baseline];
    };
    const before = [repaired, 2, Array.from({ length: 3 }, () => rules.after)];
    assert.deepEqual(await state(), before);
    for (const statement of ["UPDATE jobs SET name", "INSERT INTO job_versions", "UPDATE run_health SET rules"]) {
      await using child = new Child("restore-version", harness.path, statement);
      assert.equal(await child.line(), "ready");
      child.say("go");
      assert.equal(await child.line(), "stopped", statement);
      await child.kill();
      assert.deepEqual(await state(), before, statement);
      await kit.expectClean();
    }
    await using child = new Child("restore-version", harness.path);
    assert.equal(await child.line(), "ready");
    child.say("go");
    assert.equal(await child.line(), "done");
    await child.end();
    assert.deepEqual(await state(), [recipe, 3, Array.from({ length: 3 }, () => rules.before)]);
    await kit.expectClean();
  } finally {
    await harness.close();
  }
});

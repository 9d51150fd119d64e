import assert from "node:assert/strict";
import type { PageFixture } from "../../../src/domain/page/fixture.ts";
import type { NewJob } from "../../../src/store/records/job-records.ts";
import { newJob } from "./jobs.ts";
import { DONE, FAILED, type Kit, newTask, type Scenario, type Verdict } from "./kit.ts";

const hashOf = (name: string) => Buffer.from(name.padEnd(32, ".")).toString("hex");

function fixture(name: string, more: Partial<PageFixture> = {}): PageFixture {
  return {
    url: `https://a.example/${name}`,
    hash: hashOf(name),
    size: 100,
    filled: 2,
    rules: "rules-1",
    contentType: "text/html",
    form: "bytes",
    recordCount: 1,
    records: JSON.stringify([{ title: name }]),
    isSealed: false,
    ...more,
  };
}

const makeJob = async (kit: Kit, more: Partial<NewJob> = {}) =>
  (await kit.store.createJob(newJob(null, { kind: "crawl", ...more }), kit.now)).created.id;

/** A run of the job whose pages end with these fixtures, one after the other. */
async function run(kit: Kit, jobId: string, pages: readonly PageFixture[], verdict: Verdict = DONE): Promise<string> {
  kit.pass(1000);
  const { created } = await kit.store.startRun(
    { kind: "crawl", maxAttempts: 1, snapshot: { options: {} }, jobId },
    pages.map(({ url }) => newTask(url)),
    kit.now,
  );
  await kit.store.admitCrawls(1000, kit.now);
  const lane = await kit.take("A");
  for (const page of pages) {
    const { tasks } = await kit.claim(lane, 1);
    await kit.report(lane, tasks, verdict, { fixture: { ...page, url: tasks[0]?.key ?? page.url } });
  }
  await kit.store.releaseLane(lane);
  return created.id;
}

const kept = async (kit: Kit, jobId: string) =>
  ((await kit.store.fixtures(jobId))?.list ?? []).map(({ url }) => url.slice("https://a.example/".length));

/** Files that the sweep would remove. */
const orphaned = async (kit: Kit) => (await kit.store.orphanedFiles({ limit: 100 })).orphaned.toSorted();

export function fixtureScenarios(scenario: Scenario): void {
  scenario("a run's good page stays with its job, as it was written", async (kit) => {
    const job = await makeJob(kit);
    const runId = await run(kit, job, [fixture("a")]);
    const { limit, list } = (await (await kit.open()).fixtures(job)) ?? { limit: 0, list: [] };
    const [first] = list;
    assert.ok(first !== undefined);
    const { records, ...rest } = fixture("a");
    assert.deepEqual(first, { ...rest, number: first.number, runId, fetchedAt: kit.now });
    assert.equal(limit, 5);
    assert.equal(await kit.store.fixtureRecords(first.number), records);
    assert.deepEqual(await kit.store.fixtureFiles(0, 10), [{ number: first.number, hash: hashOf("a"), size: 100 }]);
    assert.equal(await kit.store.fixtures("00000000-0000-4000-8000-000000000000"), null);
  });

  scenario("pages that fail, and runs without a job, save none", async (kit) => {
    const job = await makeJob(kit);
    await run(kit, job, [fixture("a")], FAILED);
    assert.deepEqual(await kept(kit, job), []);
  });

  scenario("the first run fills the set, each later one replaces the oldest page", async (kit) => {
    const job = await makeJob(kit, { fixtures: 2 });
    await run(kit, job, [fixture("a"), fixture("b"), fixture("c")]);
    const first = await kept(kit, job);
    assert.equal(first.length, 2);
    await run(kit, job, [fixture("d"), fixture("e")]);
    const second = await kept(kit, job);
    assert.equal(second.length, 2);
    assert.equal(second.filter((name) => first.includes(name)).length, 1, "one new page");
    const gone = first.find((name) => !second.includes(name)) ?? "";
    assert.deepEqual(await orphaned(kit), [hashOf(gone)], "its file is swept");
  });

  scenario("none is kept where the job wants none, and fewer when it wants fewer", async (kit) => {
    const job = await makeJob(kit, { fixtures: 0 });
    await run(kit, job, [fixture("a")]);
    assert.deepEqual(await kept(kit, job), []);
    await kit.store.updateJob(job, { fixtures: 3 }, kit.now);
    await run(kit, job, [fixture("a"), fixture("b"), fixture("c")]);
    assert.equal((await kept(kit, job)).length, 3);
    await kit.store.updateJob(job, { name: "other" }, kit.now);
    assert.equal((await kept(kit, job)).length, 3);
    await kit.store.updateJob(job, { fixtures: 1 }, kit.now);
    assert.equal((await kept(kit, job)).length, 1);
    assert.equal((await orphaned(kit)).length, 2);
  });

  scenario("a saved page is deleted by its number, of its own job alone", async (kit) => {
    const [job, other] = [await makeJob(kit), await makeJob(kit)];
    await run(kit, job, [fixture("a")]);
    const number = (await kit.store.fixtures(job))?.list[0]?.number ?? 0;
    assert.equal(await kit.store.deleteFixture(other, number), false);
    assert.equal(await kit.store.deleteFixture(job, number), true);
    assert.equal(await kit.store.deleteFixture(job, number), false);
    assert.equal(await kit.store.fixtureRecords(number), null);
    assert.deepEqual(await orphaned(kit), [hashOf("a")]);
  });

  scenario("a file stays while a saved page references it, and goes with its job", async (kit) => {
    const job = await makeJob(kit);
    // As handlers do before they write the file.
    await kit.store.recordOrphanedFiles([hashOf("a"), hashOf("lost")]);
    const artifact = { hash: hashOf("a"), size: 100, contentType: null, url: "https://a.example/a" };
    const runId = await run(kit, job, [fixture("a")], { ...DONE, artifacts: [artifact] } as Verdict);
    assert.equal(await kit.store.isOrphaned(hashOf("a")), false);
    await kit.store.deleteRun(runId, kit.now);
    while ((await kit.store.removeExpired(100)) > 0);
    assert.deepEqual(await orphaned(kit), [hashOf("lost")], "a candidate whose row was never written goes");
    assert.equal((await kit.store.storedBytes({ after: 0, limit: 10 })).bytes, 100);
    await kit.store.deleteJob(job, kit.now);
    assert.deepEqual(await kit.store.fixtureFiles(0, 10), []);
    assert.deepEqual(await orphaned(kit), [hashOf("a"), hashOf("lost")].toSorted());
  });
}

import assert from "node:assert/strict";
import { type PageChange, scopeHashOf } from "../../../src/domain/page/page-change.ts";
import { newJob } from "./jobs.ts";
import { failure } from "../../../src/domain/run/failure.ts";
import { DONE, FAILED, type Kit, newTask, type Scenario, type Verdict } from "./kit.ts";

const BROKEN: Verdict = { kind: "failed", failure: failure("http_server_error", "broken", { httpStatus: 500 }) };

const makeJob = async (kit: Kit) => (await kit.store.createJob(newJob(null, { kind: "crawl" }), kit.now)).created.id;
const OPTIONS = { urls: ["https://a.example/"], max_depth: 2 };

/** A run of the job, of which each page says this, or is not there any more. */
async function run(
  kit: Kit,
  jobId: string,
  pages: Readonly<Record<string, string | "missing" | "broken">>,
  options: object = OPTIONS,
): Promise<string> {
  const { created } = await kit.store.startRun(
    { kind: "crawl", maxAttempts: 1, snapshot: { options }, jobId },
    Object.keys(pages).map((key) => newTask(key)),
    kit.now,
  );
  await kit.store.admitCrawls(1000, kit.now);
  const compares = (await kit.store.run(created.id))?.facts.changes !== undefined;
  const lane = await kit.take("A");
  const { tasks } = await kit.claim(lane);
  for (const task of tasks) {
    const said = pages[task.key]!;
    if (said === "missing") await kit.report(lane, [task], FAILED, {});
    else if (said === "broken") await kit.report(lane, [task], BROKEN, {});
    else {
      const digest = said.padEnd(32, "0");
      const before = await kit.store.pageDigest(jobId, task.key);
      const change: PageChange = before === null ? "new" : before === digest ? "unchanged" : "changed";
      const page = {
        key: task.key,
        scopeHash: scopeHashOf({ ...options }),
        isRedirected: false,
        url: `https://a.example/${task.key}`,
        digest,
        change: compares ? change : null,
      };
      await kit.report(lane, [task], DONE, { page });
    }
  }
  await kit.store.releaseLane(lane);
  return created.id;
}

const changesOf = async (kit: Kit, id: string) => (await kit.store.run(id))?.facts.changes;
const listOf = async (kit: Kit, id: string) =>
  (await kit.store.pageChanges(id, { limit: 100 })).map(({ change, url }) => `${change} ${url.slice(-1)}`).toSorted();

export function pageStateScenarios(scenario: Scenario): void {
  scenario(
    "the first run has nothing to compare with; the next one says what is new, changed and gone",
    async (kit) => {
      const job = await makeJob(kit);
      const first = await run(kit, job, { p: "aa", q: "bb", r: "cc", s: "dd" });
      assert.equal(await changesOf(kit, first), undefined);
      const next = await run(kit, job, { p: "aa", q: "b2", r: "missing", t: "ee" });
      assert.deepEqual(await changesOf(kit, next), {
        compared_with: first,
        new: 1,
        changed: 1,
        unchanged: 1,
        gone: 2,
        unknown: 0,
      });
      assert.deepEqual(await listOf(kit, next), ["changed q", "gone r", "gone s", "new t"]);
      assert.deepEqual(
        [await kit.store.pageDigest(job, "s"), await kit.store.pageDigest(job, "q")],
        [null, "b2".padEnd(32, "0")],
      );
      const last = await run(kit, job, { p: "aa", q: "b2", t: "ee" });
      assert.deepEqual(await listOf(kit, last), [], "what is gone is told once");
    },
  );

  scenario("a run with failures, or with other options, does not call pages gone that it did not see", async (kit) => {
    const job = await makeJob(kit);
    await run(kit, job, { p: "aa", q: "bb", r: "cc" });
    const broken = await run(kit, job, { p: "aa", q: "broken" });
    assert.deepEqual([(await changesOf(kit, broken))?.unknown, await listOf(kit, broken)], [2, []]);
    const narrow = await run(kit, job, { p: "aa" }, { ...OPTIONS, max_depth: 0 });
    assert.deepEqual([(await changesOf(kit, narrow))?.unknown, await listOf(kit, narrow)], [2, []]);
    assert.equal(await kit.store.pageDigest(job, "q"), "bb".padEnd(32, "0"), "what was known stays");
  });

  scenario("of some pages of a run it is told which are new or changed", async (kit) => {
    const job = await makeJob(kit);
    await run(kit, job, { p: "aa", q: "bb", r: "cc" });
    const next = await run(kit, job, { p: "aa", q: "b2", t: "ee" });
    assert.deepEqual(await kit.store.changesAmong(next, ["p", "q", "r", "t", "unheard"]), [
      null,
      "changed",
      null,
      "new",
      null,
    ]);
    assert.deepEqual(await kit.store.changesAmong(next, []), []);
  });

  scenario("the list of changes goes on behind a cursor, and shows one kind alone", async (kit) => {
    const job = await makeJob(kit);
    await run(kit, job, { p: "aa", q: "bb" });
    const next = await run(kit, job, { p: "a2", x: "cc", y: "dd", z: "ee" });
    const seen: string[] = [];
    for (let after: string | undefined; ;) {
      const rows = await kit.store.pageChanges(next, { limit: 2, ...(after === undefined ? {} : { after }) });
      seen.push(...rows.map(({ change, url }) => `${change} ${url.slice(-1)}`));
      if (rows.length < 2) break;
      after = rows.at(-1)?.cursor;
    }
    assert.deepEqual(seen.toSorted(), await listOf(kit, next));
    assert.equal(seen.length, 5);
    const gone = await kit.store.pageChanges(next, { change: "gone", limit: 10 });
    assert.deepEqual(
      gone.map(({ url }) => url.slice(-1)),
      ["q"],
    );
  });

  scenario("with its job goes what was known of its pages; with its run goes the list", async (kit) => {
    const job = await makeJob(kit);
    await run(kit, job, { p: "aa" });
    const next = await run(kit, job, { p: "bb" });
    await kit.store.deleteJob(job, kit.now);
    assert.equal(await kit.store.pageDigest(job, "p"), null);
    assert.deepEqual(await listOf(kit, next), ["changed p"]);
    await kit.store.expireRuns({ temporaryBefore: 0, endedBefore: kit.now + 1 }, 100, kit.now + 1);
    while ((await kit.store.removeExpired(1)) > 0);
    assert.deepEqual(await listOf(kit, next), []);
  });
}

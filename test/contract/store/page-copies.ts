import assert from "node:assert/strict";
import type { PageCopy } from "../../../src/domain/page/page-copy.ts";
import type { RunRecord } from "../../../src/store/ports/port.ts";
import { newJob } from "./jobs.ts";
import { DONE, FAILED, type Kit, newTask, refused, type Scenario, type Verdict } from "./kit.ts";

const RULES = "rules-1";
const ONE_RECORD: Verdict = { kind: "completed", artifacts: [], results: [{ words: "one" }], detail: null };

function copyOf(etag: string, more: Partial<PageCopy> = {}): PageCopy {
  const payload = new Uint8Array([1, 2, 3]);
  return { url: "https://a.example/p", etag, lastModified: null, fingerprint: RULES, payload, ...more };
}

async function begin(kit: Kit, jobId: string | null, keys: readonly string[] = ["p"]): Promise<RunRecord> {
  const run = {
    kind: "crawl",
    maxAttempts: 3,
    snapshot: { options: {} },
    ...(jobId === null ? {} : { jobId }),
  } as const;
  const { created } = await kit.store.startRun(
    run,
    keys.map((key) => newTask(key)),
    kit.now,
  );
  await kit.store.admitCrawls(1000, kit.now);
  return created;
}

const makeJob = async (kit: Kit) => (await kit.store.createJob(newJob(null, { kind: "crawl" }), kit.now)).created.id;

/** A run that ends with this copy of each of its pages. */
async function leave(kit: Kit, jobId: string | null, copy: PageCopy | null, verdict = ONE_RECORD): Promise<RunRecord> {
  const run = await begin(kit, jobId);
  const lane = await kit.take("A");
  const { tasks } = await kit.claim(lane);
  await kit.report(lane, tasks, verdict, { copy });
  await kit.store.releaseLane(lane);
  return run;
}

export function pageCopyScenarios(scenario: Scenario): void {
  scenario("a page's copy stays with its job, and says whose records they are", async (kit) => {
    const job = await makeJob(kit);
    const run = await leave(kit, job, copyOf('"1"', { lastModified: "Sun, 15 Nov 2026 08:00:00 GMT" }));
    const copy = await (await kit.open()).pageCopy(job, "p", RULES);
    const task = await kit.store.taskByKey(run.id, "p");
    assert.deepEqual(
      { ...copy, payload: [...(copy?.payload ?? [])] },
      {
        ...copyOf('"1"', { lastModified: "Sun, 15 Nov 2026 08:00:00 GMT" }),
        payload: [1, 2, 3],
        taskId: task?.id,
        records: 1,
      },
    );
    assert.deepEqual(await kit.store.resultsOf(copy?.taskId ?? ""), [{ words: "one" }]);
  });

  scenario("other rules, another page and another job know nothing of it", async (kit) => {
    const [job, other] = [await makeJob(kit), await makeJob(kit)];
    await leave(kit, job, copyOf('"1"'));
    assert.equal(await kit.store.pageCopy(job, "p", "rules-2"), null);
    assert.equal(await kit.store.pageCopy(job, "q", RULES), null);
    assert.equal(await kit.store.pageCopy(other, "p", RULES), null);
    await leave(kit, other, copyOf('"other"'));
    assert.equal((await kit.store.pageCopy(job, "p", RULES))?.etag, '"1"');
    assert.equal((await kit.store.pageCopy(other, "p", RULES))?.etag, '"other"');
  });

  scenario(
    "the next run that gets the page replaces the copy, or takes it away; one that fails leaves it",
    async (kit) => {
      const job = await makeJob(kit);
      await leave(kit, job, copyOf('"1"'));
      const second = await leave(kit, job, copyOf('"2"'), DONE);
      const copy = await kit.store.pageCopy(job, "p", RULES);
      assert.deepEqual(
        [copy?.etag, copy?.records, copy?.taskId],
        ['"2"', 0, (await kit.store.taskByKey(second.id, "p"))?.id],
      );
      await leave(kit, job, copyOf('"3"'), FAILED);
      assert.equal((await kit.store.pageCopy(job, "p", RULES))?.etag, '"2"');
      await leave(kit, job, null);
      assert.equal(await kit.store.pageCopy(job, "p", RULES), null);
    },
  );

  scenario("what comes after the end of its run, or from an owner that was replaced, leaves no copy", async (kit) => {
    const job = await makeJob(kit);
    await leave(kit, job, copyOf('"1"'));
    const run = await begin(kit, job, ["p", "q"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const next = await kit.takeOver("B");
    await kit.report(lane, tasks, ONE_RECORD, { copy: copyOf('"late"') });
    assert.equal((await kit.store.pageCopy(job, "p", RULES))?.etag, '"1"');
    const again = await kit.claim(next);
    assert.equal(again.tasks.length, 2);
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    await kit.report(next, again.tasks, ONE_RECORD, { copy: copyOf('"late"') });
    assert.equal((await kit.store.pageCopy(job, "p", RULES))?.etag, '"1"');
  });

  scenario("a run without a job leaves none", async (kit) => {
    const job = await makeJob(kit);
    await leave(kit, null, copyOf('"1"'));
    assert.equal(await kit.store.pageCopy(job, "p", RULES), null);
  });

  scenario("pages that were as before are counted on the run", async (kit) => {
    const run = await begin(kit, await makeJob(kit), ["p", "q", "r"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.report(lane, tasks.slice(0, 2), ONE_RECORD, { copy: copyOf('"1"'), unchanged: true });
    await kit.report(lane, tasks.slice(2), ONE_RECORD, { copy: null });
    assert.equal((await kit.store.run(run.id))?.facts.unchanged, 2);
  });

  scenario(
    "a job takes its copies along when it is deleted, however many; a refused deletion takes none [slow]",
    async (kit) => {
      const job = await makeJob(kit);
      const keys = Array.from({ length: 2500 }, (_, n) => `page-${n}`);
      await begin(kit, job, keys);
      const lane = await kit.take("A");
      await refused("illegal_transition", kit.store.deleteJob(job, kit.now));
      for (let left = keys.length; left > 0;) {
        const { tasks } = await kit.claim(lane, 1000);
        await kit.report(lane, tasks, ONE_RECORD, { copy: copyOf('"1"') });
        left -= tasks.length;
      }
      assert.equal((await kit.store.pageCopy(job, "page-2499", RULES))?.etag, '"1"');
      await begin(kit, job);
      await refused("illegal_transition", kit.store.deleteJob(job, kit.now));
      assert.equal((await kit.store.pageCopy(job, "page-0", RULES))?.etag, '"1"');
      await kit.work(lane, DONE);
      await kit.store.deleteJob(job, kit.now);
      assert.equal(await kit.store.job(job), null);
      for (const key of keys) assert.equal(await kit.store.pageCopy(job, key, RULES), null);
    },
  );
}

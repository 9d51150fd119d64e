import assert from "node:assert/strict";
import type { RunRecord } from "../../../src/store/ports/port.ts";
import {
  DONE,
  evidence,
  FAILED,
  type Kit,
  LANE,
  movedTo,
  newTask,
  refused,
  retryAt,
  type Scenario,
  temporary,
} from "./kit.ts";

const HOUR = 3_600_000;
const ONCE = { key: "key", fingerprint: "print" };

const file = (letter: string) => ({
  hash: letter.repeat(64),
  size: 3,
  contentType: "text/html",
  url: `https://a.example/${letter}`,
});

/** A crawl with a limit of its own, a page that gave two records and a file, one that gave a record, and one that failed. */
async function endedCrawl(
  kit: Kit,
  more: { jobId?: string; once?: boolean; letter?: string } = {},
): Promise<RunRecord> {
  const key = `resolver:crawl-${kit.now}-${more.letter ?? "a"}`;
  const { created } = await kit.store.startRun(
    {
      kind: "crawl",
      maxAttempts: 3,
      snapshot: { options: {} },
      budget: { key, cap: 7 },
      ...(more.jobId === undefined ? { temporary: true as const } : { jobId: more.jobId }),
    },
    ["a", "b", "c"].map((name) => newTask(name, { resolver: key.slice("resolver:".length), handler: "@crawl" })),
    kit.now,
    more.once === true ? ONCE : undefined,
  );
  await kit.store.admitCrawls(100, kit.now);
  const lane = await kit.take("A");
  const { tasks } = await kit.claim(lane);
  const mine = tasks.filter((task) => task.runId === created.id);
  const yields = { ...DONE, artifacts: [file(more.letter ?? "a")], results: [{ n: 1 }, { n: 2 }] };
  await kit.settle(lane, mine.slice(0, 1), yields as typeof DONE);
  await kit.report(lane, mine.slice(1, 2), { ...DONE, results: [{ n: 3 }] } as typeof DONE, {
    content: "ab".repeat(32),
    landed: { key: "landed", url: "https://a.example/landed" },
  });
  await kit.report(lane, mine.slice(2), FAILED, { evidence: [evidence(more.letter ?? "a")] });
  await kit.store.releaseLane(lane);
  return (await kit.store.run(created.id)) as RunRecord;
}

const removeAll = async (kit: Kit, limit = 1000) => {
  let rows = 0;
  for (let part = await kit.store.removeExpired(limit); part > 0; part = await kit.store.removeExpired(limit)) {
    assert.ok(part <= limit + 1, `${part} rows at once`);
    rows += part;
    await kit.expectClean();
  }
  return rows;
};

async function orphanedOf(kit: Kit, limit = 100): Promise<string[]> {
  const all: string[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page = await kit.store.orphanedFiles({ limit, ...(after === undefined ? {} : { after }) });
    all.push(...page.orphaned.map((hash) => hash.slice(0, 1)));
    after = page.last;
  }
  return all;
}

/** All runs of no job that ended then or earlier expire, and those of deleted jobs. */
const general = (before: number) => ({ temporaryBefore: before, endedBefore: before });

export function retentionScenarios(scenario: Scenario): void {
  scenario(
    "files that are dropped by their ids are gone, and orphaned unless others have the same content",
    async (kit) => {
      const run = await endedCrawl(kit, { letter: "a" });
      await endedCrawl(kit, { letter: "b" });
      const [task] = await kit.store.tasks(run.id, { limit: 1 });
      const [artifact] = await kit.store.artifactsOf(task?.id ?? "");
      assert.ok(artifact !== undefined);
      assert.deepEqual(await kit.store.dropFiles([artifact.id, task!.id, "nonsense"]), { rows: 1, bytes: 0 });
      assert.deepEqual(await kit.store.dropFiles([artifact.id]), { rows: 0, bytes: 0 });
      assert.equal(await kit.store.artifact(artifact.id), null);
      assert.deepEqual(await kit.store.artifactsOf(task!.id), []);
      await kit.expectClean();
    },
  );

  scenario("what dropping files frees is counted with the last row of each content", async (kit) => {
    const run = await kit.runWith(["one", "two", "three", "four"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    for (const [n, task] of tasks.entries())
      await kit.settle(lane, [task], { ...DONE, artifacts: [file(n === 0 ? "c" : "b")] } as typeof DONE);
    const ids: string[] = [];
    for (const { id } of await kit.store.tasks(run.id, { limit: 10 }))
      ids.push(...(await kit.store.artifactsOf(id)).map((artifact) => artifact.id));
    assert.equal(ids.length, 4);
    const drop = (...which: number[]) => kit.store.dropFiles(which.map((n) => ids[n] ?? ""));
    assert.deepEqual(await drop(0, 1), { rows: 2, bytes: 3 }, "two others have the content of the second");
    assert.deepEqual(await drop(1), { rows: 0, bytes: 0 });
    assert.deepEqual(await drop(2, 3), { rows: 2, bytes: 3 }, "the same content is counted once");
    await kit.expectClean();
  });

  scenario("a temporary crawl goes when it was kept long enough, and nothing of it is left", async (kit) => {
    const run = await endedCrawl(kit);
    const [task] = await kit.store.tasks(run.id, { limit: 1 });
    const [artifact] = await kit.store.artifactsOf(task?.id ?? "");
    const [event] = await kit.events(run);
    const end = run.finishedAt as number;
    assert.equal(await kit.store.expireRuns(temporary(end - 1), 10, kit.now), 0);
    assert.equal(await kit.status(run), "completed");
    assert.equal(await kit.store.budgetCap(`resolver:crawl-${end}-a`), 7);
    assert.equal(await kit.store.expireRuns(temporary(end), 10, kit.now), 1);
    assert.equal(await kit.store.expireRuns(temporary(end), 10, kit.now), 0);
    // Invisible at once, whoever asks and however.
    const other = await kit.open();
    for (const store of [kit.store, other]) {
      assert.equal(await store.run(run.id), null);
      assert.deepEqual(await store.runs({ limit: 10 }), []);
      assert.deepEqual(await store.runs({ limit: 10, q: run.id }), []);
      assert.equal((await store.runStates([run.id])).size, 0);
      assert.equal(await store.task(task?.id ?? ""), null);
      assert.equal(await store.taskByKey(run.id, "a"), null);
      assert.equal(await store.artifact(artifact?.id ?? ""), null);
      await refused("not_found", store.results(run.id, { limit: 10 }));
      await refused("not_found", store.tasks(run.id, { limit: 10 }));
      await refused("not_found", store.events(run.id, { limit: 10 }));
      await refused("not_found", store.overview(run.id, 1));
      await refused("not_found", store.runErrors(run.id));
      assert.deepEqual((await store.feed({ after: event?.id ?? "", limit: 10 })).events, []);
    }
    assert.equal(await kit.store.budgetCap(`resolver:crawl-${end}-a`), null);
    await kit.expectClean();
    // 3 records, 2 files, 3 tasks, 1 stream, 1 landing, 1 reason, the events and the run itself.
    assert.equal(await removeAll(kit), 3 + 2 + 3 + 1 + 1 + 1 + 3 + 1);
    assert.equal(await kit.store.removeExpired(10), 0);
    assert.equal((await kit.store.sites({ limit: 10 }, kit.now)).length, 1, "what is known of the site stays");
  });

  scenario("a removal goes on from any point, and the books are right at each [slow]", async (kit) => {
    const expired = [await endedCrawl(kit), await endedCrawl(kit, { letter: "b" })];
    kit.pass(HOUR);
    const kept = await endedCrawl(kit, { letter: "c" });
    assert.equal(await kit.store.expireRuns(temporary(kit.now - HOUR), 1, kit.now), 1);
    assert.equal(await kit.store.expireRuns(temporary(kit.now - HOUR), 1, kit.now), 1);
    const second = await kit.open();
    let rows = 0;
    for (let turn = 0; ; turn += 1) {
      const part = await (turn % 2 === 0 ? kit.store : second).removeExpired(1);
      if (part === 0) break;
      rows += part;
      await kit.expectClean();
      assert.deepEqual(
        (await kit.store.runs({ limit: 10 })).map(({ id }) => id),
        [kept.id],
      );
    }
    assert.ok(rows >= 2 * 14, `${rows} rows`);
    assert.equal((await kit.store.results(kept.id, { limit: 10 })).length, 3);
    for (const run of expired) assert.equal(await kit.status(run), "missing");
  });

  scenario("what belongs to a job, is not temporary, or has not ended stays", async (kit) => {
    const saved = await endedCrawl(kit, { jobId: "3b241101-e2bb-4255-8caf-4136c566a962" });
    const page = await kit.page();
    const queue = await kit.runWith(["q"], { kind: "queue" });
    const lane = await kit.take("A");
    await kit.work(lane, DONE);
    const { created: open } = await kit.store.startRun(
      { kind: "crawl", maxAttempts: 3, snapshot: { options: {} }, temporary: true },
      [newTask("open")],
      kit.now,
    );
    await kit.store.admitCrawls(100, kit.now);
    assert.equal(await kit.store.expireRuns(temporary(kit.now + HOUR), 10, kit.now), 0);
    // Cancelled, but a page of it is still in somebody's hands.
    const { tasks } = await kit.claim(lane);
    await kit.store.changeRun(open.id, "cancelled", "Run cancelled", kit.now);
    assert.equal(await kit.store.expireRuns(temporary(kit.now + HOUR), 10, kit.now), 0);
    await kit.settle(lane, tasks, DONE);
    assert.equal(await kit.store.expireRuns(temporary(kit.now + HOUR), 10, kit.now), 1);
    await removeAll(kit);
    for (const run of [saved, page, queue]) assert.equal(await kit.status(run), "completed");
    assert.equal(await kit.status(open), "missing");
  });

  scenario("runs of a deleted job stay, unless a policy for all runs removes them", async (kit) => {
    const jobOf = async (kind: "page" | "crawl") => {
      const about = {
        name: null,
        url: "https://a.example/",
        site: "a.example",
        tags: [],
        recipe: {},
        nextAt: null,
        nextOccurrenceAt: null,
      };
      return (await kit.store.createJob({ ...about, kind }, kit.now)).created.id;
    };
    const [jobId, other] = [await jobOf("crawl"), await jobOf("page")];
    const run = await endedCrawl(kit, { jobId });
    const end = run.finishedAt as number;
    kit.pass(10 * HOUR);
    const deletedAt = kit.now;
    await kit.store.deleteJob(jobId, deletedAt);
    await kit.store.deleteJob(other, deletedAt);
    assert.equal((await kit.store.run(run.id))?.jobDeletedAt, deletedAt);
    assert.deepEqual(
      (await kit.store.runs({ limit: 10 })).map(({ jobDeletedAt }) => jobDeletedAt),
      [deletedAt],
    );
    kit.pass(HOUR);
    assert.equal(await kit.store.expireRuns(general(deletedAt - 1), 10, kit.now), 0, "it is kept from the deletion on");
    assert.ok(end < deletedAt);
    // Opened again, it counts from its new end.
    await kit.store.retryFailed(run.id, { limit: 10 }, kit.now);
    assert.equal(await kit.store.expireRuns(general(kit.now), 10, kit.now), 0);
    await kit.store.admitCrawls(1, kit.now);
    await kit.work(await kit.take("A"), DONE);
    assert.equal(await kit.store.expireRuns(general(kit.now - 1), 10, kit.now), 0);
    assert.equal(await kit.store.expireRuns(general(kit.now), 10, kit.now), 1);
    await removeAll(kit);
    assert.equal(await kit.status(run), "missing");
  });

  scenario("who comes too late to open it again is told that it is gone; who is in time keeps it", async (kit) => {
    const late = await endedCrawl(kit);
    await kit.store.expireRuns(temporary(kit.now), 10, kit.now);
    await refused("not_found", kit.store.retryFailed(late.id, { limit: 10 }, kit.now));
    await refused("not_found", kit.store.changeRun(late.id, "running", "Run resumed", kit.now));
    await refused("not_found", kit.store.enqueue(late.id, [newTask("new")], kit.now));
    await removeAll(kit);
    const timely = await endedCrawl(kit, { letter: "b" });
    assert.equal((await kit.store.retryFailed(timely.id, { limit: 10 }, kit.now)).requeued, 1);
    assert.equal(await kit.store.expireRuns(temporary(kit.now), 10, kit.now), 0);
    assert.equal(await kit.status(timely), "queued");
  });

  scenario("a call that began a crawl begins another once that one is removed", async (kit) => {
    const first = await endedCrawl(kit, { once: true });
    await kit.store.expireRuns(temporary(kit.now), 10, kit.now);
    kit.pass(1);
    const again = await endedCrawl(kit, { once: true });
    assert.notEqual(again.id, first.id);
    assert.equal((await kit.store.results(again.id, { limit: 10 })).length, 3);
  });

  scenario("ids of what was removed are not given again", async (kit) => {
    const idsOf = async (run: RunRecord) => {
      const tasks = await kit.store.tasks(run.id, { limit: 10 });
      const files = (await Promise.all(tasks.map(({ id }) => kit.store.artifactsOf(id)))).flat();
      const rows = [tasks, files, await kit.store.results(run.id, { limit: 10 }), await kit.events(run)].flat();
      return [run.id, ...rows.map(({ id }) => id)];
    };
    const before = await idsOf(await endedCrawl(kit));
    await kit.store.expireRuns(temporary(kit.now), 10, kit.now);
    await removeAll(kit);
    const after = await idsOf(await endedCrawl(kit));
    assert.deepEqual(
      after.filter((id) => before.includes(id)),
      [],
    );
  });

  scenario("files of removed rows are orphaned unless another row names them", async (kit) => {
    await endedCrawl(kit, { letter: "a" });
    kit.pass(HOUR);
    const kept = await endedCrawl(kit, { letter: "b" });
    const lane = await kit.take("A");
    await kit.runWith(["same"], { kind: "queue" });
    await kit.work(lane, { ...DONE, artifacts: [file("a"), file("d")] } as typeof DONE);
    assert.deepEqual(await orphanedOf(kit), []);
    await kit.store.expireRuns(temporary(kit.now - HOUR), 10, kit.now);
    await removeAll(kit);
    // "a" was the page and the picture of the crawl; the queue has the page as well.
    assert.deepEqual(await orphanedOf(kit), []);
    await kit.store.expireRuns(temporary(kept.finishedAt as number), 10, kit.now);
    await removeAll(kit);
    assert.deepEqual(await orphanedOf(kit, 1), ["b"]);
    assert.equal(await kit.store.isOrphaned("b".repeat(64)), true);
    assert.equal(await kit.store.isOrphaned("a".repeat(64)), false);
    await kit.runWith(["named again"], { kind: "queue" });
    await kit.work(lane, { ...DONE, artifacts: [file("b")] } as typeof DONE);
    assert.equal(await kit.store.isOrphaned("b".repeat(64)), false);
    assert.deepEqual(await orphanedOf(kit), []);
  });

  scenario("a file that an attempt left and the next replaced is orphaned, until it is forgotten", async (kit) => {
    await kit.page();
    const lane = await kit.take("A", LANE);
    const fail = async (letter: string) =>
      kit.report(lane, (await kit.claim(lane)).tasks, retryAt(kit.now), { evidence: [evidence(letter)] });
    await fail("a");
    await fail("b");
    assert.deepEqual(await orphanedOf(kit), ["a"]);
    await kit.work(lane, { ...DONE, artifacts: [file("c")] } as typeof DONE);
    assert.deepEqual(await orphanedOf(kit), ["a", "b"]);
    await kit.store.forgetOrphanedFiles(["a".repeat(64), "f".repeat(64)]);
    assert.deepEqual(await orphanedOf(kit), ["b"]);
  });

  scenario("a file that was stored for nothing is orphaned, unless a row names it", async (kit) => {
    await kit.store.recordOrphanedFiles(["a", "b"].map((letter) => letter.repeat(64)));
    await kit.store.recordOrphanedFiles(["b".repeat(64)]);
    assert.deepEqual(await orphanedOf(kit), ["a", "b"]);
    await kit.runWith(["named"], { kind: "queue" });
    await kit.work(await kit.take("A"), { ...DONE, artifacts: [file("b")] } as typeof DONE);
    assert.deepEqual(await orphanedOf(kit), ["a"]);
  });

  scenario("pages that went to another site are removed with the rest", async (kit) => {
    const run = await endedCrawl(kit);
    await kit.store.retryFailed(run.id, { limit: 1 }, kit.now);
    await kit.store.admitCrawls(1, kit.now);
    await kit.work(await kit.take("A"), movedTo("site:b.example"));
    await kit.work(await kit.take("A", "site:b.example"), DONE);
    assert.equal(await kit.status(run), "completed");
    await kit.store.expireRuns(temporary(kit.now), 10, kit.now);
    await removeAll(kit, 2);
    assert.equal(await kit.status(run), "missing");
  });
}

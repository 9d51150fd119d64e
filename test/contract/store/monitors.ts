import assert from "node:assert/strict";
import type { MonitoredPage } from "../../../src/domain/monitor/monitored-page.ts";
import { scopeHashOf } from "../../../src/domain/page/page-change.ts";
import type { ComparedPage } from "../../../src/store/ports/monitors/monitor-port.ts";
import type { NewJob } from "../../../src/store/records/job-records.ts";
import { newJob } from "./jobs.ts";
import { DONE, FAILED, type Kit, newTask, type Scenario } from "./kit.ts";

const hashOf = (text: string) => Buffer.from(text.padEnd(32, ".")).toString("hex");
const SCOPE = "00".repeat(16);
/** That of a crawl without options. */
const WHOLE = scopeHashOf({});

function page(key: string, text: string | null, more: Partial<MonitoredPage> = {}): MonitoredPage {
  return {
    key,
    url: `https://a.example/${key}`,
    rules: "rules-1",
    content: text === null ? null : { hash: hashOf(text), size: text.length, isSealed: false, digest: text },
    again: null,
    scopeHash: SCOPE,
    isRedirected: false,
    ...more,
  };
}

const makeJob = async (kit: Kit, more: Partial<NewJob> = {}) =>
  (await kit.store.createJob(newJob(null, { kind: "crawl", ...more }), kit.now)).created.id;

/** A run of the job that read these pages, up to the point where they wait to be compared. */
async function ended(kit: Kit, jobId: string, pages: readonly MonitoredPage[]): Promise<string> {
  kit.pass(1000);
  const tasks = pages.map(({ key }) => newTask(key));
  const run = { kind: "crawl" as const, maxAttempts: 1, snapshot: { options: {} }, jobId };
  const { created } = await kit.store.startRun(run, tasks, kit.now);
  await kit.store.admitCrawls(1000, kit.now);
  const lane = await kit.take("A");
  for (const monitored of pages) {
    const { tasks: claimed } = await kit.claim(lane, 1);
    const found = pages.find(({ key }) => key === claimed[0]?.key) ?? monitored;
    const known = await knownPage(kit, created.id, jobId, found);
    await kit.report(lane, claimed, found.content === null ? FAILED : DONE, { monitored: found, ...known });
  }
  await kit.store.releaseLane(lane);
  await kit.store.recordRunHealth({ runId: created.id, generation: 1 }, null, { deliver: true }, kit.now);
  return created.id;
}

/** What the job's next run needs to know which pages are gone. */
async function knownPage(kit: Kit, runId: string, jobId: string, { key, url, content, scopeHash }: MonitoredPage) {
  if (content === null || scopeHash !== WHOLE) return {};
  const compares = (await kit.store.run(runId))?.facts.changes !== undefined;
  const digest = content.hash.slice(0, 32);
  const before = await kit.store.pageDigest(jobId, key);
  const change = before === null ? ("new" as const) : before === digest ? ("unchanged" as const) : ("changed" as const);
  return { page: { key, scopeHash, isRedirected: false, url, digest, change: compares ? change : null } };
}

/** What a comparison of these texts finds. */
async function compare(kit: Kit, runId: string, pages?: number): Promise<void> {
  const waiting = await kit.store.waitingPages(runId, pages ?? 1000);
  const compared = waiting.map(({ number, content, state }): ComparedPage => {
    const plain = { number, comparedWith: state?.content.hash ?? null, profile: null, digest: null, change: null };
    if (content === null) return { ...plain, verdict: "removed" };
    if (state === null) return { ...plain, verdict: "new" };
    if (state.content.hash === content.hash) return { ...plain, verdict: "same" };
    const diff = { hash: hashOf(`diff ${content.digest}`), size: 9 };
    const change = { added: 1, removed: 1, share: 0.5, summary: `to ${content.digest}`, diff };
    return { ...plain, verdict: "changed", digest: content.digest, change };
  });
  await kit.store.recordComparisons(runId, "text", compared, kit.now);
}

async function whole(kit: Kit, jobId: string, pages: readonly MonitoredPage[], keep = 1000) {
  const runId = await ended(kit, jobId, pages);
  await compare(kit, runId);
  while ((await kit.store.trimMonitor(runId, keep, 1)) > 0);
  return kit.store.concludeMonitor({ runId, generation: 1 }, { deliver: true }, kit.now);
}

const listed = async (kit: Kit, jobId: string) =>
  (await kit.store.monitorChanges(jobId, { limit: 100 })).map(
    ({ number, change, url }) => `${number} ${change} ${url.at(-1)}`,
  );

export function monitorScenarios(scenario: Scenario): void {
  scenario("the first run is the measure, later ones are compared with the last good state", async (kit) => {
    const job = await makeJob(kit);
    const first = await whole(kit, job, [page("a", "one"), page("b", "two")]);
    assert.deepEqual(first, { counts: { new: 0, changed: 0, removed: 0 }, alert: null });
    const second = await whole(kit, job, [page("a", "one"), page("b", "2"), page("c", "three")]);
    assert.deepEqual(second?.counts, { new: 1, changed: 1, removed: 0 });
    assert.equal(second?.alert?.kind, "monitor_changed");
    const third = await whole(kit, job, [page("a", null), page("b", "2")]);
    assert.deepEqual(third?.counts, { new: 0, changed: 0, removed: 1 });
    assert.deepEqual((await listed(kit, job)).toSorted(), ["1 changed b", "2 new c", "3 removed a"].toSorted());
    const [, change] = await kit.store
      .monitorChanges(job, { limit: 2, change: "changed" })
      .then((list) => [0, list[0]!]);
    assert.deepEqual(Object.keys((change as { files: object }).files).toSorted(), ["after", "before", "diff"]);
    assert.equal((await kit.store.monitor(job))?.pages, 2);
    const known = await kit.store.knownPages(job, { after: "", limit: 1 });
    const others = await kit.store.knownPages(job, { after: known[0]!.position, limit: 5 });
    assert.deepEqual([...known, ...others].map(({ url }) => url.at(-1)).toSorted(), ["b", "c"]);
    assert.deepEqual(await kit.store.knownPages(job, { after: others.at(-1)!.position, limit: 5 }), []);
  });

  scenario("what waits is compared once, whoever does it and however often", async (kit) => {
    const job = await makeJob(kit);
    await whole(kit, job, [page("a", "one"), page("b", "two")]);
    const runId = await ended(kit, job, [page("a", "1"), page("b", "2")]);
    assert.deepEqual(await kit.store.monitorsDue(10), [{ runId, generation: 1, drop: false }]);
    assert.equal(await kit.store.concludeMonitor({ runId, generation: 1 }, { deliver: true }, kit.now), null);
    const waiting = await kit.store.waitingPages(runId, 10);
    const change = { added: 1, removed: 0, share: 1, summary: null, diff: null };
    const compared = waiting.map(({ number, state }): ComparedPage => {
      return { number, comparedWith: state!.content.hash, verdict: "changed", profile: null, digest: "x", change };
    });
    await kit.store.recordComparisons(runId, "text", compared.slice(0, 1), kit.now);
    await kit.store.recordComparisons(runId, "text", compared, kit.now);
    await kit.store.recordComparisons(runId, "text", compared, kit.now);
    const end = await kit.store.concludeMonitor({ runId, generation: 1 }, { deliver: true }, kit.now);
    assert.deepEqual(end?.counts, { new: 0, changed: 2, removed: 0 });
    assert.equal(await kit.store.concludeMonitor({ runId, generation: 1 }, { deliver: true }, kit.now), null);
    assert.equal((await kit.store.monitorChanges(job, { limit: 100 })).length, 2);
    assert.deepEqual(await kit.store.monitorsDue(10), []);
  });

  scenario("a comparison with a state that has moved on is not written", async (kit) => {
    const job = await makeJob(kit);
    await whole(kit, job, [page("a", "one")]);
    const runId = await ended(kit, job, [page("a", "two")]);
    const [waiting] = await kit.store.waitingPages(runId, 1);
    const wrong: ComparedPage = {
      number: waiting!.number,
      comparedWith: hashOf("something else"),
      verdict: "same",
      profile: null,
      digest: null,
      change: null,
    };
    await kit.store.recordComparisons(runId, "text", [wrong], kit.now);
    assert.equal((await kit.store.waitingPages(runId, 1)).length, 1, "it waits still");
    await compare(kit, runId);
    assert.deepEqual(await listed(kit, job), ["1 changed a"]);
  });

  scenario("an older run that ends later tells nothing new", async (kit) => {
    const job = await makeJob(kit);
    await whole(kit, job, [page("a", "one")]);
    const older = await ended(kit, job, [page("a", "one")]);
    await whole(kit, job, [page("a", "two")]);
    await compare(kit, older);
    assert.deepEqual(await listed(kit, job), ["1 changed a"]);
    assert.equal((await kit.store.monitorState(job, "a"))?.content.digest, "two");
  });

  scenario("another monitor starts a new comparison", async (kit) => {
    const job = await makeJob(kit);
    await whole(kit, job, [page("a", "one")]);
    const other = await whole(kit, job, [page("a", "two", { rules: "rules-2" }), page("b", "b", { rules: "rules-2" })]);
    assert.deepEqual(other?.counts, { new: 0, changed: 0, removed: 0 });
    const third = await whole(kit, job, [page("a", "three", { rules: "rules-2" })]);
    assert.deepEqual(third?.counts, { new: 0, changed: 1, removed: 0 });
  });

  scenario(
    "what pages of a job have in common is known to all of them, until it compares something else",
    async (kit) => {
      const job = await makeJob(kit);
      await whole(kit, job, [page("a", "one"), page("b", "two")]);
      const shared = { regions: [], lines: [{ place: { words: ["x", null], gap: 1 }, pages: ["a"] }] };
      const runId = await ended(kit, job, [page("a", "1"), page("b", "two")]);
      const waiting = await kit.store.waitingPages(runId, 1);
      const same = { comparedWith: hashOf("one"), profile: null, digest: null, change: null };
      const kept: ComparedPage = { ...same, number: waiting[0]!.number, verdict: "kept" };
      await kit.store.recordComparisons(runId, "text", [kept], kit.now, shared);
      assert.deepEqual((await kit.store.monitorState(job, "b"))?.shared, shared);
      assert.deepEqual((await kit.store.waitingPages(runId, 1))[0]?.state?.shared, shared);
      await compare(kit, runId);
      assert.deepEqual((await kit.store.monitorState(job, "a"))?.shared, shared, "nothing new leaves it as it is");
      await whole(kit, job, [page("a", "one", { rules: "rules-2" })]);
      assert.equal((await kit.store.monitorState(job, "a"))?.shared, null);
    },
  );

  scenario("the history keeps its length, and the files of what it forgets are swept", async (kit) => {
    const job = await makeJob(kit);
    for (const text of ["a0", "a1", "a2", "a3", "a4"]) await whole(kit, job, [page("a", text)], 2);
    assert.deepEqual(await listed(kit, job), ["4 changed a", "3 changed a"]);
    const { orphaned } = await kit.store.orphanedFiles({ limit: 100 });
    assert.deepEqual(
      orphaned.toSorted(),
      [hashOf("a0"), hashOf("a1"), hashOf("diff a1"), hashOf("diff a2")].toSorted(),
      "those of the changes that are kept stay",
    );
    await kit.store.deleteJob(job, kit.now);
    assert.deepEqual(await kit.store.monitorChanges(job, { limit: 100 }), []);
    assert.ok((await kit.store.orphanedFiles({ limit: 100 })).orphaned.includes(hashOf("a4")));
  });

  scenario("pages of a failed run are not compared, and nothing of a deleted run waits", async (kit) => {
    const job = await makeJob(kit);
    await whole(kit, job, [page("a", "one"), page("b", "two")]);
    const gone = await ended(kit, job, [page("a", null)]);
    assert.deepEqual(await kit.store.monitorsDue(10), [{ runId: gone, generation: 1, drop: true }], "the crawl failed");
    assert.equal(await kit.store.dropWaitingPages(gone, 100), 1);
    const end = await kit.store.concludeMonitor({ runId: gone, generation: 1 }, { deliver: true }, kit.now);
    assert.deepEqual(end?.counts, { new: 0, changed: 0, removed: 0 });
    const removed = await ended(kit, job, [page("a", "1"), page("b", "2")]);
    await kit.store.deleteRun(removed, kit.now);
    while ((await kit.store.removeExpired(100)) > 0);
    assert.deepEqual(await kit.store.waitingPages(removed, 10), []);
    assert.deepEqual(await listed(kit, job), []);
    assert.equal((await kit.store.monitorState(job, "a"))?.content.digest, "one");
  });

  scenario("a page that a complete run no longer reaches is removed, once", async (kit) => {
    const job = await makeJob(kit);
    const inWhole = (key: string, text: string) => page(key, text, { scopeHash: WHOLE });
    await whole(kit, job, [inWhole("a", "one"), inWhole("b", "two"), page("c", "of another scope")]);
    const runId = await ended(kit, job, [inWhole("a", "one")]);
    await compare(kit, runId);
    assert.equal(await kit.store.recordUnreached(runId, "text", 100, kit.now), 1);
    assert.equal(await kit.store.recordUnreached(runId, "text", 100, kit.now), 0);
    const end = await kit.store.concludeMonitor({ runId, generation: 1 }, { deliver: true }, kit.now);
    assert.deepEqual(end?.counts, { new: 0, changed: 0, removed: 1 });
    assert.deepEqual(await listed(kit, job), ["1 removed b"]);
    const next = await ended(kit, job, [inWhole("a", "one")]);
    await compare(kit, next);
    assert.equal(await kit.store.recordUnreached(next, "text", 100, kit.now), 0, "it is told once");
  });

  scenario("a page behind a redirect is removed by the second complete run that does not reach it", async (kit) => {
    const job = await makeJob(kit);
    const inWhole = (key: string, more: Partial<MonitoredPage> = {}) => page(key, key, { scopeHash: WHOLE, ...more });
    const next = async (...pages: MonitoredPage[]) => {
      const runId = await ended(kit, job, pages);
      await compare(kit, runId);
      while ((await kit.store.recordUnreached(runId, "text", 1, kit.now)) > 0);
      return (await kit.store.concludeMonitor({ runId, generation: 1 }, { deliver: true }, kit.now))?.counts.removed;
    };
    const behind = inWhole("b", { isRedirected: true });
    await next(inWhole("a"), behind);
    assert.equal(await next(inWhole("a")), 0, "it may lead there again");
    assert.equal(await next(inWhole("a"), behind), 0);
    assert.equal(await next(inWhole("a")), 0, "the count starts anew");
    assert.equal(await next(inWhole("a")), 1);
    assert.deepEqual(await listed(kit, job), ["1 removed b"]);
  });

  scenario("a job whose deletion is refused keeps its history, and that of a deleted one is removed", async (kit) => {
    const job = await makeJob(kit);
    const inWhole = (key: string, text: string) => page(key, text, { scopeHash: WHOLE });
    await whole(kit, job, [inWhole("a", "one")]);
    await whole(kit, job, [inWhole("a", "two"), inWhole("b", "new")]);
    const run = { kind: "crawl" as const, maxAttempts: 1, snapshot: { options: {} }, jobId: job };
    // It starts while the deletion is under way.
    const deletion = kit.store.deleteJob(job, kit.now).then(
      () => "done",
      () => "refused",
    );
    const { created } = await kit.store.startRun(run, [newTask("c")], kit.now).catch(() => ({ created: null }));
    if ((await deletion) === "refused") {
      assert.equal((await listed(kit, job)).length, 2);
      assert.equal((await kit.store.monitor(job))?.pages, 2);
      await kit.store.changeRun(created!.id, "cancelled", "Cancelled", kit.now);
      await kit.store.deleteJob(job, kit.now);
    }
    assert.deepEqual(await listed(kit, job), []);
    assert.ok((await kit.store.orphanedFiles({ limit: 100 })).orphaned.includes(hashOf("two")));
    assert.equal(await kit.store.removeExpired(100), 0, "nothing is left of it");
  });

  scenario("a tracked page that was not read for long is forgotten, with its file", async (kit) => {
    const run = { kind: "crawl" as const, maxAttempts: 1, snapshot: { options: {} } };
    await kit.store.startRun(run, [newTask("a"), newTask("b")], kit.now);
    await kit.store.admitCrawls(1000, kit.now);
    const lane = await kit.take("A");
    const tracked = (key: string) => {
      return { key, url: `https://a.example/${key}`, hash: hashOf(key), size: 1, isSealed: false, replaces: null };
    };
    const keys: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      const { tasks } = await kit.claim(lane, 1);
      keys.push(tasks[0]!.key);
      await kit.report(lane, tasks, DONE, { tracked: tracked(tasks[0]!.key) });
      kit.pass(1000);
    }
    const [first, second] = keys as [string, string];
    const readAt = (await kit.store.trackedPage(second))!.readAt;
    assert.equal(await kit.store.expireTrackedPages(readAt, 100), 1);
    assert.equal(await kit.store.expireTrackedPages(readAt, 100), 0);
    assert.equal(await kit.store.trackedPage(first), null);
    assert.equal((await kit.store.trackedPage(second))?.hash, hashOf(second));
    assert.ok((await kit.store.orphanedFiles({ limit: 100 })).orphaned.includes(hashOf(first)));
  });
}

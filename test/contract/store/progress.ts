import assert from "node:assert/strict";
import { failure, type FailureReason } from "../../../src/domain/run/failure.ts";
import type { TaskArtifact } from "../../../src/domain/run/outcome.ts";
import type { NewTask, RunRecord } from "../../../src/store/ports/port.ts";
import type { RequeuePosition } from "../../../src/store/ports/progress-port.ts";
import { DONE, evidence, type Kit, LANE, newTask, retryAt, type Scenario, type Verdict } from "./kit.ts";

const OTHER = "site:b.example";
const failedBy = (reason: FailureReason): Verdict => ({ kind: "failed", failure: failure(reason, `it was ${reason}`) });
const elsewhere = (key: string) => newTask(key, { lane: OTHER });

/** A run of which every task has failed, for the reason that its name begins with. */
async function failedRun(kit: Kit, tasks: readonly (string | NewTask)[], kind: "queue" | "crawl" = "queue") {
  const list = tasks.map((task) => (typeof task === "string" ? newTask(task) : task));
  const { created: run } = await kit.store.startRun({ kind, maxAttempts: 1, snapshot: {} }, list, kit.now);
  await kit.store.admitCrawls(5, kit.now);
  for (const name of new Set(list.map(({ lane }) => lane))) {
    const lane = await kit.take("A", name);
    for (const task of (await kit.claim(lane)).tasks)
      await kit.settle(lane, [task], failedBy(task.key.split("-")[0] as FailureReason));
    await kit.store.releaseLane(lane);
  }
  assert.equal(await kit.status(run), "failed");
  return run;
}

const groups = async (kit: Kit, run: RunRecord) =>
  Object.fromEntries((await kit.store.runErrors(run.id)).map(({ reason, count }) => [reason, count]));

const queued = async (kit: Kit, run: RunRecord) =>
  (await kit.store.tasks(run.id, { states: ["queued"], limit: 100 })).map(({ key }) => key);

export function progressScenarios(scenario: Scenario): void {
  scenario("failures are counted by reason, most frequent first, with an example", async (kit) => {
    const run = await failedRun(kit, ["internal-1", "http_not_found-1", "http_not_found-2", elsewhere("internal-2")]);
    await kit.store.retryFailed(run.id, { reasons: ["internal"], site: "b.example", limit: 1 }, kit.now);
    const errors = await kit.store.runErrors(run.id);
    assert.deepEqual(
      errors.map(({ code, reason, count, exampleMessage }) => [code, reason, count, exampleMessage]),
      [
        ["bad_response", "http_not_found", 2, "it was http_not_found"],
        ["unknown", "internal", 1, "it was internal"],
      ],
    );
    const example = await kit.store.taskByKey(run.id, "http_not_found-1");
    assert.deepEqual([errors[0]?.exampleTaskId, errors[0]?.exampleUrl], [example?.id, example?.url]);
    await kit.work(await kit.take("A", OTHER), DONE);
  });

  scenario("only what failed for the reasons asked for is tried again, and the counts stay right", async (kit) => {
    const run = await failedRun(kit, ["internal-1", "dns_failed-1", "dns_failed-2", "timeout_idle-1"], "crawl");
    const choice = { reasons: ["dns_failed", "tls_failed"] as const, limit: 10 };
    assert.equal((await kit.store.run(run.id))?.facts.end_reason, "exhausted");
    assert.deepEqual(await kit.store.retryFailed(run.id, choice, kit.now), { requeued: 2, lanes: [LANE], next: null });
    assert.deepEqual(await queued(kit, run), ["dns_failed-1", "dns_failed-2"]);
    assert.equal((await kit.store.run(run.id))?.facts.end_reason, undefined, "it is not at its end any more");
    assert.deepEqual(await groups(kit, run), { internal: 1, timeout_idle: 1 });
    assert.deepEqual((await kit.store.retryFailed(run.id, choice, kit.now)).requeued, 0);
    await kit.store.admitCrawls(5, kit.now);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.settle(lane, tasks.slice(0, 1), DONE);
    await kit.settle(lane, tasks.slice(1), failedBy("tls_failed"));
    assert.deepEqual(await groups(kit, run), { internal: 1, timeout_idle: 1, tls_failed: 1 });
  });

  scenario("single tasks are tried again by their ids; strangers' are not", async (kit) => {
    const run = await failedRun(kit, ["internal-1", "internal-2", "dns_failed-1"]);
    const stranger = await failedRun(kit, [elsewhere("internal-9")]);
    const idOf = async (of: RunRecord, key: string) => (await kit.store.taskByKey(of.id, key))?.id ?? "";
    const taskIds = [
      await idOf(run, "internal-2"),
      await idOf(run, "dns_failed-1"),
      await idOf(stranger, "internal-9"),
      "nonsense",
    ];
    const both = await kit.store.retryFailed(run.id, { taskIds, reasons: ["internal"], limit: 10 }, kit.now);
    assert.deepEqual([both.requeued, await queued(kit, run)], [1, ["internal-2"]]);
    assert.equal((await kit.store.retryFailed(run.id, { taskIds, limit: 10 }, kit.now)).requeued, 1);
    assert.equal(await kit.status(stranger), "failed");
  });

  scenario("an example that is tried again makes place for another", async (kit) => {
    const run = await failedRun(kit, ["internal-1", "internal-2", elsewhere("internal-3")]);
    for (const left of [2, 1]) {
      const [before] = await kit.store.runErrors(run.id);
      await kit.store.retryFailed(run.id, { taskIds: [before?.exampleTaskId ?? ""], limit: 1 }, kit.now);
      const [after] = await kit.store.runErrors(run.id);
      assert.equal(after?.count, left);
      assert.equal((await kit.store.task(after.exampleTaskId))?.state, "failed");
    }
    await kit.store.retryFailed(run.id, { limit: 1 }, kit.now);
    assert.deepEqual(await kit.store.runErrors(run.id), []);
  });

  scenario("the example of a failure is the first that something is kept of to look at", async (kit) => {
    const seen: Record<string, TaskArtifact[]> = {
      plain: [],
      archived: [{ ...evidence("a"), role: "exchange" }],
      seen: [evidence("b")],
      later: [evidence("c")],
    };
    const order = { kind: "crawl", maxAttempts: 1, snapshot: {} } as const;
    const { created: run } = await kit.store.startRun(
      order,
      Object.keys(seen).map((key) => newTask(key)),
      kit.now,
    );
    await kit.store.admitCrawls(5, kit.now);
    const lane = await kit.take("A");
    for (const task of (await kit.claim(lane)).tasks) {
      const verdict: Verdict = { kind: "failed", failure: failure("internal", `of ${task.key}`) };
      await kit.report(lane, [task], verdict, { evidence: seen[task.key]! });
    }
    const [group] = await kit.store.runErrors(run.id);
    assert.deepEqual([group?.count, group?.exampleMessage], [4, "of seen"]);
    assert.equal(group?.exampleTaskId, (await kit.store.taskByKey(run.id, "seen"))?.id);
  });

  scenario("what fails again while others are put back is left for the next time, by any clock", async (kit) => {
    const keys = ["internal-1", "dns_failed-1", "internal-2", elsewhere("internal-3"), elsewhere("dns_failed-2")];
    for (const reasons of [undefined, ["internal", "dns_failed"]] as const) {
      const run = await failedRun(kit, keys);
      kit.clock.wall -= 3_600_000;
      const pieces: number[] = [];
      for (let after: RequeuePosition | null | undefined; after !== null;) {
        const window = { limit: 2, ...(after === undefined ? {} : { after }), ...(reasons ? { reasons } : {}) };
        const part = await kit.store.retryFailed(run.id, window, kit.now);
        pieces.push(part.requeued);
        after = part.next;
        // New ones come and fail, too.
        await kit.enqueue(run, [`more-${pieces.length}`]);
        for (const name of [LANE, OTHER]) {
          const lane = await kit.take("B", name);
          await kit.work(lane, failedBy("internal"));
          await kit.store.releaseLane(lane);
        }
      }
      assert.equal(
        pieces.reduce((sum, piece) => sum + piece),
        5,
        `${pieces}`,
      );
      assert.ok(pieces.every((piece) => piece <= 2));
    }
  });

  scenario("failed tasks are listed page by page, over several sites", async (kit) => {
    const keys = Array.from({ length: 7 }, (_, n) => `internal-${n}`);
    const run = await failedRun(
      kit,
      keys.map((key, n) => (n % 3 === 0 ? elsewhere(key) : newTask(key))),
    );
    await failedRun(kit, ["internal-x"]);
    const seen: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await kit.store.tasks(run.id, {
        states: ["failed"],
        limit: 2,
        ...(after === undefined ? {} : { after }),
      });
      if (page.length === 0) break;
      seen.push(...page.map(({ key }) => key));
      after = page.at(-1)?.id;
    }
    assert.deepEqual(seen, keys);
    const there = await kit.store.tasks(run.id, { states: ["failed"], site: "b.example", limit: 2 });
    assert.deepEqual(
      there.map(({ key }) => key),
      ["internal-0", "internal-3"],
    );
  });

  scenario("a run is told site by site, with what the site asks for and when the next try is", async (kit) => {
    const run = await kit.runWith([newTask("a1"), newTask("a2", { resolver: "r" }), "a3", elsewhere("b1")]);
    const more = await kit.runWith(["other"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const of = (...keys: string[]) => tasks.filter(({ key }) => keys.includes(key));
    await kit.settle(lane, of("a1"), retryAt(kit.now + 7000));
    await kit.settle(lane, of("a2"), retryAt(kit.now + 5000));
    await kit.store.setSite("b.example", { paused: true });
    const list = await kit.store.runSites(run.id, { limit: 10 });
    assert.deepEqual(
      list.map(({ counts, nextTryAt, lastFailure, lastTries, laneRunning, site }) => [
        site.site,
        counts.queued,
        counts.running,
        counts.retrying,
        nextTryAt,
        lastFailure?.reason ?? null,
        lastTries,
        laneRunning,
        site.paused,
      ]),
      [
        ["a.example", 0, 1, 2, kit.now + 5000, "connection_reset", 1, 2, false],
        ["b.example", 1, 0, 0, null, null, 0, 0, true],
      ],
    );
    const why = await kit.store.retryReasons(run.id);
    assert.deepEqual(
      why.map(({ reason, count, nextTryAt }) => [reason, count, nextTryAt]),
      [["connection_reset", 2, kit.now + 5000]],
      "why those have failed that are tried again",
    );
    assert.ok(of("a1", "a2").some(({ id, url }) => id === why[0]?.exampleTaskId && url === why[0].exampleUrl));
    assert.deepEqual(await kit.store.retryReasons(more.id), []);
    const retryable = await kit.store.tasks(run.id, { states: ["retrying", "failed"], retryable: true, limit: 10 });
    assert.deepEqual(retryable.map(({ key }) => key).toSorted(), ["a1", "a2"]);
    const names = async (filter: object) =>
      (await kit.store.runSites(run.id, { limit: 10, ...filter })).map(({ site }) => site.site);
    assert.deepEqual(await names({ limit: 1 }), ["a.example"]);
    assert.deepEqual(await names({ after: "a.example" }), ["b.example"]);
    assert.deepEqual(await names({ state: "running" }), ["a.example"]);
    assert.deepEqual(await names({ state: "queued" }), ["b.example"]);
    assert.deepEqual(await names({ state: "queued", after: "b.example" }), []);
    assert.deepEqual(await names({ site: "b.example" }), ["b.example"]);
    assert.deepEqual(await names({ site: "nobody.example" }), []);
    assert.equal((await kit.store.runSites(more.id, { limit: 10 })).length, 1);
  });

  scenario("crawls that run and wait are counted, other runs are not", async (kit) => {
    for (const key of ["1", "2", "3"])
      await kit.store.startRun({ kind: "crawl", maxAttempts: 1, snapshot: {} }, [newTask(key)], kit.now);
    await kit.runWith(["other"]);
    assert.deepEqual(await kit.store.crawlCounts(), { running: 0, queued: 3 });
    await kit.store.admitCrawls(2, kit.now);
    assert.deepEqual(await kit.store.crawlCounts(), { running: 2, queued: 1 });
  });

  scenario(
    "pages of crawls that ended lately are counted, those of other runs and of long ago are not",
    async (kit) => {
      assert.deepEqual((await kit.store.recentPages(kit.now)).completed, 0);
      const begun = kit.now;
      await failedRun(kit, ["internal-1", "timeout_idle-1", "dns_failed-1", "dns_failed-2"], "crawl");
      await failedRun(kit, [elsewhere("internal-q")]);
      kit.pass(60_000);
      const { failed, completed, since } = await kit.store.recentPages(kit.now);
      assert.deepEqual([completed, failed], [0, { timeout: 1, connection: 2, general: 1 }]);
      assert.ok(since <= begun && since > begun - 10_000, `${since} is about ${begun}`);
      kit.pass(300_000);
      assert.deepEqual((await kit.store.recentPages(kit.now)).failed, { timeout: 0, connection: 0, general: 0 });
    },
  );
}

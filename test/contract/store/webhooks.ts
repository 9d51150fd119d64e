import assert from "node:assert/strict";
import type { WebhookEvent } from "../../../src/domain/run/webhooks.ts";
import type { RunRecord } from "../../../src/store/ports/port.ts";
import { FAILED, type Kit, newTask, type Scenario, type Verdict, temporary } from "./kit.ts";

const ALL: readonly WebhookEvent[] = ["started", "page", "completed", "failed", "cancelled"];
const PAGE: Verdict = { kind: "completed", artifacts: [], results: [{ words: "one" }], detail: null };
const UNTIL = 15_000;

async function begin(kit: Kit, keys: readonly string[], events: readonly WebhookEvent[] = ALL): Promise<RunRecord> {
  const webhook = { events, sealed: new Uint8Array([1, 2, 3]) };
  const run = {
    kind: "crawl",
    maxAttempts: 3,
    snapshot: { options: {} },
    webhook,
    reuse: "mark",
    temporary: true,
  } as const;
  const tasks = keys.map((key) => newTask(key));
  const { created } = await kit.store.startRun(run, tasks, kit.now);
  await kit.store.admitCrawls(1000, kit.now);
  return created;
}

/** Ends all pages that are ready. */
async function end(kit: Kit, verdict: Verdict = PAGE): Promise<void> {
  const lane = await kit.take("A");
  const { tasks } = await kit.claim(lane);
  await kit.report(lane, tasks, verdict, {});
  await kit.store.releaseLane(lane);
}

const take = (kit: Kit, most = 10) => kit.store.takeDueWebhook({ most, until: kit.now + UNTIL }, kit.now);

/** Takes what is due, and says that it was taken by its receiver. */
async function tell(kit: Kit): Promise<string[]> {
  const due = await take(kit);
  if (due === null) return [];
  await kit.store.webhookTried(due, { delivered: due.calls.map(({ id }) => id) }, kit.now);
  return due.calls.map(({ event }) => event);
}

export function webhookScenarios(scenario: Scenario): void {
  scenario("a run is told in order: its beginning, its pages together, its end", async (kit) => {
    const run = await begin(kit, ["a", "b", "c"]);
    await end(kit);
    assert.equal((await kit.store.run(run.id))?.status, "completed");
    const first = await take(kit);
    assert.deepEqual([first?.runId, [...(first?.sealed ?? [])], first?.tries], [run.id, [1, 2, 3], 0]);
    assert.equal(await take(kit), null, "one that is taken is nobody else's");
    await kit.store.webhookTried(first!, { delivered: first!.calls.map(({ id }) => id) }, kit.now);
    const pages = await take(kit);
    assert.deepEqual(
      pages?.calls.map(({ event }) => event),
      ["page", "page", "page"],
    );
    const ids = await Promise.all(["a", "b", "c"].map(async (key) => (await kit.store.taskByKey(run.id, key))?.id));
    assert.deepEqual(pages?.calls.map(({ taskId }) => taskId).toSorted(), ids.toSorted());
    await kit.store.webhookTried(pages!, { delivered: pages!.calls.map(({ id }) => id) }, kit.now);
    assert.deepEqual(await tell(kit), ["completed"]);
    assert.equal(await take(kit), null);
    assert.equal((await kit.store.dutiesDue(kit.now)).webhooks, false);
  });

  scenario("what was not taken comes again, one at a time until something is", async (kit) => {
    await begin(kit, ["a", "b", "c"], ["page", "failed"]);
    await end(kit, FAILED);
    assert.equal((await kit.store.dutiesDue(kit.now)).webhooks, true);
    const first = await take(kit);
    assert.equal(first?.calls.length, 3, "pages that failed are told, too");
    const failed = { error: "503", nextTryAt: kit.now + 1000 };
    await kit.store.webhookTried(first!, { delivered: [first!.calls[1]!.id], failed }, kit.now);
    assert.equal(await take(kit), null);
    kit.pass(1000);
    const again = await take(kit);
    assert.deepEqual(
      again?.calls.map(({ id }) => id),
      [first!.calls[0]!.id],
      "the same under the same id",
    );
    assert.equal(again?.tries, 1);
    await kit.store.webhookTried(again!, { delivered: [again!.calls[0]!.id] }, kit.now);
    assert.deepEqual(await tell(kit), ["page"]);
    assert.deepEqual(await tell(kit), ["failed"]);
  });

  scenario("what its taker has died over is taken by another one", async (kit) => {
    await begin(kit, ["a"]);
    const first = await take(kit);
    kit.pass(UNTIL);
    assert.deepEqual((await take(kit))?.calls, first?.calls);
  });

  scenario("one that is given up is told nothing more, and the run says so", async (kit) => {
    const run = await begin(kit, ["a"]);
    const due = (await take(kit))!;
    await kit.store.webhookTried(due, { delivered: [], failed: { error: "nobody there", nextTryAt: null } }, kit.now);
    const log = await kit.store.events(run.id, { limit: 10 });
    assert.equal(log.at(-1)?.message, "Webhook given up: nobody there");
    await end(kit);
    kit.pass(1e9);
    assert.equal(await take(kit), null);
  });

  scenario("only what was asked for is told, and a cancelled run as such", async (kit) => {
    const run = await begin(kit, ["a"], ["cancelled"]);
    assert.equal(await take(kit), null);
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    assert.deepEqual(await tell(kit), ["cancelled"]);
  });

  scenario(
    "a page that was got under a mark is found again by its address, as long as its run is there",
    async (kit) => {
      const run = await begin(kit, ["a", "b"]);
      const lane = await kit.take("A");
      const { tasks } = await kit.claim(lane);
      await kit.report(lane, tasks.slice(0, 1), PAGE, {});
      await kit.report(lane, tasks.slice(1), FAILED, {});
      await kit.store.releaseLane(lane);
      const at = kit.now;
      const url = tasks[0]!.url ?? "";
      kit.pass(500);
      const found = await kit.store.reusablePage("mark", `${url}#part`, at);
      assert.deepEqual(found, { runId: run.id, taskId: tasks[0]!.id, fetchedAt: at });
      assert.equal(await kit.store.reusablePage("mark", url, at + 1), null, "older than wanted");
      assert.equal(await kit.store.reusablePage("other", url, at), null);
      assert.equal(await kit.store.reusablePage("mark", tasks[1]!.url ?? "", at), null, "a page that failed is none");
      kit.pass(10);
      assert.equal(await kit.store.expireRuns(temporary(kit.now), 10, kit.now), 1);
      assert.equal(await kit.store.reusablePage("mark", url, at), null);
    },
  );

  scenario("a temporary run expires, whatever its kind, and leaves nothing", async (kit) => {
    const page = { kind: "page", maxAttempts: 1, snapshot: {} } as const;
    const { created: brief } = await kit.store.startRun({ ...page, temporary: true }, [newTask("a")], kit.now);
    const { created: kept } = await kit.store.startRun(page, [newTask("b")], kit.now);
    await end(kit);
    kit.pass(10);
    assert.equal(await kit.store.expireRuns(temporary(kit.now), 10, kit.now), 1);
    assert.equal(await kit.store.run(brief.id), null);
    assert.equal((await kit.store.run(kept.id))?.status, "completed");
    while ((await kit.store.removeExpired(100)) > 0);
  });
}

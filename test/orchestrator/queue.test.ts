import assert from "node:assert/strict";
import { test } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { resolverKey } from "../../src/domain/lane/lane.ts";
import type { QueueItem } from "../../src/domain/lane/queue-item.ts";
import { openAddress, openAddresses } from "../../src/domain/text/sealed-text.ts";
import { enqueueItems } from "../../src/orchestrator/queue/enqueue.ts";
import { listItems, showItem } from "../../src/orchestrator/queue/items.ts";
import { resolverLimit, setResolverLimit } from "../../src/orchestrator/queue/resolvers.ts";
import { retryFailed } from "../../src/orchestrator/queue/retry-failed.ts";
import { openItems, queueStats } from "../../src/orchestrator/queue/stats.ts";
import { candidate, DONE, FAILED, SKIPPED, TTL } from "../contract/store/kit.ts";
import { openOrchestrator } from "./kit.ts";

const item = (id: string, more: Partial<QueueItem> = {}): QueueItem => ({
  artifactId: id,
  url: `http://a.test/${id}`,
  concurrencyKey: null,
  priority: 0,
  payload: null,
  handler: null,
  ...more,
});
const items = (count: number, prefix = "") => Array.from({ length: count }, (_, n) => item(`${prefix}${n}`));
const A = "site:a.test";
const code = (expected: string) => (error: unknown) => isOrbError(error) && error.code === expected;

test("adding an item twice changes nothing about it", async (t) => {
  const orchestrator = await openOrchestrator(t);
  assert.deepEqual(await enqueueItems(orchestrator, [item("1", { priority: 3 })]), { added: 1, existing: 0 });
  assert.deepEqual(await enqueueItems(orchestrator, [item("1", { priority: 9, url: "http://b.test/" })]), {
    added: 0,
    existing: 1,
  });
  const [only] = await listItems(orchestrator, { limit: 10 });
  assert.deepEqual([only?.priority, only?.url], [3, "http://a.test/1"]);
});

test("more than one transaction's worth goes in as one call", async (t) => {
  const orchestrator = await openOrchestrator(t);
  assert.deepEqual(await enqueueItems(orchestrator, items(1234)), { added: 1234, existing: 0 });
  assert.equal((await queueStats(orchestrator)).queued, 1234);
});

test("a finished queue opens again when items come, and is one run for ever", async (t) => {
  const orchestrator = await openOrchestrator(t);
  await enqueueItems(orchestrator, [item("1")]);
  await orchestrator.work(A, () => DONE);
  const before = await orchestrator.store.runByAlias("queue");
  assert.equal(before?.status, "completed");
  await enqueueItems(orchestrator, [item("2")]);
  const after = await orchestrator.store.runByAlias("queue");
  assert.deepEqual([after?.id, after?.status, after?.generation], [before?.id, "running", 2]);
});

test("the numbers add up, in all and per site", async (t) => {
  const orchestrator = await openOrchestrator(t);
  assert.deepEqual(await queueStats(orchestrator), {
    queued: 0,
    in_progress: 0,
    done: 0,
    skipped: 0,
    error: 0,
    total: 0,
    lanes: [],
  });
  await enqueueItems(orchestrator, [
    ...items(6),
    ...items(2, "b").map((one) => ({ ...one, url: "http://b.test:8080/" })),
  ]);
  await orchestrator.work(A, (key) => (key === "0" ? FAILED : key === "1" ? SKIPPED : DONE));
  const stats = await queueStats(orchestrator);
  const { lanes, ...all } = stats;
  assert.deepEqual(all, { queued: 2, in_progress: 0, done: 4, skipped: 1, error: 1, total: 8 });
  assert.deepEqual(
    lanes.map((lane) => [lane.lane, lane.queued, lane.done, lane.total]),
    [
      ["a.test", 0, 4, 6],
      ["b.test:8080", 2, 0, 2],
    ],
  );
  assert.equal(openItems(stats), 2);
});

test("the list filters by state and goes on behind an item", async (t) => {
  const orchestrator = await openOrchestrator(t);
  assert.deepEqual(await listItems(orchestrator, { limit: 10 }), []);
  await enqueueItems(orchestrator, items(25));
  await orchestrator.work(A, (key) => (Number(key) % 5 === 0 ? FAILED : DONE));
  const failed = await listItems(orchestrator, { status: "error", limit: 100 });
  assert.deepEqual(
    failed.map((one) => [one.artifact_id, one.failure_reason]),
    ["0", "5", "10", "15", "20"].map((id) => [id, "http_not_found"]),
  );
  const seen: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await listItems(orchestrator, { limit: 10, ...(after === undefined ? {} : { after }) });
    if (page.length === 0) break;
    seen.push(...page.map((one) => one.artifact_id));
    after = page.at(-1)?.id;
  }
  assert.deepEqual(
    seen,
    items(25).map((one) => one.artifactId),
  );
});

test("going on behind something that is no item of this queue is refused, not started over", async (t) => {
  const orchestrator = await openOrchestrator(t);
  await enqueueItems(orchestrator, items(3));
  await assert.rejects(listItems(orchestrator, { limit: 10, after: "1" }), code("input_invalid"));
  await assert.rejects(
    listItems(orchestrator, { limit: 10, after: "00000000-0000-8001-8000-000000000001" }),
    code("input_invalid"),
  );
});

test("one item is found by its artifact_id and by its id, with history, files and records", async (t) => {
  const orchestrator = await openOrchestrator(t);
  await enqueueItems(orchestrator, [item("paper 1", { payload: { doi: "10.1/x" }, concurrencyKey: "crossref" })]);
  await orchestrator.work(A, () => ({
    kind: "completed",
    artifacts: [{ hash: "ab".repeat(32), size: 12, contentType: "application/pdf", url: "http://a.test/x.pdf" }],
    results: [{ title: "X" }],
    detail: null,
  }));
  const shown = await showItem(orchestrator, "paper 1", (hash) => `files/${hash.slice(0, 4)}`);
  assert.deepEqual(await showItem(orchestrator, shown.id, (hash) => `files/${hash.slice(0, 4)}`), shown);
  assert.deepEqual(
    [shown.status, shown.site, shown.resolver, shown.payload, shown.results, shown.history.length],
    ["done", "a.test", "crossref", { doi: "10.1/x" }, [{ title: "X" }], 1],
  );
  assert.equal(shown.files[0]?.path, "files/abab");
  assert.equal(shown.finished_at, new Date(orchestrator.clock.now()).toISOString());
  await assert.rejects(
    showItem(orchestrator, "paper 2", () => ""),
    code("not_found"),
  );
});

test("an id of another run's task is no item of the queue", async (t) => {
  const orchestrator = await openOrchestrator(t);
  await enqueueItems(orchestrator, items(1));
  const other = await orchestrator.store.openRun(
    { kind: "crawl", maxAttempts: 1, snapshot: {} },
    orchestrator.clock.now(),
  );
  await orchestrator.store.enqueue(
    other.id,
    [
      {
        key: "page",
        lane: A,
        site: "a.test",
        resolver: null,
        url: "http://a.test/",
        priority: 0,
        handler: null,
        payload: null,
      },
    ],
    orchestrator.clock.now(),
  );
  const [page] = await orchestrator.store.tasks(other.id, { limit: 1 });
  await assert.rejects(
    showItem(orchestrator, page!.id, () => ""),
    code("not_found"),
  );
});

test("failed items get fresh attempts; all of them, or one site's", async (t) => {
  const orchestrator = await openOrchestrator(t);
  assert.deepEqual(await retryFailed(orchestrator), { requeued: 0 });
  await enqueueItems(orchestrator, [...items(3), ...items(2, "b").map((one) => ({ ...one, url: "http://b.test/" }))]);
  await orchestrator.work(A, () => FAILED);
  await orchestrator.work("site:b.test", () => FAILED);
  assert.equal((await orchestrator.store.runByAlias("queue"))?.status, "failed");
  orchestrator.woken.length = 0;
  assert.deepEqual(await retryFailed(orchestrator, { site: "B.test" }), { requeued: 2 });
  assert.deepEqual(orchestrator.woken, [["site:b.test"]]);
  assert.deepEqual(await retryFailed(orchestrator), { requeued: 3 });
  assert.deepEqual(await retryFailed(orchestrator), { requeued: 0 });
  const [one] = await listItems(orchestrator, { limit: 1 });
  assert.deepEqual([one?.status, one?.finished_at], ["queued", null]);
  await orchestrator.work(A, () => DONE);
  await orchestrator.work("site:b.test", () => DONE);
  assert.equal((await orchestrator.store.runByAlias("queue"))?.status, "completed");
});

test("thousands of failed items are given fresh attempts in short transactions", async (t) => {
  const orchestrator = await openOrchestrator(t);
  await enqueueItems(orchestrator, items(2500));
  await orchestrator.work(A, () => FAILED);
  assert.deepEqual(await retryFailed(orchestrator), { requeued: 2500 });
});

test("a site that is not one is refused by name", async (t) => {
  const orchestrator = await openOrchestrator(t);
  await enqueueItems(orchestrator, items(1));
  await assert.rejects(retryFailed(orchestrator, { site: "http://a.test/x" }), code("input_invalid"));
});

test("a resolver's limit is set live and taken back", async (t) => {
  const orchestrator = await openOrchestrator(t);
  assert.equal(await resolverLimit(orchestrator, "crossref"), null);
  await setResolverLimit(orchestrator, "crossref", 2);
  assert.equal(await resolverLimit(orchestrator, "crossref"), 2);
  assert.deepEqual(orchestrator.woken, [null]);
  await setResolverLimit(orchestrator, "crossref", null);
  assert.equal(await resolverLimit(orchestrator, "crossref"), null);
});

test("a password in an address, or in a payload, is stored sealed and shown to nobody", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const url = "http://ana:s3cret@a.test/x";
  await enqueueItems(orchestrator, [item("1", { url, payload: { also: [url], n: 1 } })]);
  const run = await orchestrator.store.runByAlias("queue");
  const task = await orchestrator.store.taskByKey(run!.id, "1");
  assert.doesNotMatch(JSON.stringify(task), /s3cret/);
  assert.equal(openAddress(orchestrator.seal, task?.url ?? ""), url);
  assert.deepEqual(openAddresses(orchestrator.seal, task?.payload), { also: [url], n: 1 });
  const shown = await showItem(orchestrator, "1", (hash) => hash);
  assert.deepEqual(
    [shown.url, shown.payload, shown.site],
    ["http://***@a.test/x", { also: ["http://***@a.test/x"], n: 1 }, "a.test"],
  );
});

test("a literal address that may not be asked is refused at once, unless a handler of the user's own takes it", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const bad = ["http://127.0.0.1/", "http://169.254.169.254/latest", "http://[::1]/", "http://2130706433/"];
  for (const url of bad)
    await assert.rejects(enqueueItems(orchestrator, [item("good"), item("bad", { url })]), {
      code: "forbidden_target",
      fields: [
        {
          path: "[1].url",
          message: "the target is not on the public internet; APP_ALLOW_PRIVATE_NETWORKS can allow its network",
        },
      ],
    });
  assert.deepEqual(await listItems(orchestrator, { limit: 10 }), [], "none of them is added");
  await enqueueItems(orchestrator, [item("own", { url: "http://127.0.0.1/", handler: "mine" })]);
});

test("what waits for a limit says so between two turns as well; what waits for its own site does not", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const { store } = orchestrator;
  const under = (key: string, sites: string[], count: number) =>
    sites.flatMap((site) =>
      Array.from({ length: count }, (_, n) =>
        item(`${key} ${site} ${n}`, { url: `http://${site}.test/${n}`, concurrencyKey: key }),
      ),
    );
  await enqueueItems(orchestrator, [
    ...under("one", ["a", "b"], 2),
    ...under("three", ["c"], 9),
    ...under("last", ["d"], 1),
  ]);
  for (const [key, limit] of Object.entries({ one: 1, three: 3, last: 1 }))
    await setResolverLimit(orchestrator, key, limit);
  /** Keys whose queued items say that they wait for them. */
  const said = async () => {
    const list = await listItems(orchestrator, { limit: 100 });
    const waiting = list.filter(({ waiting_for: waits }) => waits !== null);
    for (const { waiting_for: waits } of waiting) assert.equal(waits?.reason, "concurrency_key");
    return [...new Set(waiting.map(({ resolver }) => resolver))].toSorted();
  };
  assert.deepEqual(await said(), [], "nobody works on any of them");
  await store.takeEngine(candidate("worker"), TTL);
  for (const key of ["one", "three", "last"]) await store.acquirePermits(resolverKey(key), "worker", 3, 3);
  assert.deepEqual(await said(), ["one", "three"], "only one item is left of the third key: the unit is for that one");
  const [first] = await listItems(orchestrator, { limit: 1 });
  assert.equal((await showItem(orchestrator, first?.id ?? "", String)).waiting_for?.reason, "concurrency_key");
  await store.setSite("c.test", { maxConcurrency: 2 });
  assert.deepEqual(await said(), ["one"], "the site admits no more than two");
  await store.releasePermits(resolverKey("one"), "worker", 1, true);
  assert.deepEqual(await said(), ["one"], "a process that waits for a unit");
  await store.releasePermits(resolverKey("one"), "worker", 0);
  assert.deepEqual(await said(), ["one"], "it may be on its way to another worker");
  await orchestrator.clock.advance(1001);
  assert.deepEqual(await said(), [], "nobody asks for one");
});

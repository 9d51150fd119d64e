import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failure } from "../../src/domain/run/failure.ts";
import { MOST_AT_ONCE } from "../../src/orchestrator/runs/bulk.ts";
import type { Body, Query } from "../../src/api-client/client.ts";
import { attempt, evidence, newTask } from "../contract/store/kit.ts";
import { openTestApi, type TestApi } from "./kit.ts";

const T0 = Date.parse("2030-01-01T00:00:00Z");

/** Runs of one page, an hour apart; those that are named so have failed. */
async function manyRuns(served: TestApi, names: readonly string[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const { created } = await served.store.startRun(
      { kind: "page", name, url: `https://a.example/${name}`, site: "a.example", maxAttempts: 1, snapshot: {} },
      [newTask(name)],
      T0 + index * 3_600_000,
    );
    ids.set(name, created.id);
  }
  return ids;
}

const listed = async (served: TestApi, query: Query<"get /runs">) =>
  (await served.client.runs.list(query).take()).map(({ name }) => name);

const bulk = (served: TestApi, body: Body<"post /runs/bulk">) => served.client.runs.change(body);

describe("the list of runs", () => {
  test("is narrowed by states, time, job and the beginning of an id, and counted when asked", async (t) => {
    const served = await openTestApi(t);
    const ids = await manyRuns(served, ["a", "b", "c", "d"]);
    await served.client.runs.cancel(ids.get("b") ?? "");
    await served.client.runs.pause(ids.get("c") ?? "");
    assert.deepEqual(await listed(served, { status: "paused,cancelled" }), ["c", "b"]);
    const time = { since: "2030-01-01T01:00:00Z", until: "2030-01-01T03:00:00Z" };
    assert.deepEqual(await listed(served, time), ["c", "b"]);
    assert.deepEqual(await listed(served, { q: ids.get("d")?.slice(0, 8) ?? "" }), ["d"]);
    assert.deepEqual(await listed(served, { job_id: "3b241101-e2bb-4255-8caf-4136c566a962" }), []);
    const counted = await served.client.runs.list({ total: true, limit: 1, status: "queued" }).page();
    assert.deepEqual([counted.total, counted.rows.length], [2, 1]);
    const wrong = await served.get("/runs?status=queued,sleeping");
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /query\.status: .*queued.*cancelled/);
  });
});

describe("an id that is not whole", () => {
  test("is read by its beginning, as screens show it, and last is the newest", async (t) => {
    const served = await openTestApi(t);
    const ids = await manyRuns(served, ["a", "b", "c"]);
    const [a = "", c = ""] = [ids.get("a"), ids.get("c")];
    assert.equal((await served.client.runs.get(a.slice(0, 8))).id, a);
    assert.equal((await served.client.runs.get(a.slice(0, 13).toUpperCase())).id, a);
    assert.equal((await served.client.runs.get(a)).id, a);
    assert.equal((await served.client.runs.get("last")).id, c);
    assert.equal((await served.client.runs.events("last"))[0]?.run_id ?? c, c);
    assert.equal((await served.client.runs.cancel(a.slice(0, 8))).id, a);
    const job = await served.client.jobs.create({ name: "j", target_url: "https://a.example/" });
    for (const [path, why] of [
      [`/jobs/runs/${a.slice(0, 5)}`, /there is no run with the id/],
      ["/jobs/runs/00000000-none", /there is no run with the id/],
      ["/jobs/runs/fedcba98", /there is no run whose id begins with fedcba98/],
      ["/jobs/last", /there is no job with the id/],
      // The ids of all jobs begin alike.
      [`/jobs/${job.id.slice(0, 8)}`, /there is no job with the id/],
      ["/scraping/tasks/last/status", /there is no crawl yet/],
      [`/scraping/tasks/${a.slice(0, 8)}/status`, /there is no crawl whose id begins with/],
      ["/workflows/last", /there is no workflow yet/],
    ] as const) {
      const refused = await served.get(path);
      assert.equal(refused.status, 404, path);
      assert.match(refused.text, why);
    }
  });
});

describe("many runs at once", () => {
  test("of a workflow are left out or meant alone, as the list has them", async (t) => {
    const served = await openTestApi(t);
    await manyRuns(served, ["a", "b"]);
    const nobody = "3b241101-e2bb-4255-8caf-4136c566a962";
    assert.deepEqual(await listed(served, { parent: "none" }), ["b", "a"]);
    assert.deepEqual(await listed(served, { parent: "any" }), ["b", "a"]);
    assert.deepEqual(await listed(served, { parent: nobody }), []);
    const cancel = async (parent: string) =>
      (await bulk(served, { action: "cancel", filter: { parent }, dry_run: true })).matched;
    assert.deepEqual([await cancel("none"), await cancel("any"), await cancel(nobody)], [2, 2, 0]);
    const wrong = await served.get("/runs?parent=some");
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /query\.parent/);
  });

  test("are counted before they are cancelled, and only those that can be are meant", async (t) => {
    const served = await openTestApi(t);
    const ids = await manyRuns(served, ["a", "b", "c", "d"]);
    await served.client.runs.cancel(ids.get("a") ?? "");
    const filter = { until: "2030-01-01T03:00:00Z" };
    assert.deepEqual(await bulk(served, { action: "cancel", filter, dry_run: true }), {
      matched: 2,
      done: 0,
      failed_count: 0,
      failed: [],
      remaining: 2,
      next: ids.get("c"),
    });
    assert.deepEqual(await listed(served, { status: "queued" }), ["d", "c", "b"], "counting changes nothing");
    const done = await bulk(served, { action: "cancel", filter });
    assert.deepEqual([done.matched, done.done, done.remaining], [2, 2, 0]);
    assert.deepEqual(await listed(served, { status: "queued" }), ["d"]);
    assert.equal((await bulk(served, { action: "cancel", filter: { status: ["completed"] } })).matched, 0);
  });

  test("are paused and resumed by their ids, and tried again when they have failed", async (t) => {
    const served = await openTestApi(t);
    const ids = await manyRuns(served, ["a", "b", "c"]);
    const run_ids = [ids.get("a") ?? "", ids.get("b") ?? ""];
    assert.equal((await bulk(served, { action: "pause", filter: { run_ids } })).done, 2);
    assert.deepEqual(await listed(served, { status: "paused" }), ["b", "a"]);
    assert.equal((await bulk(served, { action: "resume", filter: { run_ids } })).done, 2);
    await served.work("site:a.example", () => ({ kind: "failed", failure: failure("http_not_found", "gone") }));
    assert.deepEqual(await listed(served, { status: "failed" }), ["c", "b", "a"]);
    const again = await bulk(served, { action: "retry-failed", filter: { q: "https://a.example/" } });
    assert.deepEqual([again.matched, again.done], [3, 3]);
    assert.deepEqual(await listed(served, { status: "failed" }), []);
  });

  test("that were counted are changed, and none that began since; each is met once", async (t) => {
    const served = await openTestApi(t);
    const ids = await manyRuns(served, ["a", "b", "c"]);
    const counted = await bulk(served, { action: "cancel", filter: {}, dry_run: true });
    assert.deepEqual([counted.matched, counted.next], [3, ids.get("c")]);
    await manyRuns(served, ["later"]);
    const from = counted.next ?? "";
    assert.equal((await bulk(served, { action: "cancel", filter: {}, from: ids.get("b") ?? "" })).done, 2);
    const rest = await bulk(served, { action: "cancel", filter: {}, from });
    assert.deepEqual([rest.matched, rest.done, rest.next], [1, 1, null]);
    assert.deepEqual(await listed(served, { status: "queued" }), ["later"]);
    const nobody = await served.call({
      method: "POST",
      path: "/runs/bulk",
      body: { action: "cancel", filter: {}, from: "3b241101-e2bb-4255-8caf-4136c566a962" },
    });
    assert.equal(nobody.status, 422);
    assert.match(nobody.text, /"from"/);
  });

  test("of more than a call changes are gone through once, although they fail again at once [slow]", async (t) => {
    const served = await openTestApi(t);
    const names = Array.from({ length: MOST_AT_ONCE + 2 }, (_, index) => `run ${index}`);
    const ids = await manyRuns(served, names);
    const first = await bulk(served, { action: "pause", filter: {} });
    assert.deepEqual([first.done, first.remaining, first.next], [MOST_AT_ONCE, 2, ids.get("run 1")]);
    await bulk(served, { action: "resume", filter: { run_ids: [ids.get(names.at(-1) ?? "") ?? ""] } });
    const second = await bulk(served, { action: "pause", filter: {}, from: first.next ?? "" });
    assert.deepEqual([second.matched, second.done, second.next], [2, 2, null]);
  });

  test("tell which of them could not be changed and why; the others are", async (t) => {
    const served = await openTestApi(t);
    await manyRuns(served, ["a"]);
    await served.client.queue.add({ artifact_id: "x", url: "https://b.example/x" });
    const { matched, done, failed, failed_count } = await bulk(served, { action: "cancel", filter: {} });
    assert.deepEqual([matched, done, failed_count], [2, 1, 1]);
    assert.deepEqual(
      failed.map(({ code, detail }) => [code, detail]),
      [["illegal_transition", "the queue is a permanent run and cannot be cancelled"]],
    );
  });
});

describe("the pages of a run", () => {
  test("come oldest or newest first, are searched, and tell depth, size and how they were got", async (t) => {
    const served = await openTestApi(t);
    const { created: run } = await served.store.startRun(
      { kind: "download", maxAttempts: 1, snapshot: {} },
      ["one", "two", "three"].map((key, depth) => newTask(key, { payload: { depth } })),
      Date.now(),
    );
    await served.work("site:a.example", (key) =>
      key === "two"
        ? { kind: "failed", failure: failure("http_not_found", "gone") }
        : { kind: "completed", artifacts: [], results: [], detail: { bytes: 1234 } },
    );
    type TaskQuery = Query<"get /jobs/runs/{run_id}/tasks">;
    const tasks = (query: TaskQuery) => served.client.runs.tasks(run.id, query);
    const urls = async (query: TaskQuery) => (await tasks(query).take()).map(({ url }) => url?.split("/").at(-1));
    assert.deepEqual(await urls({}), ["one", "two", "three"]);
    assert.deepEqual(await urls({ order: "newest" }), ["three", "two", "one"]);
    assert.deepEqual(await urls({ order: "newest", status: "failed" }), ["two"]);
    assert.deepEqual(await urls({ q: "/T" }), ["two", "three"]);
    assert.deepEqual(await urls({ q: "/t", order: "newest", status: "failed" }), ["two"]);
    const [third] = (await tasks({ order: "newest", limit: 1 }).page()).rows;
    assert.deepEqual(
      [third?.depth, third?.size, third?.strategy, third?.http_status, third?.duration_ms, third?.detail],
      [2, 1234, "http", 200, 5, null],
    );
    assert.deepEqual(await served.client.runs.task(run.id, third!.id), third);
    await assert.rejects(served.client.runs.task(run.id, run.id), { code: "not_found", status: 404 });
    await assert.rejects(served.client.runs.task(third!.id, third!.id), { code: "not_found", status: 404 });
    const { next } = await tasks({ order: "newest", limit: 2 }).page();
    assert.deepEqual(await urls({ order: "newest", limit: 2, cursor: next ?? "" }), ["one"]);
  });

  test("that failed are grouped, with the picture and the copy of the first", async (t) => {
    const served = await openTestApi(t);
    const { created: run } = await served.store.startRun(
      { kind: "page", maxAttempts: 1, snapshot: {} },
      [newTask("wall")],
      Date.now(),
    );
    const { store } = served;
    await store.takeEngine({ id: "w", boot: "b", pid: 1, pidStart: "1", address: "x" }, 60_000);
    const hold = (await store.takeLane("site:a.example", "w", 60_000))!;
    const claim = await store.claim(hold, { limit: 1 }, Date.now());
    const files = [evidence("a"), { ...evidence("b"), role: "snapshot" as const, contentType: "text/html" }];
    const verdict = { kind: "failed", failure: failure("login_page", "it wants a password") } as const;
    await store.settle(
      [{ hold, tasks: [{ task: claim!.tasks[0]!, verdict, attempt: attempt(1), report: { evidence: files } }] }],
      Date.now(),
    );
    const [task] = await served.client.runs.tasks(run.id).take();
    const [group] = await served.client.runs.errors(run.id);
    const idOf = (role: string) => task?.artifacts.find((file) => file.role === role)?.id;
    assert.deepEqual(
      [group?.failure_reason, group?.example.screenshot_id, group?.example.snapshot_id],
      ["login_page", idOf("screenshot"), idOf("snapshot")],
    );
    assert.ok(idOf("screenshot") !== undefined);
  });
});

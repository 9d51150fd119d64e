import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "undici";
import { openClient, type Client } from "../../src/app/context.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { DeletionView } from "../../src/orchestrator/runs/delete.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import type { WorkflowDetail } from "../../src/orchestrator/workflows/view.ts";
import { removeExpiredRuns } from "../../src/supervisor/duties/remove-expired-runs.ts";
import { attempt, candidate, LANE, newTask, TTL } from "../contract/store/kit.ts";
import { until } from "../chaos/orb.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { hang, html, status } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

const DAY = 24 * 3_600_000;
const FOREVER = new AbortController().signal;

/** What the engine does when so much time has passed. */
async function later(client: Client, ms: number): Promise<void> {
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + ms };
  await removeExpiredRuns({ ...client, clock }).run(FOREVER);
}

const SITE = {
  "/": html('<title>Start</title><p>Words.</p><a href="/a">a</a><a href="/missing">gone</a>'),
  "/a": html("<title>A</title><p>Other words.</p>"),
  "/missing": status(404),
};

describe("a finished crawl", () => {
  test("is kept until it is deleted; a temporary one says how long, and goes unless it is kept [slow]", async () => {
    await using site = await MisbehavingSite.start(SITE);
    await using server = await TestServer.open({ APP_RETENTION_HOURS: "24" });
    await using client = await openClient(server.config);
    const submit = async (more: object = {}, headers = {}) =>
      (await server.api.post("/scraping/async-scrape", { url: site.url("/"), ...more }, headers)).json<{
        task_id: string;
      }>().task_id;
    const temporary = { temporary: true };
    const id = await submit(temporary, { "idempotency-key": "once" });
    await server.ended(id);
    const [stays, kept] = [await submit(), await submit(temporary)];
    await server.ended(stays);
    await server.ended(kept);
    const saved = await server.job({ kind: "crawl", target_url: site.url("/"), crawl: {} } as never);
    const ofJob = await server.run(saved.id);

    const status = async (which: string) => (await server.api.get(`/scraping/tasks/${which}/status`)).json<CrawlView>();
    const view = await status(id);
    assert.equal(Date.parse(view.expires_at ?? "") - Date.parse(view.finished_at ?? ""), DAY);
    assert.deepEqual([(await status(stays)).expires_at, (await status(stays)).kept], [null, false]);
    const held = (await server.api.post(`/jobs/runs/${kept}/keep`)).json<RunView>();
    assert.deepEqual([held.expires_at, held.kept], [null, true]);
    assert.deepEqual([(await status(ofJob.id)).expires_at, (await status(ofJob.id)).keep_runs], [null, 1000]);
    const [task] = (await server.api.get(`/jobs/runs/${id}/tasks`)).json<{ id: string }[]>();
    assert.ok(task !== undefined);

    await later(client, DAY - 60_000);
    assert.equal((await server.api.get(`/scraping/tasks/${id}/status`)).status, 200);
    await later(client, DAY + 1000);
    for (const path of ["status", "results", "results?format=csv", "results?include_errors=true"])
      assert.equal((await server.api.get(`/scraping/tasks/${id}/${path}`)).status, 404, path);
    for (const path of ["", "/events", "/tasks", "/results", "/events/stream"])
      assert.equal((await server.api.get(`/jobs/runs/${id}${path}`)).status, 404, path);
    for (const verb of ["retry-failed", "resume", "pause", "cancel", "keep"])
      assert.equal((await server.api.post(`/jobs/runs/${id}/${verb}`)).status, 404, verb);
    assert.equal((await server.api.call("DELETE", `/scraping/tasks/${id}`)).status, 404);

    await server.api.call("DELETE", `/jobs/${saved.id}`);
    await later(client, 400 * DAY);
    const left = (await server.api.get("/runs")).json<{ id: string }[]>();
    assert.deepEqual(left.map((run) => run.id).toSorted(), [stays, kept, ofJob.id].toSorted());
    const again = (await server.api.call("DELETE", `/jobs/runs/${kept}/keep`)).json<RunView>();
    assert.deepEqual([again.kept, again.expires_at !== null], [false, true]);
    await later(client, DAY + 60_000);
    assert.equal((await server.api.get(`/jobs/runs/${kept}`)).status, 404);

    const anew = await submit(temporary, { "idempotency-key": "once" });
    assert.notEqual(anew, id, "the call that began it begins another");
    assert.equal((await server.ended(anew)).status, "completed");
    await server.audit();
  });

  test("that is removed while it is exported ends the export as broken, not as whole, and harms nobody", async () => {
    await using server = await TestServer.open({}, { worker: false });
    await using client = await openClient(server.config);
    const { store } = client;
    const run = {
      kind: "crawl" as const,
      maxAttempts: 1,
      snapshot: { options: { fields: null } },
      temporary: true as const,
    };
    const now = systemClock.now();
    const { created } = await store.startRun(run, [newTask("big")], now);
    await store.admitCrawls(10, now);
    await store.takeEngine(candidate("A"), TTL);
    const hold = (await store.takeLane(LANE, "A", TTL))!;
    const claim = (await store.claim(hold, { limit: 1 }, now))!;
    // More than fits into all buffers on the way.
    const results = Array.from({ length: 5000 }, (_, n) => ({ n, text: "x".repeat(5000) }));
    const verdict = { kind: "completed" as const, artifacts: [], results, detail: null };
    await store.settle([{ hold, tasks: claim.tasks.map((task) => ({ task, verdict, attempt: attempt(1) })) }], now);
    await store.releaseEngine("A");

    const answer = await request(`${server.api.url}/scraping/tasks/${created.id}/results?format=jsonl`);
    const body = answer.body[Symbol.asyncIterator]();
    assert.equal((await body.next()).done, false);
    await later(client, DAY + 1000);
    await assert.rejects(async () => {
      while (!(await body.next()).done);
    });
    assert.equal((await server.api.get(`/scraping/tasks/${created.id}/status`)).status, 404);
  });
});

describe("runs that are deleted", () => {
  const page = html("<title>A</title><p>Words.</p>");

  /** Until it has ended, as a dashboard follows it. */
  async function followed(server: TestServer, answer: { status: number; json<T>(): T }): Promise<DeletionView> {
    assert.equal(answer.status, 202);
    for (let view = answer.json<DeletionView>(); ;) {
      if (view.status === "completed") return view;
      view = (await server.api.get(`/runs/deletions/${view.id}`)).json<DeletionView>();
    }
  }

  test("one by one: not while it runs, and then with all that it had [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page, "/slow": hang });
    await using server = await TestServer.open();
    await using client = await openClient(server.config);
    const done = await server.run({ target_url: site.url("/"), document: { formats: ["html"] } } as never);
    const open = (await server.api.post("/runs", { target_url: site.url("/slow") })).json<RunView>();
    const refused = await server.api.call("DELETE", `/jobs/runs/${open.id}`);
    assert.equal(refused.status, 409);
    assert.match(refused.json<{ hint: string }>().hint, /Cancel it first, or delete with force/);
    assert.equal((await server.api.call("DELETE", `/jobs/runs/${open.id}?force=true`)).status, 204);
    assert.equal((await server.api.call("DELETE", `/jobs/runs/${done.id}`)).status, 204);
    assert.equal((await server.api.call("DELETE", `/jobs/runs/${done.id}`)).status, 404);
    assert.deepEqual((await server.api.get("/runs")).json(), []);
    await later(client, 0);
    const { findings } = await client.store.audit();
    assert.deepEqual(findings, []);
  });

  test("with their job, when that is asked for; else they stay [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page });
    await using server = await TestServer.open();
    const [first, second] = [
      await server.job({ target_url: site.url("/") }),
      await server.job({ target_url: site.url("/") }),
    ];
    for (const job of [first, first, second]) await server.run(job.id);
    assert.equal((await server.api.call("DELETE", `/jobs/${second.id}`)).status, 204);
    const deletion = await followed(server, await server.api.call("DELETE", `/jobs/${first.id}?runs=delete`));
    assert.deepEqual([deletion.matched, deletion.deleted, deletion.filter.job_id], [2, 2, first.id]);
    const left = (await server.api.get("/runs")).json<RunView[]>();
    assert.deepEqual(
      left.map(({ job_id }) => job_id),
      [second.id],
    );
  });

  test("a workflow that has ended says when it is removed", async () => {
    await using server = await TestServer.open({ APP_KEEP_DAYS: "30" });
    const steps = [{ name: "a", task_type: "wait", params: { seconds: 0 } }];
    const created = (
      await server.api.post("/workflows", { definition: { name: "Brief", steps } })
    ).json<WorkflowDetail>();
    assert.equal(created.expires_at, null);
    const ended = await until(async () => {
      const now = (await server.api.get(`/workflows/${created.id}`)).json<WorkflowDetail>();
      return now.status === "completed" && now;
    }, "it has ended");
    assert.equal(Date.parse(ended.expires_at ?? "") - Date.parse(ended.completed_at ?? ""), 30 * DAY);
  });

  test("by what they are: counted first, then in the background; jobs say how many they keep [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page, "/missing": status(404) });
    await using server = await TestServer.open();
    await using client = await openClient(server.config);
    const job = await server.job({ target_url: site.url("/"), tags: ["shop"], keep_runs: 2, keep_days: 30 } as never);
    for (let n = 0; n < 3; n += 1) await server.run(job.id);
    const failed = await server.run({ target_url: site.url("/missing") });
    const { matched } = (
      await server.api.post("/runs/deletions", { filter: { status: ["failed"] }, dry_run: true })
    ).json<DeletionView>();
    assert.equal(matched, 1);
    const open = await server.api.post("/runs/deletions", { filter: { status: ["running"] } });
    assert.equal(open.status, 422);
    await followed(server, await server.api.post("/runs/deletions", { filter: { status: ["failed"] } }));
    assert.equal((await server.api.get(`/jobs/runs/${failed.id}`)).status, 404);
    const [newest] = (await server.api.get(`/jobs/${job.id}/runs`)).json<RunView[]>();
    assert.equal(newest?.keep_runs, 2);
    assert.equal(Date.parse(newest?.expires_at ?? "") - Date.parse(newest?.finished_at ?? ""), 30 * DAY);
    await later(client, 0);
    assert.equal((await server.api.get(`/jobs/${job.id}/runs`)).json<RunView[]>().length, 2);
    const old = { filter: { tag: "shop", ended_before: new Date(systemClock.now() + DAY).toISOString() } };
    assert.equal((await followed(server, await server.api.post("/runs/deletions", old))).deleted, 2);
    assert.equal((await server.api.get("/runs/deletions")).json<DeletionView[]>().length, 2);
    assert.deepEqual((await server.api.get("/runs")).json(), []);
  });
});

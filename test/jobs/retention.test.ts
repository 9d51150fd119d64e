import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "undici";
import { openClient, type Client } from "../../src/client.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import { removeExpiredCrawls } from "../../src/supervisor/duties/remove-expired-crawls.ts";
import { attempt, candidate, LANE, newTask, TTL } from "../contract/store/kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, status } from "../support/misbehaviours.ts";
import { Place } from "./kit.ts";

const DAY = 24 * 3_600_000;
const FOREVER = new AbortController().signal;

/** What the engine does when so much time has passed. */
async function later(client: Client, ms: number): Promise<void> {
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + ms };
  await removeExpiredCrawls({ ...client, clock }).run(FOREVER);
}

const SITE = {
  "/": html('<title>Start</title><p>Words.</p><a href="/a">a</a><a href="/missing">gone</a>'),
  "/a": html("<title>A</title><p>Other words.</p>"),
  "/missing": status(404),
};

describe("a finished crawl", () => {
  test("says how long it is kept; after that every call about it says that there is none [slow]", async () => {
    await using site = await MisbehavingSite.start(SITE);
    await using place = await Place.open({ APP_RETENTION_HOURS: "24" });
    await using client = await openClient(place.config);
    const submit = async (headers = {}) =>
      (await place.api.post("/scraping/async-scrape", { url: site.url("/") }, headers)).json<{ task_id: string }>()
        .task_id;
    const id = await submit({ "idempotency-key": "once" });
    await place.ended(id);
    const page = await place.run({ target_url: site.url("/a"), fields: ["title"] });
    const saved = await place.job({ kind: "crawl", target_url: site.url("/"), crawl: {} } as never);
    const ofJob = await place.run(saved.id);

    const view = (await place.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
    assert.equal(Date.parse(view.expires_at ?? "") - Date.parse(view.finished_at ?? ""), DAY);
    const jobs = (await place.api.get(`/scraping/tasks/${ofJob.id}/status`)).json<CrawlView>();
    assert.deepEqual([jobs.status, jobs.expires_at], ["completed", null]);
    const [task] = (await place.api.get(`/jobs/runs/${id}/tasks`)).json<{ id: string }[]>();
    assert.ok(task !== undefined);

    await later(client, DAY - 60_000);
    assert.equal((await place.api.get(`/scraping/tasks/${id}/status`)).status, 200);
    await later(client, DAY + 1000);
    for (const path of ["status", "results", "results?format=csv", "results?include_errors=true"])
      assert.equal((await place.api.get(`/scraping/tasks/${id}/${path}`)).status, 404, path);
    for (const path of ["", "/events", "/tasks", "/results", "/events/stream"])
      assert.equal((await place.api.get(`/jobs/runs/${id}${path}`)).status, 404, path);
    for (const verb of ["retry-failed", "resume", "pause", "cancel"])
      assert.equal((await place.api.post(`/jobs/runs/${id}/${verb}`)).status, 404, verb);
    assert.equal((await place.api.call("DELETE", `/scraping/tasks/${id}`)).status, 404);
    const left = (await place.api.get("/runs")).json<{ id: string }[]>();
    assert.deepEqual(left.map((run) => run.id).toSorted(), [page.id, ofJob.id].toSorted());

    await place.api.call("DELETE", `/jobs/${saved.id}`);
    const orphan = (await place.api.get(`/scraping/tasks/${ofJob.id}/status`)).json<CrawlView>();
    assert.ok(Date.parse(orphan.expires_at ?? "") > Date.parse(orphan.finished_at ?? "") + DAY, "from the deletion on");
    await later(client, DAY + 60_000);
    assert.equal((await place.api.get(`/scraping/tasks/${ofJob.id}/status`)).status, 404);

    const again = await submit({ "idempotency-key": "once" });
    assert.notEqual(again, id, "the call that began it begins another");
    assert.equal((await place.ended(again)).status, "completed");
    await place.audit();
  });

  test("that is removed while it is exported ends the export as broken, not as whole, and harms nobody", async () => {
    await using place = await Place.open({}, { worker: false });
    await using client = await openClient(place.config);
    const { store } = client;
    const run = { kind: "crawl" as const, maxAttempts: 1, snapshot: { options: { fields: null } } };
    const now = systemClock.now();
    const { made } = await store.startRun(run, [newTask("big")], now);
    await store.admitCrawls(10, now);
    await store.takeEngine(candidate("A"), TTL);
    const hold = (await store.takeLane(LANE, "A", TTL))!;
    const claim = (await store.claim(hold, { limit: 1 }, now))!;
    // More than fits into all buffers on the way.
    const results = Array.from({ length: 5000 }, (_, n) => ({ n, text: "x".repeat(5000) }));
    const verdict = { kind: "completed" as const, artifacts: [], results, detail: null };
    await store.settle([{ hold, tasks: claim.tasks.map((task) => ({ task, verdict, attempt: attempt(1) })) }], now);
    await store.releaseEngine("A");

    const answer = await request(`${place.api.url}/scraping/tasks/${made.id}/results?format=jsonl`);
    const body = answer.body[Symbol.asyncIterator]();
    assert.equal((await body.next()).done, false);
    await later(client, DAY + 1000);
    await assert.rejects(async () => {
      while (!(await body.next()).done);
    });
    assert.equal((await place.api.get(`/scraping/tasks/${made.id}/status`)).status, 404);
  });
});

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { firstTimes, held, page, status } from "../support/misbehaviours.ts";
import { TestServer, told } from "./kit.ts";

describe("the states of a run", { concurrency: 4 }, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());

  const act = async (id: string, what: string) => {
    const answer = await server.api.post(`/jobs/runs/${id}/${what}`);
    return { ...answer.json<RunView>(), httpStatus: answer.status };
  };

  test("queued, running, completed: each is seen, with its time", async () => {
    const gate = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({ "/": held(gate.promise, page("Page")) });
    const queued = await server.begin({ target_url: site.url("/") });
    assert.deepEqual(
      [queued.status, queued.started_at, queued.finished_at, queued.progress],
      ["queued", null, null, 0],
    );
    assert.deepEqual([queued.attempt, queued.generation, queued.resolved_strategy, queued.stats], [1, 1, null, {}]);
    await site.visited("/");
    const running = await server.show(queued.id);
    assert.equal(running.status, "running");
    assert.ok(running.started_at !== null && running.started_at >= running.created_at);
    gate.resolve();
    const ended = await server.ended(queued.id);
    assert.equal(ended.status, "completed");
    assert.ok(ended.finished_at !== null && ended.finished_at >= running.started_at);
  });

  test("queued at a site that is paused: it says so, and waits for no turn", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Page") });
    await server.run({ target_url: site.url("/") });
    await server.api.post(`/sites/${site.name}/pause`);
    const { id, job_id: job } = await server.begin({ target_url: site.url("/") });
    for (const path of [`/jobs/runs/${id}`, `/jobs/runs/${id}/sites`, `/jobs/${job}/runs`]) {
      const [first] = [(await server.api.get(path)).json<RunView | RunView[]>()].flat();
      assert.equal(first?.waiting_for?.reason, "site_paused", path);
    }
    await server.api.post(`/sites/${site.name}/resume`);
    const ended = await server.ended(id);
    assert.deepEqual([ended.status, ended.waiting_for], ["completed", null]);
  });

  test("paused while it is fetched: the fetch ends, a retry waits until the run goes on", async () => {
    const gate = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({
      "/": firstTimes(1, held(gate.promise, status(500)), page("Fine again")),
    });
    const { id } = await server.begin({ target_url: site.url("/"), strategy: "http" });
    await site.visited("/");
    assert.deepEqual([(await act(id, "pause")).status, (await act(id, "pause")).httpStatus], ["paused", 200]);
    gate.resolve();
    await server.said(id, /^Retry scheduled/);
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.deepEqual([(await server.show(id)).status, site.count("/")], ["paused", 1], "its time came and it waits");
    assert.equal((await act(id, "resume")).status, "running");
    const run = await server.ended(id);
    assert.deepEqual([run.status, run.attempt, site.count("/")], ["completed", 2, 2]);
    const story = told(await server.events(id));
    assert.ok(story.indexOf("Run paused") < story.indexOf("Run resumed"), String(story));
    assert.equal(story.at(-1), "Run completed");
  });

  test("paused while it is fetched, and the fetch is good: the run ends, and stays so", async () => {
    const gate = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({ "/": held(gate.promise, page("Page")) });
    const { id } = await server.begin({ target_url: site.url("/"), strategy: "http" });
    await site.visited("/");
    assert.equal((await act(id, "pause")).status, "paused");
    gate.resolve();
    await site.when(() => site.open === 0, "it is answered");
    const paused = await server.show(id);
    if (paused.status === "paused") assert.equal((await act(id, "resume")).httpStatus, 200);
    const run = await server.ended(id);
    assert.deepEqual([run.status, site.count("/")], ["completed", 1]);
    assert.equal((await server.results(id)).length, 1);
  });

  test("what a state does not allow is refused with the way out, and changes nothing", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Page") });
    const run = await server.run({ target_url: site.url("/") });
    for (const what of ["pause", "resume", "retry-failed", "cancel"]) {
      const answer = await server.api.post(`/jobs/runs/${run.id}/${what}`);
      assert.deepEqual([answer.status, answer.json<{ code: string }>().code], [409, "illegal_transition"], what);
    }
    assert.equal((await server.api.post(`/jobs/runs/${run.id}/resolve`, { skip: true })).status, 409);
    assert.deepEqual(await server.show(run.id), run);
  });

  test("retry-failed opens a failed run as a new generation with one end each, and keeps its history", async () => {
    await using site = await MisbehavingSite.start({ "/": status(500) });
    const first = await server.run({ target_url: site.url("/"), strategy: "http", max_attempts: 2 });
    assert.deepEqual([first.status, first.generation, site.count("/")], ["failed", 1, 2]);
    const reopened = await act(first.id, "retry-failed");
    assert.deepEqual([reopened.httpStatus, reopened.generation, reopened.finished_at], [200, 2, null]);
    const second = await server.ended(first.id);
    assert.deepEqual([second.status, second.generation, site.count("/")], ["failed", 2, 4], "fresh attempts");
    site.on("/", page("Fine again"));
    await act(first.id, "retry-failed");
    const third = await server.ended(first.id);
    assert.deepEqual([third.status, third.generation, third.failure_code], ["completed", 3, null]);
    assert.equal((await server.results(first.id)).length, 1);
    const ends = (await server.events(first.id)).filter(({ message }) => /^Run (?:completed|failed)/.test(message));
    assert.deepEqual(told(ends), ["Run failed", "Run failed", "Run completed"]);
    assert.deepEqual(
      (await server.task(first.id)).attempts.map(({ attempt, http_status }) => [attempt, http_status]),
      [
        [1, 500],
        [2, 500],
        [3, 500],
        [4, 500],
        [5, 200],
      ],
    );
    assert.equal((await act(first.id, "retry-failed")).httpStatus, 409, "nothing is left to try again");
  });

  test("a job changed or deleted while it runs: the run keeps what it began with", async () => {
    const gate = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({ "/": held(gate.promise, page("Old")), "/new": page("New") });
    const job = await server.job({ target_url: site.url("/"), fields: ["title"], strategy: "http" });
    const { id } = await server.begin(job.id);
    await site.visited("/");
    assert.equal((await server.api.call("DELETE", `/jobs/${job.id}`)).status, 409);
    const changed = await server.api.call("PATCH", `/jobs/${job.id}`, { target_url: site.url("/new") });
    assert.equal(changed.status, 200, changed.text);
    gate.resolve();
    await server.ended(id);
    assert.deepEqual((await server.results(id))[0]?.data, { title: "Old" });
    const next = await server.run(job.id);
    assert.deepEqual((await server.results(next.id))[0]?.data, { title: "New" });
    assert.equal((await server.api.call("DELETE", `/jobs/${job.id}`)).status, 204);
    assert.equal((await server.show(id)).status, "completed", "its runs stay readable");
  });

  test("a job deleted by force takes its live runs with it", async () => {
    const gate = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({ "/": held(gate.promise, page("Page")) });
    const job = await server.job({ target_url: site.url("/"), strategy: "http" });
    const { id } = await server.begin(job.id);
    await site.visited("/");
    assert.equal((await server.api.call("DELETE", `/jobs/${job.id}?force=true`)).status, 204);
    assert.equal((await server.ended(id)).status, "cancelled");
    gate.resolve();
    assert.deepEqual(await server.results(id), []);
  });
});

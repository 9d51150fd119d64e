import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startWorker } from "../../src/app/worker.ts";
import { silentLog } from "../../src/base/log.ts";
import type { CheckResult } from "../../src/orchestrator/health.ts";
import type { RunView, TaskView } from "../../src/orchestrator/runs/view.ts";
import type { SiteView } from "../../src/orchestrator/sites/site-view.ts";
import type { PingView, WorkerView } from "../../src/orchestrator/workers/workers.ts";
import { until } from "../chaos/orb.ts";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { firstTimes, hang, page, status } from "../support/misbehaviours.ts";
import { tempDir } from "../support/temp-dir.ts";
import { TestServer } from "./kit.ts";

async function workers(server: TestServer, query = ""): Promise<WorkerView[]> {
  return (await server.api.get(`/workers${query}`)).json<WorkerView[]>();
}

async function onlyWorker(server: TestServer): Promise<WorkerView> {
  const [worker, ...others] = await workers(server);
  assert.ok(worker !== undefined && others.length === 0);
  return worker;
}

/** Waits until the only worker says this of itself. */
function says(server: TestServer, what: string, look: (worker: WorkerView) => boolean): Promise<WorkerView> {
  return until(async () => {
    const worker = await onlyWorker(server);
    return look(worker) && worker;
  }, what);
}

async function stopped(server: TestServer, run: RunView, task?: string): Promise<RunView> {
  const id = task ?? (await server.task(run.id)).id;
  const answer = await server.api.post(`/jobs/runs/${run.id}/tasks/${id}/stop`);
  assert.equal(answer.status, 202, answer.text);
  const ended = await server.ended(run.id);
  assert.deepEqual(
    [ended.status, ended.failure_code, ended.failure_reason],
    ["failed", "cancelled", "task_stopped"],
    JSON.stringify(ended),
  );
  return ended;
}

describe("workers", () => {
  test("a worker shows who it is and what it does, answers a ping, and is remembered after its end", async () => {
    await using site = await MisbehavingSite.start({ "/": hang });
    await using server = await TestServer.open({ APP_MAX_WORKERS: "7" });
    const run = await server.begin({ target_url: site.url("/"), strategy: "http" });
    await site.visited("/");
    const busy = await says(server, "it names the task", ({ active }) => active.length > 0);
    assert.deepEqual(
      [busy.pid, busy.command, busy.state, busy.role, busy.engine, busy.in_flight, busy.max_workers],
      [process.pid, "serve", "working", "engine", "embedded", 1, 7],
    );
    const task = await server.task(run.id);
    assert.deepEqual(
      busy.active.map(({ task_id, run_id, url }) => [task_id, run_id, url]),
      [[task.id, run.id, site.url("/")]],
    );
    assert.deepEqual((await server.api.get(`/workers/${busy.id}`)).json<WorkerView>().id, busy.id);
    const pings = await Promise.all([1, 2, 3].map(() => server.api.post(`/workers/${busy.id}/ping`)));
    assert.deepEqual(
      pings.map((ping) => ping.json<PingView>().answered),
      [true, true, true],
    );
    await stopped(server, run);
    await says(server, "it counts what failed", ({ failed, in_flight }) => failed === 1 && in_flight === 0);
    await server.stop();
    await server.start({ worker: false });
    assert.deepEqual(await workers(server), []);
    assert.deepEqual(
      (await workers(server, "?all=true")).map(({ id, state }) => [id, state]),
      [[busy.id, "stopped"]],
    );
    assert.equal((await server.api.post(`/workers/${busy.id}/ping`)).status, 409);
    assert.equal((await server.api.get(`/workers/${run.id}`)).status, 404);
  });

  test("a drained worker finishes what it has, takes no more until it is resumed, and keeps its API", async () => {
    const gate = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({
      "/slow": async (...visit) => {
        await gate.promise;
        await page("Slow")(...visit);
      },
      "/next": page("Next"),
    });
    await using server = await TestServer.open();
    const slow = await server.begin({ target_url: site.url("/slow"), strategy: "http" });
    await site.visited("/slow");
    const { id } = await onlyWorker(server);
    assert.equal((await server.api.post(`/workers/${id}/drain`)).json<WorkerView>().drain_asked, true);
    await says(server, "it drains", ({ state, in_flight }) => state === "draining" && in_flight === 1);
    const next = await server.begin({ target_url: site.url("/next"), strategy: "http" });
    gate.resolve();
    assert.equal((await server.ended(slow.id)).status, "completed");
    await says(server, "it is drained", ({ state }) => state === "drained");
    const waits = await server.show(next.id);
    assert.deepEqual([waits.status, waits.waiting_for?.reason, site.count("/next")], ["queued", "workers_drained", 0]);
    assert.match(waits.waiting_for!.message, new RegExp(`drained .*resume with orb workers resume ${id}`));
    const { waiting_for: why } = (await server.api.get(`/sites/${site.name}`)).json<SiteView>();
    assert.deepEqual([why?.reason, why?.message], [waits.waiting_for!.reason, waits.waiting_for!.message]);
    const { checks } = (await server.api.get("/ready")).json<{ checks: { name: string; message?: string }[] }>();
    assert.equal(checks.find(({ name }) => name === "worker")?.message?.slice(1), waits.waiting_for!.message.slice(1));
    await server.api.post(`/workers/${id}/resume`);
    assert.equal((await server.ended(next.id)).status, "completed");
    await says(server, "it works", ({ state, role }) => state === "working" && role === "engine");
  });
});

test("an API without a worker tells what the worker of another process does, and what is wrong there", async () => {
  await using site = await MisbehavingSite.start({ "/": page("Page"), "/bad": status(500) });
  await using server = await TestServer.open({}, { worker: false });
  const elsewhere = { ...server.config, browserPath: join(server.dir, "no-browser") };
  await using worker = await startWorker(elsewhere, silentLog, { command: "worker" });
  const recipe = { strategy: "http", escalate: false, max_attempts: 1 } as const;
  assert.equal((await server.run({ target_url: site.url("/"), ...recipe })).status, "completed");
  assert.equal((await server.run({ target_url: site.url("/bad"), ...recipe })).status, "failed");
  await server.run({ target_url: site.url("/"), strategy: "browser", max_attempts: 1 });
  const metrics = await until(async () => {
    const { text } = await server.api.get("/metrics");
    return /orb_tasks_ended_total\{.*outcome="failed".*\} 2/.test(text) && text;
  }, "the worker has told of all three");
  const value = (name: string, ...labels: string[]) =>
    metrics.split("\n").find((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)));
  const own = `worker="${worker.workerId}"`;
  assert.match(value("orb_attempts_total", own, 'strategy="http"', 'outcome="completed"') ?? "", / 1$/);
  assert.match(value("orb_attempts_total", own, 'outcome="failed"', 'strategy="http"') ?? "", / 1$/);
  assert.match(value("orb_engine", own) ?? "", / 1$/);
  assert.match(value("orb_worker_memory_bytes", own) ?? "", / \d{8,}$/);
  const { checks } = (await server.api.get("/ready")).json<{ checks: CheckResult[] }>();
  const check = (name: string) => checks.find((one) => one.name === name);
  assert.equal(check("browser")?.status, "degraded");
  assert.match(check("browser")?.message ?? "", /^orb worker \(process \d+\): /);
  assert.match(check("memory")?.message ?? "", /^this process \d+ MB, orb worker \(process \d+\) \d+ MB$/);
});

describe("stopping a task", () => {
  test("that waits, that waits to be tried again, and that is under way; trying it again takes it up", async () => {
    const routes = { "/": page("Page"), "/hang": firstTimes(1, hang, page("Page")), "/500": status(500) };
    await using site = await MisbehavingSite.start(routes);
    await using server = await TestServer.open({ APP_RETRY_BASE_SECONDS: "30", APP_RETRY_MAX_SECONDS: "60" });
    const hanging = await server.begin({ target_url: site.url("/hang"), strategy: "http" });
    await site.visited("/hang");
    await stopped(server, hanging);
    await site.when(() => site.open === 0, "what was under way is dropped");
    const task = await server.task(hanging.id);
    assert.deepEqual(
      task.attempts.map(({ failure_reason }) => failure_reason),
      ["task_stopped"],
    );
    const retried = await server.begin({ target_url: site.url("/500"), strategy: "http" });
    await server.said(retried.id, /^Retry scheduled/);
    await stopped(server, retried);
    await server.api.post(`/sites/${site.name}/pause`);
    const waiting = await server.begin({ target_url: site.url("/") });
    await stopped(server, waiting);
    await server.api.post(`/sites/${site.name}/resume`);
    assert.equal((await server.api.post(`/jobs/runs/${hanging.id}/retry-failed`)).status, 200);
    assert.equal((await server.ended(hanging.id)).status, "completed");
    const late = await server.api.post(`/jobs/runs/${hanging.id}/tasks/${task.id}/stop`);
    assert.deepEqual([late.status, late.json<{ code: string }>().code], [409, "illegal_transition"]);
    const foreign = await server.api.post(`/jobs/runs/${waiting.id}/tasks/${task.id}/stop`);
    assert.equal(foreign.status, 404);
    assert.deepEqual([site.count("/"), site.count("/500")], [0, 1]);
  });

  test("of a handler that never ends, while another of the queue goes on", async () => {
    using folder = tempDir();
    const module = join(folder.path, "handlers.ts");
    writeFileSync(module, "export const handlers = { busy: () => { for (;;); }, quick: () => ({ ok: true }) };\n");
    await using server = await TestServer.open({ APP_HANDLERS: module });
    const items = [
      { artifact_id: "busy", url: "http://127.0.0.1:9/busy", handler: "busy" },
      { artifact_id: "quick", url: "http://127.0.0.1:9/quick", handler: "quick" },
    ];
    const added = await server.api.post("/queue/items", { items });
    assert.ok(added.status < 300, added.text);
    const { active } = await says(server, "it is at work", (worker) =>
      worker.active.some(({ url }) => url?.endsWith("/busy") === true),
    );
    const { run_id: run, task_id: task } = active.find(({ url }) => url?.endsWith("/busy") === true)!;
    const answer = await server.api.post(`/jobs/runs/${run}/tasks/${task}/stop`);
    assert.equal(answer.status, 202, answer.text);
    const ended = await until(async () => {
      const tasks = (await server.api.get(`/jobs/runs/${run}/tasks`)).json<TaskView[]>();
      return tasks.every(({ finished_at }) => finished_at !== null) && tasks;
    }, "both have ended");
    assert.deepEqual(
      Object.fromEntries(
        ended.map(({ url, status: state, failure_reason }) => [url?.slice(-5), [state, failure_reason]]),
      ),
      { "/busy": ["failed", "task_stopped"], quick: ["completed", null] },
    );
  });

  test("whose page is open in a browser", browserGate, async () => {
    await using site = await MisbehavingSite.start({ "/": hang });
    await using server = await TestServer.open();
    const run = await server.begin({ target_url: site.url("/"), strategy: "browser" });
    await site.visited("/");
    await stopped(server, run);
    await site.when(() => site.open === 0, "the page is closed");
  });
});

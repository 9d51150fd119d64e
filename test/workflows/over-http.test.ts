import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { TASK_STATES, type TaskState } from "../../src/domain/run/states.ts";
import type { WorkflowProgress } from "../../src/orchestrator/workflows/progress.ts";
import type { EntryView, WorkflowTaskView } from "../../src/orchestrator/workflows/task-view.ts";
import { WORKFLOW_STATUSES, type WorkflowDetail, type WorkflowView } from "../../src/orchestrator/workflows/view.ts";
import { TestServer } from "../jobs/kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { held, json, page, status } from "../support/misbehaviours.ts";
import { signal } from "./kit.ts";

const call = (name: string, url: string, more: object = {}) => ({
  name,
  task_type: "webhook",
  params: { url },
  ...more,
});

describe("a person who works with workflows over HTTP alone", () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());

  const create = async (steps: readonly object[], more: object = {}): Promise<WorkflowDetail> => {
    const answer = await server.api.post("/workflows", { definition: { name: "Over HTTP", steps }, ...more });
    assert.equal(answer.status, 201, answer.text);
    return answer.json<WorkflowDetail>();
  };
  const show = async (id: string) => (await server.api.get(`/workflows/${id}`)).json<WorkflowDetail>();
  const task = async (id: string, name: string) =>
    (await server.api.get(`/workflows/${id}/tasks/${name}`)).json<WorkflowTaskView>();
  const act = async (id: string, action: string, body?: object) => {
    const answer = await server.api.post(`/workflows/${id}/${action}`, body);
    assert.equal(answer.status, 200, answer.text);
    return answer.json<WorkflowView>();
  };

  test("sees every state of workflows and of steps, and the events that lead there", async () => {
    const workflows = new Set<string>();
    const tasks = new Set<TaskState>();
    const look = async (id: string, state: string, ...steps: TaskState[]) => {
      workflows.add((await show(id)).status);
      const seen = (await server.api.get(`/workflows/${id}/tasks`)).json<WorkflowTaskView[]>();
      for (const { status: one } of seen) tasks.add(one);
      assert.deepEqual([(await show(id)).status, ...seen.map((one) => one.status)], [state, ...steps]);
    };
    const go = signal();
    await using site = await MisbehavingSite.start({
      "/held": held(go.promise, json({ said: "yes" })),
      "/after": json({}),
      "/bad": status(500),
      "/last": json({}),
    });
    // Begun by hand, paused while a step is at work, and resumed.
    const good = [call("held", site.url("/held")), call("after", site.url("/after"), { dependencies: ["held"] })];
    const { id } = await create(good, { start: false });
    await look(id, "pending", "pending", "pending");
    await act(id, "start");
    await site.visited("/held");
    await look(id, "running", "running", "pending");
    assert.equal((await task(id, "held")).engine_task_id?.startsWith("step."), true);
    await act(id, "pause");
    go.give();
    await server.said(id, /^Step held completed/);
    await look(id, "paused", "completed", "queued");
    assert.equal(site.count("/after"), 0);
    await act(id, "resume");
    await server.ended(id);
    await look(id, "completed", "completed", "completed");

    // Tried again, failed, recovered, and then good.
    const bad = [
      call("bad", site.url("/bad"), { max_retries: 1 }),
      call("last", site.url("/last"), { dependencies: ["bad"] }),
    ];
    const { id: second } = await create(bad);
    const retried = await server.said(second, /^Retry scheduled: step bad, attempt/);
    await look(second, "running", "retrying", "pending");
    const waiting = await task(second, "bad");
    assert.deepEqual([waiting.retry_count, waiting.failure_code], [1, "bad_response"]);
    assert.equal(waiting.next_try_at, retried.meta["ready_at"]);
    await server.ended(second);
    await look(second, "failed", "failed", "skipped");
    assert.match((await show(second)).error_message ?? "", /bad/);
    const go2 = signal();
    site.on("/bad", held(go2.promise, json({})));
    workflows.add((await act(second, "recover")).status);
    await site.visited("/bad", 3);
    await look(second, "running", "running", "pending");
    go2.give();
    await server.said(second, /^Run completed/);
    await look(second, "completed", "completed", "completed");

    // Cancelled while a step is at work.
    site.on("/held", held(new Promise(() => {}), json({})));
    const { id: third } = await create(good);
    await site.visited("/held", 2);
    await act(third, "cancel");
    await look(third, "cancelled", "cancelled", "cancelled");
    assert.deepEqual([...workflows].toSorted(), [...WORKFLOW_STATUSES].toSorted());
    assert.deepEqual([...tasks].toSorted(), [...TASK_STATES].toSorted());
  });

  test("follows a step to the run it has started, and reads what it left for the next ones [slow]", async () => {
    const go = signal();
    await using site = await MisbehavingSite.start({ "/a": held(go.promise, page("A page")) });
    const { id } = await create([
      { name: "read", task_type: "scrape", params: { url: site.url("/a"), fields: ["title"], strategy: "http" } },
      { name: "table", task_type: "export", params: { format: "jsonl" }, dependencies: ["read"] },
    ]);
    await site.visited("/a");
    const asleep = await task(id, "read");
    assert.equal(asleep.status, "running");
    const [child] = asleep.child_run_ids;
    const { waiting_for: why } = asleep;
    assert.ok(why?.for === "run" && why.run_id === child);
    assert.deepEqual([why.message, why.run?.kind], [`Fetching ${site.url("/a")}`, "page"]);
    const progress = (await server.api.get(`/workflows/${id}/progress`)).json<WorkflowProgress>();
    assert.deepEqual([progress.counts.running, progress.steps[0]?.waiting_for], [1, asleep.waiting_for]);
    go.give();
    await server.ended(id);
    const run = await server.show(child ?? "");
    assert.deepEqual([run.kind, run.status], ["page", "completed"]);
    assert.deepEqual(run.parent, { run_id: id, task_id: asleep.id });
    const read = await task(id, "read");
    assert.deepEqual([read.status, read.items_count], ["completed", 1]);
    const items = (await server.api.get(`/workflows/${id}/tasks/read/items`)).json<Record<string, unknown>[]>();
    assert.equal(items.length, 1);
    assert.ok(JSON.stringify(items[0]).includes("A page"), JSON.stringify(items));
    const { result, artifacts } = await task(id, "table");
    const file = artifacts.find(({ id: one }) => one === result?.["artifact_id"]);
    assert.ok(file !== undefined, JSON.stringify(result));
    assert.equal(result?.["count"], 1);
    const saved = await server.api.get(`/artifacts/${file.id}`);
    assert.ok(saved.text.includes("A page"));
    const name = decodeURIComponent(file.url.split("/").at(-1) ?? "");
    assert.match(name, /^.+\.jsonl$/);
    assert.equal(saved.headers["content-disposition"], `attachment; filename="${name}"`);
  });

  test("is told nothing of how far a step was once it has completed", async () => {
    await using site = await MisbehavingSite.start({ "/a": page("A page") });
    const { id } = await create([{ name: "files", task_type: "download", params: { urls: [site.url("/a")] } }]);
    await server.ended(id);
    const { status, progress, progress_message, result } = await task(id, "files");
    assert.deepEqual(
      [status, progress, progress_message, result],
      ["completed", 100, null, { downloaded: 1, failed: 0 }],
    );
  });

  test("looks at the entries of a list one by one, a page at a time, and only at those that failed", async () => {
    await using site = await MisbehavingSite.start({ "*": json({}), "/3": status(404) });
    const { id } = await create([
      {
        name: "each",
        task_type: "webhook",
        params: { url: `${site.origin}/\${{ item }}` },
        for_each: { in: [0, 1, 2, 3, 4], concurrency: 2, on_error: "continue" },
      },
    ]);
    await server.ended(id);
    const each = await task(id, "each");
    assert.deepEqual(each.entries, { total: 5, open: 0, completed: 4, failed: 1, skipped: 0 });
    const seen: EntryView[] = [];
    for (let path: string | undefined = `/workflows/${id}/tasks/each/entries?limit=2`; path !== undefined;) {
      const answer = await server.api.get(path);
      seen.push(...answer.json<EntryView[]>());
      path = /<([^>]+)>; rel="next"/.exec(String(answer.headers["link"] ?? ""))?.[1];
    }
    assert.deepEqual(
      seen.map(({ index, item, status: state }) => [index, item, state]),
      [0, 1, 2, 3, 4].map((index) => [index, index, index === 3 ? "failed" : "completed"]),
    );
    const failed = await server.api.get(`/workflows/${id}/tasks/${each.id}/entries?status=failed`);
    assert.deepEqual(
      failed.json<EntryView[]>().map(({ index, failure_reason }) => [index, failure_reason]),
      [[3, seen[3]?.failure_reason]],
    );
    const first = await server.api.get(`/workflows/${id}/tasks/each/items?limit=3`);
    assert.equal(first.json<unknown[]>().length, 3);
    const next = /<([^>]+)>; rel="next"/.exec(String(first.headers["link"] ?? ""))?.[1];
    assert.equal((await server.api.get(next ?? "")).json<unknown[]>().length, 2);
  });
});

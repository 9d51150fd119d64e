import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FieldError } from "../../src/base/errors.ts";
import { laneOfStep } from "../../src/domain/workflow/definition.ts";
import type { Overview } from "../../src/orchestrator/live/overview.ts";
import type { WorkflowProgress } from "../../src/orchestrator/workflows/progress.ts";
import type { WorkflowTaskView } from "../../src/orchestrator/workflows/task-view.ts";
import type { Validation } from "../../src/orchestrator/workflows/validate.ts";
import type { WorkflowView } from "../../src/orchestrator/workflows/view.ts";
import { DIAMOND, done, FAILED, openWorkflows, step } from "./workflow-kit.ts";

const NOBODY = "00000000-0000-4000-8000-000000000000";

describe("whoever creates a workflow", () => {
  test("gets it started, with all that is known of it, and its first steps have work", async (t) => {
    const served = await openWorkflows(t);
    const answer = await served.api.post("/workflows", { definition: DIAMOND, metadata: { who: "ana", none: null } });
    assert.equal(answer.status, 201, answer.text);
    const created = answer.json<Awaited<ReturnType<typeof served.show>>>();
    assert.equal(answer.headers["location"], `/workflows/${created.id}`);
    const now = new Date(served.clock.now()).toISOString();
    const { definition, message, last_checkpoint, ...rest } = created;
    assert.deepEqual(rest, {
      id: created.id,
      job_id: null,
      name: "Dataset build",
      status: "running",
      current_step: 0,
      ended_steps: 0,
      total_steps: 4,
      progress: 0,
      metadata: { who: "ana" },
      error_message: null,
      recovery_attempts: 0,
      max_recovery_attempts: 3,
      template: null,
      rerun_of: null,
      waiting_for: null,
      params: {},
      expires_at: null,
      created_at: now,
      started_at: now,
      completed_at: null,
      updated_at: now,
    });
    assert.match(message ?? "", /^Run started/);
    assert.equal(last_checkpoint, null);
    assert.deepEqual(
      definition.steps.map(({ dependencies, max_retries }) => [dependencies, max_retries]),
      [
        [[], 3],
        [[0], 3],
        [[0], 1],
        [[1, 2], 3],
      ],
    );
    assert.deepEqual(served.woken, [[laneOfStep(created.id, 0)]]);
    const { waiting_for: why, ...shown } = await served.show(created.id);
    assert.deepEqual([{ ...shown, waiting_for: null }, why?.reason], [created, "no_worker"]);
    assert.deepEqual(await served.states(created.id), ["queued", "pending", "pending", "pending"]);
  });

  test("may let it wait, and start it later, once or twice", async (t) => {
    const served = await openWorkflows(t);
    const { id, status, started_at } = await served.make({ definition: DIAMOND, start: false });
    assert.deepEqual([status, started_at], ["pending", null]);
    assert.deepEqual(served.woken, []);
    assert.deepEqual(await served.states(id), ["pending", "pending", "pending", "pending"]);
    assert.equal((await served.act(id, "start")).status, "running");
    assert.equal((await served.act(id, "start")).status, "running");
    assert.deepEqual(served.woken, [[laneOfStep(id, 0)]]);
  });

  test("may name 100,000 addresses [slow]", async (t) => {
    const served = await openWorkflows(t);
    const urls = Array.from({ length: 100_000 }, (_, n) => `https://pictures.example/of/a/very/long/list/${n}.jpg`);
    const { params } = await served.make({ template: "image-dataset", params: { urls }, start: false });
    assert.deepEqual(params["urls"], urls);
  });

  test("may send the definition alone, as it stands in a file, in JSON or in YAML", async (t) => {
    const served = await openWorkflows(t);
    assert.equal((await served.make(DIAMOND)).total_steps, 4);
    const yaml = ["name: From a file", "steps:", "  - name: one", "    task_type: wait", "    params: {seconds: 1}"];
    const type = { "content-type": "application/yaml" };
    const send = (path: string, text: string) => served.api.post(path, Buffer.from(text), type);
    const answer = await send("/workflows", yaml.join("\n"));
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.json<WorkflowView>().name, "From a file");
    const wrapped = await send("/workflows", `start: false\ndefinition:\n  ${yaml.join("\n  ")}`);
    assert.equal(wrapped.json<WorkflowView>().status, "pending", wrapped.text);
    // Calls that take JSON alone take what it was read as.
    const { source } = (await send("/workflows/validate", yaml.join("\n"))).json<{ source: { definition: object } }>();
    const job = await served.api.post("/jobs", { kind: "workflow", workflow: source });
    assert.equal(job.status, 201, job.text);
    const broken = await served.refused(send("/workflows", "name: [\nsteps"), 400, "body_malformed");
    assert.match(broken.detail, /line 2/);
    await served.refused(served.api.post("/jobs", Buffer.from("kind: page"), type), 415, "media_type_unsupported");
  });

  test("is told every fault at once, with its path, and nothing is created", async (t) => {
    const served = await openWorkflows(t);
    const bad = {
      name: "Bad",
      steps: [step("a"), step("b", ["c"]), step("c", ["b"]), { ...step("d"), task_type: "wiat" }, step("e", [9])],
    };
    const paths = (errors: readonly FieldError[] | undefined, prefix: string) => {
      const wrong = (errors ?? []).map(({ path }) => path);
      assert.ok(wrong.length >= 3, JSON.stringify(errors));
      for (const path of wrong) assert.ok(path.startsWith(prefix), path);
      assert.ok(wrong.includes(`${prefix}steps[3].task_type`), JSON.stringify(wrong));
      assert.ok(wrong.includes(`${prefix}steps[4].dependencies[0]`), JSON.stringify(wrong));
    };
    const wrapped = await served.refused(served.api.post("/workflows", { definition: bad }), 422, "input_invalid");
    paths(wrapped.errors, "definition.");
    paths((await served.refused(served.api.post("/workflows", bad), 422, "input_invalid")).errors, "");
    const validated = await served.api.post("/workflows/validate", { definition: bad });
    assert.equal(validated.status, 200);
    const { valid, errors } = validated.json<Validation>();
    assert.equal(valid, false);
    paths(errors, "definition.");
    assert.deepEqual((await served.api.post("/workflows/validate", DIAMOND)).json(), { valid: true, errors: [] });
    assert.deepEqual(await served.get("/workflows"), []);
  });

  test("says what it is to be made from, once, and for a job that is there", async (t) => {
    const served = await openWorkflows(t);
    const refuse = async (body: object, path: string) => {
      const { errors } = await served.refused(served.api.post("/workflows", body), 422, "input_invalid");
      assert.deepEqual(
        errors?.map((error) => error.path),
        [path],
      );
    };
    await refuse({}, "definition");
    await refuse({ definition: DIAMOND, template: "image-dataset" }, "template");
    await refuse({ template: "nobody-made-it" }, "template");
    await refuse({ definition: DIAMOND, job_id: NOBODY }, "job_id");
    await refuse({ definition: DIAMOND, params: { urls: [] } }, "params.urls");
    await refuse({ definition: DIAMOND, metadata: { text: "x".repeat(70_000) } }, "metadata");
    await refuse({ definition: DIAMOND, strat: true }, "strat");
  });

  test("gives params, which are held against the definition's schema, and get its defaults", async (t) => {
    const served = await openWorkflows(t);
    const params = {
      type: "object",
      properties: { seconds: { type: "number", default: 2 }, who: { type: "string" } },
      required: ["who"],
      additionalProperties: false,
    };
    const definition = {
      name: "With params",
      params,
      steps: [{ name: "one", task_type: "wait", params: { seconds: "${{ params.seconds }}" } }],
    };
    assert.deepEqual((await served.make({ definition, params: { who: "ana" } })).params, { seconds: 2, who: "ana" });
    const wrong = { definition, params: { seconds: "no", whom: 1 } };
    const { errors } = await served.refused(served.api.post("/workflows", wrong), 422, "input_invalid");
    const paths = errors?.map(({ path }) => path).toSorted();
    assert.deepEqual(paths, ["params.seconds", "params.who", "params.whom"]);
    const validate = async (body: object) =>
      (await served.api.post("/workflows/validate", body)).json<Validation>().errors.map(({ path }) => path);
    assert.deepEqual(await validate({ definition }), [], "a definition is right without params");
    assert.deepEqual(await validate({ definition, params: {} }), ["params.who"]);
  });

  test("gives a param that the definition does not know, which is a slip unless its schema lets others in", async (t) => {
    const served = await openWorkflows(t);
    const start = (more: object) => {
      const params = { type: "object", properties: { seconds: { type: "number", default: 0 } }, ...more };
      const steps = [{ name: "one", task_type: "wait", params: { seconds: 0 } }];
      return served.api.post("/workflows", { definition: { name: "Slip", params, steps }, params: { second: 3 } });
    };
    const { errors } = await served.refused(start({}), 422, "input_invalid");
    assert.deepEqual(errors, [{ path: "params.second", message: 'unknown key, did you mean "seconds"?' }]);
    for (const more of [{ additionalProperties: true }, { patternProperties: { "^s": {} } }])
      assert.equal((await start(more)).status, 201);
  });

  test("may repeat the call with its key, and gets the first answer, whatever has become of it", async (t) => {
    const served = await openWorkflows(t);
    const key = { "idempotency-key": "once" };
    const body = { definition: DIAMOND, metadata: { a: 1 } };
    const created = await served.make(body, key);
    await served.end(created.id, 0);
    await served.act(created.id, "pause");
    await served.clock.advance(1000);
    assert.deepEqual(await served.make(body, key), created);
    assert.equal((await served.get<WorkflowView[]>("/workflows")).length, 1);
    await served.refused(served.api.post("/workflows", { ...body, start: false }, key), 422, "idempotency_conflict");
  });
});

describe("a workflow that is at work", () => {
  test("shows its steps with their results, and how far it is", async (t) => {
    const served = await openWorkflows(t);
    const { id } = await served.make({ definition: DIAMOND });
    await served.clock.advance(4000);
    await served.end(id, 0, done({ found: 7 }));
    const list = await served.task(id, "list");
    assert.deepEqual([list.status, list.result, list.progress], ["completed", { found: 7 }, 100]);
    assert.deepEqual([list.estimated_duration, list.actual_duration, list.retry_count], [10, 0, 0]);
    assert.deepEqual(await served.states(id), ["completed", "queued", "queued", "pending"]);
    const pack = await served.task(id, "pack");
    assert.deepEqual(
      [pack.dependencies, pack.dependency_names],
      [
        [1, 2],
        ["pages", "pictures"],
      ],
    );
    assert.deepEqual([pack.started_at, pack.result, pack.items_count], [null, null, null]);
    assert.deepEqual(await served.task(id, pack.id), pack, "by its id as well as by its name");
    assert.deepEqual(
      (await served.tasks(id, { status: "queued" })).map(({ task_name }) => task_name),
      ["pages", "pictures"],
    );
    const now = await served.show(id);
    assert.deepEqual([now.progress, now.current_step], [10, 1]);
    assert.equal(now.last_checkpoint, new Date(served.clock.now()).toISOString());
    const progress = await served.get<WorkflowProgress>(`/workflows/${id}/progress`);
    assert.deepEqual([progress.workflow_id, progress.current_step_name, progress.progress], [id, "pages", 10]);
    assert.deepEqual([progress.elapsed_seconds, progress.time_remaining_seconds], [4, 70]);
    const { active_runs: active } = await served.get<Overview>("/overview");
    const about = { status: "queued", waiting_for: null };
    assert.deepEqual(
      active.find((run) => run.id === id)?.current_steps,
      ["pages", "pictures"].map((name) => ({ name, ...about })),
    );
    const { completed, queued, pending, running } = progress.counts;
    assert.deepEqual([completed, queued, pending, running], [1, 2, 1, 0]);
    assert.deepEqual(
      progress.steps.map(({ task_name, status }) => [task_name, status]),
      [
        ["list", "completed"],
        ["pages", "queued"],
        ["pictures", "queued"],
        ["pack", "pending"],
      ],
    );
  });

  test("is guessed by what its steps took before, rather than by what was said of them", async (t) => {
    const served = await openWorkflows(t);
    const before = await served.make({ definition: DIAMOND });
    for (const index of [0, 1, 2, 3]) {
      await served.end(before.id, index, {
        kind: "wait",
        sleep: { memory: null, until: served.clock.now() + 3000 },
      });
      await served.clock.advance(3000);
      await served.end(before.id, index);
    }
    assert.equal((await served.show(before.id)).status, "completed");
    const { id } = await served.make({ definition: DIAMOND });
    // list, then pages and pictures side by side, then pack: three seconds each.
    const progress = await served.get<WorkflowProgress>(`/workflows/${id}/progress`);
    assert.equal(progress.time_remaining_seconds, 9);
  });

  test("comes to its end, and its events tell the story", async (t) => {
    const served = await openWorkflows(t);
    const { id } = await served.make({ definition: DIAMOND });
    for (const index of [0, 2]) await served.end(id, index);
    const half = await served.show(id);
    assert.deepEqual([half.current_step, half.ended_steps], [1, 2], "the third step ended before the second");
    for (const index of [1, 3]) await served.end(id, index);
    const ended = await served.show(id);
    assert.deepEqual([ended.status, ended.progress, ended.current_step], ["completed", 100, 4]);
    assert.equal(ended.ended_steps, 4);
    assert.ok(ended.completed_at !== null);
    const progress = await served.get<WorkflowProgress>(`/workflows/${id}/progress`);
    assert.deepEqual([progress.time_remaining_seconds, progress.current_step_name], [null, null]);
    const events = await served.get<{ message: string }[]>(`/jobs/runs/${id}/events`);
    const told = events.map(({ message }) => message);
    for (const name of ["list", "pages", "pictures", "pack"])
      assert.ok(
        told.some((message) => /^Step .*completed/.test(message) && message.includes(name)),
        `${name}: ${told.join(" | ")}`,
      );
    const run = await served.get<{ kind: string; progress: number; max_attempts: null }>(`/jobs/runs/${id}`);
    assert.deepEqual([run.kind, run.progress, run.max_attempts], ["workflow", 100, null]);
  });

  test("has steps that are found by what the engine calls them", async (t) => {
    const served = await openWorkflows(t);
    const { id } = await served.make({ definition: DIAMOND });
    assert.equal((await served.task(id, "list")).engine_task_id, null, "the engine has not had it yet");
    await served.end(id, 0);
    const { engine_task_id: engineId } = await served.task(id, "list");
    assert.ok(engineId !== null);
    const found = await served.get<WorkflowTaskView>(`/workflows/tasks/by-engine-id/${encodeURIComponent(engineId)}`);
    assert.deepEqual([found.workflow_id, found.task_name], [id, "list"]);
    await served.refused(served.api.get("/workflows/tasks/by-engine-id/nothing"), 404, "not_found");
  });

  test("says what a step waits for, and what has become of the entries of a list", async (t) => {
    const served = await openWorkflows(t);
    const { id } = await served.make({ definition: DIAMOND });
    const until = served.clock.now() + 60_000;
    await served.end(id, 0, { kind: "wait", sleep: { memory: null, until } });
    const asleep = await served.task(id, "list");
    assert.equal(asleep.status, "running");
    assert.deepEqual(asleep.waiting_for, {
      for: "time",
      until: new Date(until).toISOString(),
      message: "Waiting, as requested by the step",
      last_failure: null,
    });
    assert.deepEqual([asleep.next_try_at, asleep.entries, asleep.child_run_ids], [null, null, []]);
    assert.deepEqual(await served.get(`/workflows/${id}/tasks/list/entries`), []);
    assert.deepEqual(await served.get(`/workflows/${id}/tasks/list/items`), []);
    await served.refused(served.api.get(`/workflows/${id}/tasks/lisst/items`), 404, "not_found");
  });
});

describe("workflows in lists", () => {
  test("are chosen by what can be done with them, newest first, a page at a time", async (t) => {
    const served = await openWorkflows(t);
    const one = { name: "one", max_recovery_attempts: 1, steps: [step("only", [], { max_retries: 0 })] };
    const make = async (start = true, name = "one") => (await served.make({ definition: { ...one, name }, start })).id;
    const pending = await make(false);
    const running = await make();
    const completed = await make();
    await served.end(completed, 0);
    const failed = await make(true, "a special name");
    await served.end(failed, 0, FAILED);
    const paused = await make();
    await served.act(paused, "pause");
    const cancelled = await make();
    await served.act(cancelled, "cancel");
    const exhausted = await make();
    await served.end(exhausted, 0, FAILED);
    assert.equal((await served.recover(exhausted)).status, "recovering");
    const list = async (query: string) => (await served.get<WorkflowView[]>(`/workflows?${query}`)).map(({ id }) => id);
    assert.deepEqual(await list("status=active"), [exhausted, running]);
    assert.deepEqual(await list("status=recovering"), [exhausted]);
    await served.store.takeUpRecoveries(100, served.clock.now());
    await served.end(exhausted, 0, FAILED);
    assert.deepEqual(await list("status=failed"), [exhausted, failed]);
    assert.deepEqual(await list("status=recoverable"), [failed]);
    for (const [status, id] of Object.entries({ pending, running, completed, paused, cancelled }))
      assert.deepEqual(await list(`status=${status}`), [id], status);
    assert.deepEqual(await list("q=special"), [failed]);
    const all = [exhausted, cancelled, paused, failed, completed, running, pending];
    assert.deepEqual(await list(""), all);
    const seen: string[] = [];
    for (let path: string | undefined = "/workflows?limit=3"; path !== undefined;) {
      const answer = await served.api.get(path);
      seen.push(...answer.json<WorkflowView[]>().map(({ id }) => id));
      path = /<([^>]+)>; rel="next"/.exec(String(answer.headers["link"] ?? ""))?.[1];
    }
    assert.deepEqual(seen, all);
    await served.refused(served.api.get("/workflows?status=idle"), 422, "input_invalid");
  });

  test("that nobody knows are not found, nor are other runs", async (t) => {
    const served = await openWorkflows(t);
    const job = (await served.api.post("/jobs", { target_url: "https://a.example/" })).json<{ id: string }>();
    const run = (await served.api.post(`/jobs/${job.id}/runs`)).json<{ id: string }>();
    for (const id of [NOBODY, "nonsense", run.id]) {
      for (const path of [``, "/progress", "/tasks", "/tasks/a", "/tasks/a/items", "/tasks/a/entries"])
        await served.refused(served.api.get(`/workflows/${id}${path}`), 404, "not_found");
      for (const action of ["start", "pause", "resume", "cancel", "recover", "rerun"])
        await served.refused(served.api.post(`/workflows/${id}/${action}`), 404, "not_found");
      const patch = served.api.call("PATCH", `/workflows/${id}`, { metadata: {} });
      await served.refused(patch, 404, "not_found");
    }
    await served.refused(served.api.get(`/jobs/${job.id}/workflow`), 404, "not_found");
  });
});

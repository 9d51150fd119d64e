import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TASK_STATES, type TaskState } from "../../src/domain/run/states.ts";
import { failure } from "../../src/domain/run/failure.ts";
import { laneOfStep } from "../../src/domain/workflow/definition.ts";
import { WORKFLOW_STATUSES, type WorkflowDetail, type WorkflowView } from "../../src/orchestrator/workflows/view.ts";
import { candidate, TTL } from "../contract/store/kit.ts";
import { DIAMOND, done, FAILED, openWorkflows, step, type Workflows } from "./workflow-kit.ts";

const ACTIONS = ["start", "pause", "resume", "cancel", "recover"] as const;

/** A workflow in each state that one can be in, brought there by calls and by how its only step ends. */
async function inEveryState(served: Workflows) {
  const one = { name: "one", steps: [step("only", [], { max_retries: 0 })] };
  const make = async (start = true) => (await served.make({ definition: one, start })).id;
  const begun = async (after: (id: string) => Promise<unknown>) => {
    const id = await make();
    await after(id);
    return id;
  };
  return {
    pending: await make(false),
    running: await make(),
    paused: await begun((id) => served.act(id, "pause")),
    completed: await begun((id) => served.end(id, 0)),
    failed: await begun((id) => served.end(id, 0, FAILED)),
    cancelled: await begun((id) => served.act(id, "cancel")),
    recovering: await begun(async (id) => {
      await served.end(id, 0, FAILED);
      await served.recover(id);
    }),
  };
}

describe("a workflow in any of its states", () => {
  test("does what the state allows, and is refused the rest with a hint", async (t) => {
    const served = await openWorkflows(t);
    /** What each action makes of each state; others are refused. */
    const follows: Record<(typeof ACTIONS)[number], Partial<Record<(typeof WORKFLOW_STATUSES)[number], string>>> = {
      start: { pending: "running", running: "running" },
      pause: { running: "paused", paused: "paused" },
      resume: { paused: "running", running: "running" },
      cancel: {
        pending: "cancelled",
        running: "cancelled",
        paused: "cancelled",
        recovering: "cancelled",
        cancelled: "cancelled",
      },
      recover: { failed: "recovering" },
    };
    for (const action of ACTIONS) {
      const there = await inEveryState(served);
      for (const status of WORKFLOW_STATUSES) {
        const id = there[status];
        assert.equal((await served.show(id)).status, status);
        const answer = await served.api.post(`/workflows/${id}/${action}`);
        const next = follows[action][status];
        const story = `${action} a workflow that is ${status}: ${answer.text}`;
        if (next === undefined) {
          const problem = await served.refused(answer, 409, "illegal_transition");
          assert.match(problem.hint ?? "", /\w{3}/, story);
          assert.ok(problem.detail.includes(status), story);
          assert.equal((await served.show(id)).status, status);
        } else assert.equal(answer.json<WorkflowView>().status, next, story);
      }
    }
  });

  test("is steered as a run, too", async (t) => {
    const served = await openWorkflows(t);
    const there = await inEveryState(served);
    const post = (id: string, action: string) => served.api.post(`/jobs/runs/${id}/${action}`);
    await served.refused(post(there.pending, "pause"), 409, "illegal_transition");
    await served.refused(post(there.pending, "resume"), 409, "illegal_transition");
    const hint = (await served.refused(post(there.failed, "retry-failed"), 409, "illegal_transition")).hint;
    assert.match(hint ?? "", /recover/);
    assert.equal((await post(there.running, "pause")).json<{ status: string }>().status, "paused");
    assert.equal((await post(there.running, "resume")).json<{ status: string }>().status, "running");
    assert.equal((await post(there.running, "cancel")).json<{ status: string }>().status, "cancelled");
    const runs = await served.get<{ id: string }[]>("/runs?kind=workflow&status=completed");
    assert.deepEqual(
      runs.map(({ id }) => id),
      [there.completed],
    );
    const { progress } = await served.get<{ progress: number }>(`/jobs/runs/${there.failed}`);
    assert.ok(progress < 100, "one that failed shows how far it had come");
  });

  test("has steps in every state that a step can be in", async (t) => {
    const served = await openWorkflows(t);
    const seen = new Set<TaskState>();
    const look = async (id: string, ...wanted: TaskState[]) => {
      const states = await served.states(id);
      assert.deepEqual(states, wanted);
      for (const state of states) seen.add(state);
    };
    const { id } = await served.make({ definition: DIAMOND });
    await look(id, "queued", "pending", "pending", "pending");
    const again = {
      kind: "retry",
      failure: failure("step_timeout", "too slow"),
      readyAt: served.clock.now() + 1000,
    } as const;
    await served.end(id, 0, again);
    await look(id, "retrying", "pending", "pending", "pending");
    const retrying = await served.task(id, "list");
    assert.deepEqual(
      [retrying.retry_count, retrying.failure_code, retrying.failure_reason],
      [1, "timeout", "step_timeout"],
    );
    assert.equal(retrying.next_try_at, new Date(served.clock.now() + 1000).toISOString());
    await served.clock.advance(1000);
    await served.end(id, 0, { kind: "handed_back" });
    await served.store.takeEngine(candidate("worker"), TTL);
    const hold = (await served.store.takeLane(laneOfStep(id, 0), "worker", TTL))!;
    const claim = (await served.store.claim(hold, { limit: 1 }, served.clock.now()))!;
    await look(id, "running", "pending", "pending", "pending");
    const tasks = claim.tasks.map((task) => ({ task, verdict: done(), attempt: null }));
    await served.store.settle([{ hold, tasks }], served.clock.now());
    await served.store.releaseLane(hold);
    await look(id, "completed", "queued", "queued", "pending");
    assert.equal((await served.task(id, "list")).retry_count, 1);
    await served.end(id, 1, FAILED);
    await look(id, "completed", "failed", "queued", "skipped");
    const skipped = await served.task(id, "pack");
    assert.match(skipped.error_message ?? "", /pages/);
    await served.act(id, "cancel");
    await look(id, "completed", "failed", "cancelled", "skipped");
    assert.deepEqual([...seen].toSorted(), [...TASK_STATES].toSorted());
  });
});

describe("a workflow that failed", () => {
  test("says which step and why, and lets other branches go on", async (t) => {
    const served = await openWorkflows(t);
    const { id } = await served.make({ definition: DIAMOND });
    await served.end(id, 0);
    await served.end(id, 1, FAILED);
    assert.equal((await served.show(id)).status, "running");
    await served.end(id, 2);
    const failed = await served.show(id);
    assert.equal(failed.status, "failed");
    assert.match(failed.error_message ?? "", /pages/);
    assert.match(failed.error_message ?? "", /longer than 5 s/);
    const pages = await served.task(id, "pages");
    assert.deepEqual([pages.status, pages.error_message], ["failed", "it took longer than 5 s"]);
  });

  test("is recovered as often as it may be, and not once more", async (t) => {
    const served = await openWorkflows(t);
    const { id } = await served.make({ definition: DIAMOND });
    await served.end(id, 0, done({ kept: true }));
    await served.end(id, 2);
    await served.end(id, 1, FAILED);
    for (const attempt of [1, 2, 3]) {
      const recovering = await served.recover(id);
      assert.deepEqual([recovering.status, recovering.recovery_attempts], ["recovering", attempt]);
      await served.store.takeUpRecoveries(100, served.clock.now());
      assert.deepEqual(await served.states(id), ["completed", "queued", "completed", "pending"]);
      assert.deepEqual((await served.task(id, "list")).result, { kept: true });
      await served.end(id, 1, FAILED);
    }
    const problem = await served.refused(served.api.post(`/workflows/${id}/recover`), 409, "recovery_exhausted");
    assert.match(problem.detail, /all 3 recoveries/);
    assert.equal((await served.show(id)).status, "failed");
  });

  test("is recovered from a step that is named, and what is no step of it is refused", async (t) => {
    const served = await openWorkflows(t);
    const { id } = await served.make({ definition: DIAMOND });
    await served.end(id, 0);
    await served.end(id, 1);
    await served.end(id, 2, FAILED);
    const recover = (from_step: unknown) => served.api.post(`/workflows/${id}/recover`, { from_step });
    for (const wrong of ["piktures", 4]) {
      const { errors } = await served.refused(recover(wrong), 422, "input_invalid");
      assert.equal(errors?.[0]?.path, "from_step");
    }
    assert.match((await served.refused(recover("picturez"), 422, "input_invalid")).detail, /did you mean "pictures"/);
    assert.equal((await recover("list")).json<WorkflowView>().status, "recovering");
    await served.store.takeUpRecoveries(100, served.clock.now());
    assert.deepEqual(await served.states(id), ["queued", "pending", "pending", "pending"]);
    for (const index of [0, 1, 2, 3]) await served.end(id, index);
    assert.equal((await served.show(id)).status, "completed");
  });
});

describe("a workflow is run again", () => {
  const definition = {
    name: "Again",
    params: {
      type: "object",
      properties: { seconds: { type: "number", default: 1 }, label: { type: "string" } },
      additionalProperties: false,
    },
    steps: [{ name: "one", task_type: "wait", params: { seconds: "${{ params.seconds }}" } }],
  };

  test("with other params, as a run of its own that knows the first", async (t) => {
    const served = await openWorkflows(t);
    const first = await served.make({ definition, params: { label: "a" }, metadata: { who: "ana" } });
    const rerun = async (body?: object, headers = {}) => {
      const answer = await served.api.post(`/workflows/${first.id}/rerun`, body, headers);
      assert.equal(answer.status, 201, answer.text);
      return answer.json<WorkflowDetail>();
    };
    const same = await rerun();
    assert.deepEqual([same.rerun_of, same.params, same.metadata], [first.id, first.params, { who: "ana" }]);
    assert.deepEqual(same.definition, first.definition);
    const other = await rerun({ params: { seconds: 5 }, start: false, metadata: {} });
    assert.deepEqual([other.status, other.params, other.metadata], ["pending", { seconds: 5, label: "a" }, {}]);
    const replaced = await rerun({ definition: { name: "Other", steps: [step("x")] }, params: {} }).catch(
      (error: unknown) => error,
    );
    assert.ok(replaced instanceof Error, "params that it had have no place in a definition that asks for none");
    const wrong = served.api.post(`/workflows/${first.id}/rerun`, { params: { seconds: "soon" } });
    assert.deepEqual(
      (await served.refused(wrong, 422, "input_invalid")).errors?.map(({ path }) => path),
      ["params.seconds"],
    );
    const key = { "idempotency-key": "again" };
    const once = await rerun({ params: { seconds: 9 } }, key);
    for (const { id } of [first, once])
      await served.api.call("PATCH", `/workflows/${id}`, { metadata: { who: "eva" } });
    assert.deepEqual(await rerun({ params: { seconds: 9 } }, key), once, "whatever is said of either since");
    assert.equal((await served.get<WorkflowView[]>("/workflows")).length, 4);
  });
});

describe("the metadata of a workflow", () => {
  test("is changed key by key, at any time", async (t) => {
    const served = await openWorkflows(t);
    const { id } = await served.make({ definition: DIAMOND, metadata: { a: 1, b: { c: 2 } } });
    await served.act(id, "cancel");
    const patch = (body: unknown) => served.api.call("PATCH", `/workflows/${id}`, body);
    const changed = await patch({ metadata: { a: null, b: 3, d: [1] } });
    assert.deepEqual(changed.json<WorkflowView>().metadata, { b: 3, d: [1] });
    assert.deepEqual((await served.show(id)).metadata, { b: 3, d: [1] });
    await served.refused(patch({ metadata: { text: "x".repeat(70_000) } }), 422, "input_invalid");
    await served.refused(patch({ name: "no" }), 422, "input_invalid");
  });
});

describe("a workflow is deleted", () => {
  test("when it has ended, or by force, and every call about it says that there is none", async (t) => {
    const served = await openWorkflows(t);
    const there = await inEveryState(served);
    for (const status of WORKFLOW_STATUSES) {
      const id = there[status];
      const remove = (query = "") => served.api.call("DELETE", `/workflows/${id}${query}`);
      const [task] = await served.tasks(id);
      if (!["completed", "failed", "cancelled"].includes(status)) {
        const problem = await served.refused(remove(), 409, "illegal_transition");
        assert.match(problem.hint ?? "", /force/);
        assert.ok(problem.detail.includes(status), problem.detail);
        assert.equal((await remove("?force=true")).status, 204);
      } else assert.equal((await remove()).status, 204);
      await served.refused(remove("?force=true"), 404, "not_found");
      for (const path of ["", "/progress", "/tasks", "/tasks/only", "/tasks/only/entries", "/tasks/only/items"])
        await served.refused(served.api.get(`/workflows/${id}${path}`), 404, "not_found");
      for (const action of [...ACTIONS, "rerun"])
        await served.refused(served.api.post(`/workflows/${id}/${action}`), 404, "not_found");
      for (const path of ["", "/events", "/tasks"])
        await served.refused(served.api.get(`/jobs/runs/${id}${path}`), 404, "not_found");
      await served.refused(
        served.api.get(`/workflows/tasks/by-engine-id/${task?.engine_task_id ?? laneOfStep(id, 0)}`),
        404,
        "not_found",
      );
    }
    assert.deepEqual(await served.get("/workflows"), []);
    assert.deepEqual(await served.get("/runs?kind=workflow"), []);
    await served.store.sweepEnded(100, served.clock.now());
    while ((await served.store.removeExpired(10)) > 0);
    assert.deepEqual((await served.store.audit()).findings, []);
  });
});

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Problem } from "../../src/api/problems.ts";
import { failure } from "../../src/domain/run/failure.ts";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { laneOfStep } from "../../src/domain/workflow/definition.ts";
import type { WorkflowTaskView } from "../../src/orchestrator/workflows/task-view.ts";
import type { WorkflowDetail, WorkflowView } from "../../src/orchestrator/workflows/view.ts";
import type { SettledTask } from "../../src/store/ports/port.ts";
import { type Answer, CheckedApi } from "../jobs/answers.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { openTestApi } from "./kit.ts";

type Verdict = SettledTask["verdict"];

export const step = (name: string, dependencies: (string | number)[] = [], more: object = {}) => ({
  name,
  task_type: "wait",
  params: { seconds: 1 },
  dependencies,
  ...more,
});

/** Two branches from one step that meet in another: list → pages, pictures → pack. */
export const DIAMOND = {
  name: "Dataset build",
  steps: [
    step("list", [], { estimated_duration: 10 }),
    step("pages", ["list"], { estimated_duration: 60 }),
    step("pictures", [0], { estimated_duration: 20, max_retries: 1 }),
    step("pack", ["pages", "pictures"], { estimated_duration: 10 }),
  ],
};

export function done(output: Record<string, JsonValue> = {}): Verdict {
  return { kind: "completed", artifacts: [], results: [], detail: { output, items: null } };
}

export const FAILED: Verdict = { kind: "failed", failure: failure("step_timeout", "it took longer than 5 s") };

/** A server on which workflows are made; how their steps end is said by who tests, and time passes when it is let. */
export async function openWorkflows(t: TestContext) {
  const clock = new FakeClock();
  const served = await openTestApi(t, { clock });
  const api = await CheckedApi.open(served.url);
  t.after(() => api.close());
  const { workflows } = api.client;
  const tasks = async (id: string, query: { status?: WorkflowTaskView["status"] } = {}) =>
    (await workflows.tasks(id, query).take()) as WorkflowTaskView[];
  return {
    api,
    clock,
    store: served.store,
    woken: served.woken,
    make: async (body: object, headers: Record<string, string> = {}) =>
      (await workflows.create(body as never, { headers })) as unknown as WorkflowDetail,
    show: async (id: string) => (await workflows.get(id)) as unknown as WorkflowDetail,
    act: (id: string, action: "start" | "pause" | "resume" | "cancel"): Promise<WorkflowView> => workflows[action](id),
    recover: (id: string): Promise<WorkflowView> => workflows.recover(id),
    tasks,
    /** What a step is seen as. */
    task: async (id: string, name: string) => (await workflows.task(id, name)) as WorkflowTaskView,
    /** The states of the steps, in order. */
    states: async (id: string) => (await tasks(id)).map(({ status }) => status),
    get: async <T>(path: string): Promise<T> => {
      const answer = await api.get(path);
      assert.equal(answer.status, 200, answer.text);
      return answer.json<T>();
    },
    refused: async (answer: Answer | Promise<Answer>, status: number, code: string) => {
      const { status: got, text, json } = await answer;
      assert.equal(got, status, text);
      const problem = json<Problem>();
      assert.equal(problem.code, code, text);
      return problem;
    },
    /** A step that is ready begins and ends so. */
    end: (id: string, index: number, verdict: Verdict = done()) => served.work(laneOfStep(id, index), () => verdict),
  };
}

export type Workflows = Awaited<ReturnType<typeof openWorkflows>>;

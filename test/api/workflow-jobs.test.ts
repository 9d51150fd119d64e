import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WorkflowSnapshot } from "../../src/domain/workflow/definition.ts";
import type { JobInput } from "../../src/orchestrator/jobs/input.ts";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { aboutOf, newWorkflowRun } from "../../src/orchestrator/workflows/new-run.ts";
import type { TemplateView } from "../../src/orchestrator/workflows/templates.ts";
import type { WorkflowDetail } from "../../src/orchestrator/workflows/view.ts";
import { DIAMOND, openWorkflows, step, type Workflows } from "./workflow-kit.ts";

const template = (name: string) => ({
  name,
  params: { type: "object", properties: { who: { type: "string" } }, required: ["who"], additionalProperties: false },
  steps: [step("only")],
});

async function save(served: Workflows, input: JobInput): Promise<JobView> {
  const answer = await served.api.post("/jobs", input);
  assert.equal(answer.status, 201, answer.text);
  return answer.json<JobView>();
}

describe("a job that is a workflow", () => {
  test("is saved, shown as it was given, and run", async (t) => {
    const served = await openWorkflows(t);
    const job = await save(served, { kind: "workflow", workflow: { definition: DIAMOND }, schedule: "0 6 * * *" });
    assert.deepEqual([job.kind, job.name, job.target_url, job.site], ["workflow", "Dataset build", null, null]);
    assert.deepEqual(job.workflow, { definition: DIAMOND, params: {} });
    assert.ok(job.next_run_at !== null);
    assert.equal(job.last_run, null);
    await served.refused(served.api.get(`/jobs/${job.id}/workflow`), 404, "not_found");
    const run = (await served.api.post(`/jobs/${job.id}/runs`)).json<RunView>();
    assert.deepEqual([run.kind, run.job_id, run.status, run.name], ["workflow", job.id, "running", "Dataset build"]);
    const workflow = await served.get<WorkflowDetail>(`/jobs/${job.id}/workflow`);
    assert.deepEqual([workflow.id, workflow.job_id, workflow.total_steps], [run.id, job.id, 4]);
    await served.end(run.id, 0);
    const { last_run } = await served.get<JobView>(`/jobs/${job.id}`);
    assert.deepEqual([last_run?.id, last_run?.status, last_run?.progress], [run.id, "running", 10]);
    for (const index of [1, 2, 3]) await served.end(run.id, index);
    const [listed] = await served.get<JobView[]>("/jobs");
    assert.deepEqual([listed?.last_run?.status, listed?.last_run?.progress], ["completed", 100]);
    assert.ok(listed?.last_run?.finished_at !== null);
  });

  test("takes its template as it is when a run begins", async (t) => {
    const served = await openWorkflows(t);
    const put = (name: string) => served.api.call("PUT", "/workflows/templates/mine", template(name));
    await put("Old");
    const job = await save(served, {
      kind: "workflow",
      name: "nightly",
      workflow: { template: "mine", params: { who: "ana" } },
    });
    assert.deepEqual(job.workflow, { template: "mine", template_version: null, params: { who: "ana" } });
    await put("New");
    const run = (await served.api.post(`/jobs/${job.id}/runs`)).json<RunView>();
    const workflow = await served.show(run.id);
    assert.deepEqual(
      [workflow.definition.name, workflow.template, workflow.params, workflow.name],
      ["New", { name: "mine", version: 2 }, { who: "ana" }, "nightly"],
    );
    const asks = { ...template("Asks more"), params: { ...template("").params, required: ["who", "what"] } };
    await served.api.call("PUT", "/workflows/templates/mine", asks);
    const { errors } = await served.refused(served.api.post(`/jobs/${job.id}/runs`), 422, "input_invalid");
    assert.deepEqual(
      errors?.map(({ path }) => path),
      ["workflow.params.what"],
    );
  });

  test("is refused with the path of what is wrong, at saving and at changing", async (t) => {
    const served = await openWorkflows(t);
    const refuse = async (answer: ReturnType<typeof served.api.post>, ...paths: string[]) => {
      const { errors } = await served.refused(answer, 422, "input_invalid");
      assert.deepEqual(errors?.map(({ path }) => path).toSorted(), paths.toSorted());
    };
    const post = (input: object) => served.api.post("/jobs", { kind: "workflow", ...input });
    await refuse(post({}), "workflow.definition");
    const bad = { name: "x", steps: [{ ...step("a"), task_type: "nothing-such" }] };
    await refuse(post({ workflow: { definition: bad } }), "workflow.definition.steps[0].task_type");
    await refuse(post({ workflow: { template: "nobody-made-it" } }), "workflow.template");
    await refuse(
      post({
        workflow: { definition: DIAMOND },
        strategy: "http",
        schedule: "whenever",
        target_url: "https://a.example",
      }),
      "strategy",
      "schedule",
      "target_url",
    );
    await refuse(served.api.post("/jobs", { target_url: "https://a.example/", workflow: {} }), "workflow");
    const job = await save(served, { kind: "workflow", workflow: { definition: DIAMOND } });
    const patch = (change: object) => served.api.call("PATCH", `/jobs/${job.id}`, change);
    await refuse(patch({ workflow: { definition: bad } }), "workflow.definition.steps[0].task_type");
    await refuse(patch({ kind: "page" }), "kind");
    await refuse(patch({ workflow: { template_version: 99 } }), "workflow.template_version");
    await refuse(post({ workflow: { template_version: 1 } }), "workflow.definition");
  });

  test("is changed in its params, its source or its times", async (t) => {
    const served = await openWorkflows(t);
    await served.api.call("PUT", "/workflows/templates/mine", template("Mine"));
    const job = await save(served, { kind: "workflow", workflow: { template: "mine", params: { who: "ana" } } });
    const patch = async (change: object) => (await served.api.call("PATCH", `/jobs/${job.id}`, change)).json<JobView>();
    assert.deepEqual((await patch({ workflow: { params: { who: "eva" } } })).workflow, {
      template: "mine",
      template_version: null,
      params: { who: "eva" },
    });
    assert.equal((await patch({ schedule: "0 6 * * *" })).schedule?.cron, "0 6 * * *");
    const other = await patch({ workflow: { definition: DIAMOND, params: {} } });
    assert.deepEqual(other.workflow, { definition: DIAMOND, params: {} });
  });

  test("a rerun has the name of the run that it repeats", async (t) => {
    const served = await openWorkflows(t);
    await served.api.call("PUT", "/workflows/templates/mine", template("Mine"));
    const workflow = { template: "mine", params: { who: "ana" } };
    const job = await save(served, { kind: "workflow", name: "Every day", workflow });
    const run = (await served.api.post(`/jobs/${job.id}/runs`)).json<RunView>();
    const again = (await served.api.post(`/workflows/${run.id}/rerun`)).json<WorkflowDetail>();
    assert.deepEqual(
      [run.name, again.name, (await served.show(again.id)).name],
      ["Every day", "Every day", "Every day"],
    );
    const other = { definition: template("Other") };
    assert.equal((await served.api.post(`/workflows/${run.id}/rerun`, other)).json<WorkflowDetail>().name, "Other");
  });

  test("shows the headers of its steps by name, and keeps their values through changes, runs, reruns and templates", async (t) => {
    const served = await openWorkflows(t);
    const calls = (authorization: string, url = "https://a.example/hook") => ({
      name: "Calls",
      steps: [{ name: "call", task_type: "webhook", params: { url, headers: { authorization } } }],
    });
    const shown = calls("***");
    const job = await save(served, { kind: "workflow", workflow: { definition: calls("open-sesame") } });
    assert.deepEqual(job.workflow?.definition, shown);
    const patch = (change: object) => served.api.call("PATCH", `/jobs/${job.id}`, change);
    for (const change of [{ tags: ["a"] }, { workflow: { definition: shown } }])
      assert.deepEqual((await patch(change)).json<JobView>().workflow?.definition, shown);
    const moved = await served.refused(
      patch({ workflow: { definition: calls("***", "https://b.example/") } }),
      422,
      "input_invalid",
    );
    assert.equal(moved.errors?.[0]?.path, "workflow.definition.steps[0].params.headers.authorization");
    const run = (await served.api.post(`/jobs/${job.id}/runs`)).json<RunView>();
    const created = await served.make({ definition: calls("open-sesame") });
    const again = (await served.api.post(`/workflows/${run.id}/rerun`, { definition: shown })).json<WorkflowDetail>();
    const put = (body: object) => served.api.call("PUT", "/workflows/templates/calls", body);
    assert.deepEqual((await put(calls("open-sesame"))).json<TemplateView>().definition, shown);
    for (const same of [shown, calls("open-sesame")]) assert.equal((await put(same)).json<TemplateView>().version, 1);
    const templated = await served.make({ template: "calls" });
    const similarityKey = new Set<unknown>();
    for (const { id } of [run, created, again, templated]) {
      assert.deepEqual((await served.show(id)).definition.steps[0]?.params, shown.steps[0]?.params);
      const snapshot = (await served.store.workflowSnapshot(id)) as WorkflowSnapshot;
      const { definition, template: from } = snapshot;
      if (from === null) similarityKey.add(newWorkflowRun(snapshot, aboutOf({})).workflow?.similarityKey);
      const { authorization } = definition.steps[0]!.params["headers"] as { authorization: string };
      assert.match(authorization, /^orb-sealed:/, "sealed, and once");
      assert.ok(authorization.length < 90, authorization);
    }
    assert.equal(similarityKey.size, 1, "they do the same, each sealed for itself");
    await served.refused(served.api.post("/workflows", { definition: shown }), 422, "input_invalid");
  });

  test("sends its secret params nowhere else, whoever changes its steps, its addresses or its template", async (t) => {
    const served = await openWorkflows(t);
    const properties = { key: { type: "string", writeOnly: true }, url: { type: "string" } };
    const calls = (url: string) => ({
      name: "Calls",
      params: { type: "object", properties },
      steps: [
        { name: "call", task_type: "webhook", params: { url, headers: { authorization: "${{ params.key }}" } } },
        { name: "wait", task_type: "wait", params: { seconds: 1 } },
      ],
    });
    const definition = calls("${{ params.url }}");
    const params = { key: "open-sesame", url: "https://a.example/hook" };
    const job = await save(served, { kind: "workflow", workflow: { definition, params } });
    const patch = (workflow: object) => served.api.call("PATCH", `/jobs/${job.id}`, { workflow });
    const run = (await served.api.post(`/jobs/${job.id}/runs`)).json<RunView>();
    const rerun = (body: object) => served.api.post(`/workflows/${run.id}/rerun`, body);
    const evil = calls("https://evil.example/");
    const away = { url: "https://evil.example/" };
    for (const [answer, path] of [
      [patch({ definition: evil }), "workflow.params.key"],
      [patch({ definition: evil, params: { ...params, key: "***" } }), "workflow.params.key"],
      [patch({ params: { key: "***", ...away } }), "workflow.params.url"],
      [rerun({ definition: evil }), "params.key"],
      [rerun({ params: away }), "params.url"],
    ] as const) {
      const refused = await served.refused(answer, 422, "input_invalid");
      assert.equal(refused.errors?.[0]?.path, path, refused.errors?.[0]?.message);
    }
    for (const answer of [
      patch({ definition: { ...definition, steps: definition.steps.slice(0, 1) } }),
      patch({ definition: evil, params: { key: "another", ...away } }),
      rerun({}),
      rerun({ params: { url: "https://a.example/other" } }),
      rerun({ params: { key: "another", ...away } }),
    ])
      assert.ok((await answer).status < 300, (await answer).text);

    // A job that keeps secrets stays with the version of the template that it was saved with.
    const put = (body: object) => served.api.call("PUT", "/workflows/templates/calls", body);
    await put(definition);
    const templated = await save(served, { kind: "workflow", workflow: { template: "calls", params } });
    assert.equal(templated.workflow?.template_version, 1);
    await put(evil);
    const renamed = await served.api.call("PATCH", `/jobs/${templated.id}`, { name: "renamed" });
    assert.equal(renamed.json<JobView>().workflow?.template_version, 1, renamed.text);
    const newer = served.api.call("PATCH", `/jobs/${templated.id}`, { workflow: { template_version: 2 } });
    assert.equal((await served.refused(newer, 422, "input_invalid")).errors?.[0]?.path, "workflow.params.key");
    const remove = () => served.api.call("DELETE", "/workflows/templates/calls");
    await served.refused(remove(), 409, "illegal_transition");
    assert.equal((await served.api.call("DELETE", `/jobs/${templated.id}?force=true`)).status, 204);
    assert.equal((await remove()).status, 204);
  });

  test("is deleted only without a run that is not at its end", async (t) => {
    const served = await openWorkflows(t);
    const job = await save(served, { kind: "workflow", workflow: { definition: DIAMOND } });
    const run = (await served.api.post(`/jobs/${job.id}/runs`)).json<RunView>();
    await served.refused(served.api.call("DELETE", `/jobs/${job.id}`), 409, "illegal_transition");
    assert.equal((await served.api.call("DELETE", `/jobs/${job.id}?force=true`)).status, 204);
    assert.equal((await served.show(run.id)).status, "cancelled");
  });
});

test("a workflow may belong to a job of any kind, which shows how it is getting on", async (t) => {
  const served = await openWorkflows(t);
  const job = await save(served, { target_url: "https://a.example/" });
  const { id } = await served.make({ definition: DIAMOND, job_id: job.id });
  assert.equal((await served.get<WorkflowDetail>(`/jobs/${job.id}/workflow`)).id, id);
  await served.end(id, 0);
  const { last_run } = await served.get<JobView>(`/jobs/${job.id}`);
  assert.deepEqual([last_run?.id, last_run?.kind, last_run?.progress], [id, "workflow", 10]);
});

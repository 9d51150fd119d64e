import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSeal } from "../../src/base/seal.ts";
import type { StepKindView } from "../../src/orchestrator/workflows/kinds.ts";
import { putTemplate, type TemplateView } from "../../src/orchestrator/workflows/templates.ts";
import { createStepKinds } from "../../src/workflows/registry.ts";
import { kindSettings } from "../support/kind-settings.ts";
import { openWorkflows, step } from "./workflow-kit.ts";

const daily = (name: string, seconds = 1) => ({
  name,
  description: "what is done each day",
  params: { type: "object", properties: { seconds: { type: "number", default: seconds } } },
  steps: [{ name: "rest", task_type: "wait", params: { seconds: "${{ params.seconds }}" } }],
});

describe("templates", () => {
  test("are saved in versions, and a workflow keeps the one it began with", async (t) => {
    const served = await openWorkflows(t);
    const put = async (body: object) => {
      const answer = await served.api.call("PUT", "/workflows/templates/daily", body);
      assert.equal(answer.status, 200, answer.text);
      return answer.json<TemplateView>();
    };
    const first = await put({ definition: daily("First") });
    assert.deepEqual([first.name, first.version, first.built_in], ["daily", 1, false]);
    assert.deepEqual(first.definition, daily("First"), "it is shown as it was given");
    const before = await served.make({ template: "daily" });
    assert.deepEqual([before.template, before.params], [{ name: "daily", version: 1 }, { seconds: 1 }]);
    assert.equal((await put(daily("Second", 2))).version, 2);
    const { steps, ...rest } = daily("Second", 2);
    assert.equal((await put({ steps, ...rest })).version, 2, "the same, in another order");
    const after = await served.make({ template: "daily", params: { seconds: 9 } });
    assert.deepEqual(
      [after.name, after.template, after.params],
      ["Second", { name: "daily", version: 2 }, { seconds: 9 }],
    );
    assert.equal((await served.show(before.id)).definition.name, "First");
    const old = await served.make({ template: "daily", template_version: 1 });
    assert.deepEqual([old.name, old.template?.version], ["First", 1]);
    const versions = await served.get<TemplateView[]>("/workflows/templates/daily/versions");
    assert.deepEqual(
      versions.map(({ version }) => version),
      [2, 1],
    );
    assert.equal((await served.get<TemplateView>("/workflows/templates/daily")).version, 2);
    const one = await served.get<TemplateView>("/workflows/templates/daily?version=1");
    assert.deepEqual([one.version, one.description], [1, "what is done each day"]);
    const listed = await served.get<TemplateView[]>("/workflows/templates");
    assert.deepEqual(
      listed.filter(({ built_in }) => !built_in).map(({ name, version }) => [name, version]),
      [["daily", 2]],
    );
    assert.deepEqual(
      (await served.get<{ id: string }[]>("/workflows?template=daily")).map(({ id }) => id),
      [old.id, after.id, before.id],
    );
  });

  test("that are built in can be used, and replaced by a version of one's own", async (t) => {
    const served = await openWorkflows(t);
    const listed = await served.get<TemplateView[]>("/workflows/templates");
    const names = listed.map(({ name }) => name);
    assert.deepEqual(names, names.toSorted());
    const dataset = listed.find(({ name }) => name === "article-dataset");
    assert.deepEqual([dataset?.version, dataset?.built_in, dataset?.created_at], [1, true, null]);
    const created = await served.make({
      template: "article-dataset",
      params: { crawl: { url: "https://a.example/" } },
    });
    assert.deepEqual(created.template, { name: "article-dataset", version: 1 });
    const again = await served.api.call("PUT", "/workflows/templates/article-dataset", dataset?.definition as object);
    assert.deepEqual(again.json<TemplateView>(), dataset, "saved as it is, it stays what is built in");
    const mine = await served.api.call("PUT", "/workflows/templates/article-dataset", daily("Mine"));
    assert.deepEqual([mine.json<TemplateView>().version, mine.json<TemplateView>().built_in], [2, false]);
    assert.equal((await served.make({ template: "article-dataset" })).name, "Mine");
    const versions = await served.get<TemplateView[]>("/workflows/templates/article-dataset/versions");
    assert.deepEqual(
      versions.map(({ version, built_in }) => [version, built_in]),
      [
        [2, false],
        [1, true],
      ],
    );
    const first = await served.get<TemplateView>("/workflows/templates/article-dataset?version=1");
    assert.equal(first.built_in, true);
    const remove = (name: string) => served.api.call("DELETE", `/workflows/templates/${name}`);
    assert.equal((await remove("article-dataset")).status, 204);
    assert.deepEqual(await served.get("/workflows/templates/article-dataset"), dataset, "it is itself again");
    for (const name of ["article-dataset", "none"]) await served.refused(remove(name), 404, "not_found");
  });

  test("are deleted, and what was begun with them keeps its definition", async (t) => {
    const served = await openWorkflows(t);
    await served.api.call("PUT", "/workflows/templates/daily", daily("First"));
    const created = await served.make({ template: "daily" });
    assert.equal((await served.api.call("DELETE", "/workflows/templates/daily")).status, 204);
    await served.refused(served.api.get("/workflows/templates/daily"), 404, "not_found");
    await served.refused(served.api.post("/workflows", { template: "daily" }), 422, "input_invalid");
    assert.equal((await served.show(created.id)).definition.name, "First");
  });

  test("that are wrong, or not there, are refused by name", async (t) => {
    const served = await openWorkflows(t);
    const put = (name: string, body: object) => served.api.call("PUT", `/workflows/templates/${name}`, body);
    const bad = { name: "x", steps: [step("a", ["b"])] };
    const { errors } = await served.refused(put("x", { definition: bad }), 422, "input_invalid");
    assert.equal(errors?.[0]?.path, "definition.steps[0].dependencies[0]");
    await served.refused(put("no%20blanks", daily("x")), 422, "input_invalid");
    const { store, clock } = served;
    const deps = { store, clock, seal: createSeal("k"), stepKinds: async () => createStepKinds(kindSettings, []) };
    const unnamed = putTemplate(deps, "../x", daily("x"), (inner) => inner);
    await assert.rejects(unnamed, /^OrbError: name: expected at most 100 letters/, "the library is told the same");
    await served.refused(served.api.get("/workflows/templates/x"), 404, "not_found");
    await served.refused(served.api.get("/workflows/templates/x/versions"), 404, "not_found");
    await put("x", daily("x"));
    await served.refused(served.api.get("/workflows/templates/x?version=2"), 404, "not_found");
    const wrong = served.api.post("/workflows", { template: "x", template_version: 3 });
    assert.equal((await served.refused(wrong, 422, "input_invalid")).errors?.[0]?.path, "template");
  });
});

test("the kinds of steps are listed with what their params are", async (t) => {
  const served = await openWorkflows(t);
  const kinds = await served.get<StepKindView[]>("/workflows/step-kinds");
  const names = new Set(kinds.map(({ kind }) => kind));
  for (const kind of ["wait", "webhook", "scrape", "crawl", "download"]) assert.ok(names.has(kind), kind);
  for (const { kind, about, params } of kinds) {
    assert.ok(about.length > 3, kind);
    assert.equal((params as { type: string }).type, "object", kind);
  }
});

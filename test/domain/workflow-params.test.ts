import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { completeParams } from "../../src/domain/workflow/params-check.ts";
import { faults, KINDS, step, workflow } from "./workflow-kinds.ts";

test("expressions are looked at before anything runs", () => {
  const expression = (text: string, more: object = {}) =>
    faults({
      name: "w",
      params: { type: "object", properties: { urls: {} } },
      steps: [
        { name: "get", task_type: "download" },
        { name: "get-list", task_type: "anything" },
        step("aside"),
        step("next", { dependencies: ["get", "get-list"] }),
        step("last", { dependencies: ["next"], params: { deep: [{ x: text }] }, ...more }),
      ],
    }).map((fault) => fault.replace("steps[4].params.deep[0].x: ", ""));
  assert.deepEqual(expression("${{ steps.get.output.downloaded }} of ${{ params.urls }}"), []);
  assert.deepEqual(expression('${{ steps["get-list"].output.whatever[0] }}'), []);
  assert.deepEqual(expression("${{ item.url + index }}", { for_each: { in: [{ url: 1 }] } }), []);
  const table: [text: string, fault: RegExp][] = [
    ["${{ steps.get.output. }}", /expected a name after the dot, got the end \(at character 23\)/],
    ["${{ step.get }}", /^unknown name "step", did you mean "steps"\? \(at character 5\)$/],
    ["${{ secrets.x }}", /^unknown name "secrets": known are steps, params/],
    ["${{ params.url }}", /^the workflow has no param "url", did you mean "urls"\?/],
    ["${{ item }}", /^"item" is only available in the params of a step with for_each/],
    ["${{ steps }}", /^steps is followed by the name of a step/],
    ["${{ steps[params.urls].output }}", /^steps is followed by the name of a step/],
    ["${{ steps.gett.output }}", /^there is no step "gett", did you mean "get"\?/],
    ["${{ steps.nex-list.output }}", /^there is no step "nex", did you mean "next"\?/],
    ["${{ steps.aside.output }}", /^this step does not depend on "aside": add it to its dependencies/],
    ["${{ steps.last.output }}", /^a step cannot use its own output/],
    ["${{ steps.get }}", /^use the output of a step: steps\.get\.output/],
    ["${{ steps.get.result.x }}", /^use the output of a step/],
    ["${{ steps.get.items }}", /^the items of "get" can only be used in for_each/],
    ["${{ steps.get.output.downlaoded }}", /^the output of "get" has no "downlaoded", did you mean "downloaded"\?/],
    ["${{ default(nope, [-1, !x ? 1 : y[z]]) }}", /^unknown name "nope"/],
  ];
  for (const [text, fault] of table) {
    const found = expression(text);
    assert.match(found[0] ?? "", fault, text);
  }
  assert.equal(expression("${{ default(nope, [-1, !x ? 1 : y[z]]) }}").length, 4, "each name for itself");
  assert.match(
    expression("x", { when: "steps.get.output.downloaded >" })[0] ?? "",
    /^steps\[4\]\.when: expected a value/,
  );
  assert.match(
    expression("x", { when: "index > 1", for_each: { in: [] } })[0] ?? "",
    /^steps\[4\]\.when: "index" is only available in the params/,
  );
  assert.match(expression("x", { for_each: { in: "some text" } })[0] ?? "", /for_each\.in: expected a list, or one/);
  assert.match(
    expression("x", { for_each: { in: "${{ steps.aside.items }}" } })[0] ?? "",
    /does not depend on "aside"/,
  );
  assert.deepEqual(expression("x", { for_each: { in: "${{ steps.get.items }}" } }), []);
  assert.deepEqual(expression("${{ item }}", { for_each: "${{ steps.get.items }}" }), []);
  assert.match(expression("x", { for_each: "some text" })[0] ?? "", /^steps\[\d\]\.for_each: expected a list, or one/);
  assert.match(expression("x", { for_each: ["${{ steps.get.items }}"] })[0] ?? "", /for_each\[0\]: the items of "get"/);
  assert.match(
    expression("x", { for_each: { in: ["${{ steps.get.items }}"] } })[0] ?? "",
    /for_each\.in\[0\]: the items of "get" can only be used in for_each\.in/,
  );
});

test("a dash in a step's name is explained where it reads as a difference", () => {
  const [fault] = faults(
    workflow(step("get-list"), step("b", { dependencies: [0], params: { x: "${{ steps.get-list.output.n }}" } })),
  );
  assert.equal(fault, 'steps[1].params.x: there is no step "get", write steps["get-list"] (at character 11)');
});

test("params with expressions are checked around them", () => {
  const params = (value: object) =>
    faults({
      ...workflow({ name: "a", task_type: "download", params: value }),
      params: { type: "object", properties: { x: {} } },
    });
  const x = "${{ params.x }}";
  assert.deepEqual(params({ urls: x, field: x, source: x, mode: x }), []);
  assert.deepEqual(params({ urls: [x, "https://example.com/"] }), []);
  assert.deepEqual(
    params({ urls: [`https://example.com/${x}`, "nope"] }),
    ['steps[0].params.urls[1]: must match format "uri"'].map((line) =>
      line.replace('must match format "uri"', "expected an absolute URL"),
    ),
  );
  assert.deepEqual(params({ source: { page: x } }), []);
  assert.deepEqual(params({ source: { file: x } }), []);
  assert.deepEqual(params({ source: { page: x, pages: 3 }, fild: 1 }), [
    'steps[0].params.fild: unknown key, did you mean "field"?',
    'steps[0].params.source.pages: unknown key, did you mean "page"?',
  ]);
});

test("params of which one is needed, or only one may be given, are named", () => {
  const pick = (params: object) => faults(workflow({ name: "a", task_type: "pick", params }));
  assert.deepEqual(pick({}), ["steps[0].params: needs a or b"]);
  assert.deepEqual(pick({ a: 1, b: 1 }), ["steps[0].params: only one of a, b is allowed"]);
  assert.deepEqual(pick({ a: 1, c: 1, d: 1 }), ["steps[0].params: only one of c, d is allowed"]);
  assert.deepEqual(pick({ b: "${{ 1 }}", c: "${{ 2 }}" }), []);
});

test("where a condition depends on an expression, neither of its ways is asked for", () => {
  const choose = (params: object) => faults(workflow({ name: "a", task_type: "choose", params }));
  assert.deepEqual(choose({ kind: "b" }), ["steps[0].params.b: is required"]);
  assert.deepEqual(choose({ a: 1, Bad: 1 }), ["steps[0].params.Bad: is not an allowed name"]);
  assert.deepEqual(choose({ kind: "b", b: 1 }), []);
  assert.deepEqual(choose({ kind: "${{ 'b' }}", b: 1 }), []);
});

test("resolved params get their defaults, or every mistake", () => {
  const schema = (KINDS["download"] as { params: JsonValue }).params;
  const given = { urls: ["https://example.com/"] };
  assert.deepEqual(completeParams(schema, given), { ok: { urls: ["https://example.com/"], field: "url" } });
  assert.deepEqual(given, { urls: ["https://example.com/"] }, "what was given stays as it was");
  assert.deepEqual(completeParams(schema, { urls: [], mode: "quick" }), {
    errors: [
      { path: "params.urls", message: "must have at least one entry" },
      { path: "params.mode", message: "expected one of fast, slow" },
    ],
  });
});

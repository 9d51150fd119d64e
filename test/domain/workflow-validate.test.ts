import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonValue } from "../../src/domain/queue-item.ts";
import type { WorkflowDefinition } from "../../src/domain/workflow/definition.ts";
import { completeParams } from "../../src/domain/workflow/params-check.ts";
import { type KindLookup, validateWorkflow } from "../../src/domain/workflow/validate.ts";

const KINDS: Record<string, { params: JsonValue; output?: JsonValue }> = {
  wait: {
    params: {
      type: "object",
      properties: { seconds: { type: "number", minimum: 0 } },
      required: ["seconds"],
      additionalProperties: false,
    },
    output: { type: "object", properties: {} },
  },
  download: {
    params: {
      type: "object",
      properties: {
        urls: { type: "array", items: { type: "string", format: "uri" }, minItems: 1 },
        field: { type: "string", default: "url" },
        source: {
          anyOf: [
            {
              type: "object",
              properties: { page: { type: "integer" } },
              required: ["page"],
              additionalProperties: false,
            },
            {
              type: "object",
              properties: { file: { type: "string" } },
              required: ["file"],
              additionalProperties: false,
            },
          ],
        },
        mode: { enum: ["fast", "slow"] },
      },
      additionalProperties: false,
    },
    output: { type: "object", properties: { downloaded: { type: "integer" }, failed: { type: "integer" } } },
  },
  anything: { params: { type: "object" } },
  choose: {
    params: {
      type: "object",
      properties: { kind: {}, a: {}, b: {} },
      if: { properties: { kind: { const: "b" } }, required: ["kind"] },
      propertyNames: { pattern: "^[a-z]+$" },
      // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
      then: { required: ["b"] },
      else: { required: ["a"] },
    },
  },
  pick: {
    params: {
      type: "object",
      properties: { a: {}, b: {}, c: {}, d: {} },
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
      not: { required: ["c", "d"] },
      additionalProperties: false,
    },
  },
};
const kinds: KindLookup = {
  find: (kind) => (Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined),
  all: () => Object.keys(KINDS).map((kind) => ({ kind })),
};

const step = (name: string, more: object = {}) => ({ name, task_type: "anything", ...more });
const workflow = (...steps: object[]) => ({ name: "w", steps });
const faults = (value: unknown) =>
  (validateWorkflow(value, kinds).errors ?? []).map(({ path, message }) => `${path}: ${message}`);
const valid = (value: unknown): WorkflowDefinition => {
  const { ok, errors } = validateWorkflow(value, kinds);
  assert.deepEqual(errors, undefined);
  return ok as WorkflowDefinition;
};

test("a definition comes back with every default, and dependencies as indices", () => {
  const definition = valid({
    name: "Dataset build",
    max_recovery_attempts: 5,
    params: { type: "object", properties: { urls: { type: "array" } } },
    steps: [
      {
        name: "download",
        task_type: "download",
        params: { urls: "${{ params.urls }}" },
        max_retries: 0,
        timeout: 600,
        estimated_duration: 300,
      },
      {
        name: "Check them",
        task_type: "anything",
        dependencies: ["download"],
        when: "steps.download.output.downloaded > 0",
      },
      {
        name: "each",
        task_type: "wait",
        dependencies: [1, "download", 0],
        for_each: "${{ steps.download.items }}",
        params: { seconds: "${{ index }}" },
      },
    ],
  });
  assert.deepEqual(definition, {
    name: "Dataset build",
    description: null,
    params: { type: "object", properties: { urls: { type: "array" } } },
    max_recovery_attempts: 5,
    steps: [
      {
        name: "download",
        task_type: "download",
        params: { urls: "${{ params.urls }}" },
        dependencies: [],
        max_retries: 0,
        timeout: 600,
        estimated_duration: 300,
        when: null,
        for_each: null,
      },
      {
        name: "Check them",
        task_type: "anything",
        params: {},
        dependencies: [0],
        max_retries: 3,
        timeout: null,
        estimated_duration: null,
        when: "steps.download.output.downloaded > 0",
        for_each: null,
      },
      {
        name: "each",
        task_type: "wait",
        params: { seconds: "${{ index }}" },
        dependencies: [1, 0],
        max_retries: 3,
        timeout: null,
        estimated_duration: null,
        when: null,
        for_each: { in: "${{ steps.download.items }}", concurrency: 4, on_error: "finish" },
      },
    ],
  });
  assert.deepEqual(valid(definition), definition, "what came out may be put in again");
});

test("a circle is reported once, with the whole way", () => {
  assert.deepEqual(
    faults(
      workflow(
        step("a", { dependencies: ["c"] }),
        step("b", { dependencies: ["a"] }),
        step("c", { dependencies: ["b"] }),
        step("d", { dependencies: ["c"] }),
      ),
    ),
    ["steps[0].dependencies[0]: steps wait for each other in a circle: a → c → b → a"],
  );
  assert.deepEqual(faults(workflow(step("a", { dependencies: ["a"] }))), [
    "steps[0].dependencies[0]: steps wait for each other in a circle: a → a",
  ]);
  assert.equal(
    faults(
      workflow(
        step("a", { dependencies: ["b"] }),
        step("b", { dependencies: ["a"] }),
        step("c", { dependencies: ["d"] }),
        step("d", { dependencies: ["c", "a"] }),
      ),
    ).length,
    2,
    "two circles are two faults",
  );
});

test("a step that uses what it does not depend on is named, whatever is wrong with the dependencies of others", () => {
  const uses = { when: "steps.aside.output.n > 1" };
  assert.deepEqual(
    faults(
      workflow(
        step("aside"),
        step("misspelt", { dependencies: ["asid"], ...uses }),
        step("after", { dependencies: ["misspelt"], ...uses }),
        step("unknown", { dependencies: ["zzz"], ...uses }),
        step("alone", uses),
        step("other", { dependencies: ["alon"], ...uses }),
      ),
    ),
    [
      'steps[1].dependencies[0]: there is no step "asid", did you mean "aside"?',
      'steps[3].dependencies[0]: there is no step "zzz"',
      'steps[5].dependencies[0]: there is no step "alon", did you mean "alone"?',
      'steps[4].when: this step does not depend on "aside": add it to its dependencies (at character 7)',
      'steps[5].when: this step does not depend on "aside": add it to its dependencies (at character 7)',
    ],
  );
});

const FAULTS: [what: string, value: unknown, expected: string[]][] = [
  ["nothing", null, [": expected object, got null"]],
  ["no steps", { name: "w", steps: [] }, ["steps: must have at least one entry"]],
  ["no name and no steps", {}, ["name: is required", "steps: is required"]],
  [
    "unknown keys",
    { name: "w", step: [], steps: [step("a", { dependancies: [], "x y": 1 })] },
    [
      'step: unknown key, did you mean "steps"?',
      'steps[0].dependancies: unknown key, did you mean "dependencies"?',
      "steps[0].x y: unknown key",
    ],
  ],
  [
    "a later step",
    workflow(step("a", { dependencies: ["b"] }), step("b")),
    ['steps[0].dependencies[0]: "b" comes later: a step depends on earlier ones, so move it before this step'],
  ],
  [
    "a later index",
    workflow(step("a", { dependencies: [1] }), step("b")),
    ['steps[0].dependencies[0]: "b" comes later: a step depends on earlier ones, so move it before this step'],
  ],
  [
    "an index that is not there",
    workflow(step("a"), step("b", { dependencies: [0, 7, -1] })),
    [
      "steps[1].dependencies[1]: there is no step 7: there are steps 0 to 1",
      "steps[1].dependencies[2]: there is no step -1: there are steps 0 to 1",
    ],
  ],
  [
    "a name that is not there",
    workflow(step("download"), step("b", { dependencies: [null, "downlaod", "zzz"] })),
    [
      "steps[1].dependencies[0]: expected string or integer, got null",
      'steps[1].dependencies[1]: there is no step "downlaod", did you mean "download"?',
      'steps[1].dependencies[2]: there is no step "zzz"',
    ],
  ],
  ["the same name twice", workflow(step("a"), step("a")), ['steps[1].name: "a" is already the name of steps[0]']],
  [
    "bad names",
    workflow(step(""), step(" a"), step("a/b"), step("__proto__"), step("x".repeat(101))),
    [
      "steps[0].name: must not be empty",
      ...[1, 2, 3, 4].map(
        (index) =>
          `steps[${index}].name: expected 1 to 100 letters, digits, spaces and _ . - without a space at either end`,
      ),
    ],
  ],
  [
    "an unknown kind",
    workflow({ name: "a", task_type: "donwload" }, { name: "b", task_type: "fly" }),
    [
      'steps[0].task_type: unknown kind of step "donwload", did you mean "download"?',
      'steps[1].task_type: unknown kind of step "fly": there are wait, download, anything, choose, pick',
    ],
  ],
  [
    "numbers out of range",
    {
      name: "w",
      max_recovery_attempts: 101,
      steps: [step("a", { max_retries: 21, timeout: 0, estimated_duration: -1 }), step("b", { max_retries: 1.5 })],
    },
    [
      "max_recovery_attempts: must be at most 100",
      "steps[0].max_retries: must be at most 20",
      "steps[0].timeout: must be more than 0",
      "steps[0].estimated_duration: must be at least 0",
      "steps[1].max_retries: expected integer, got number",
    ],
  ],
  [
    "bad for_each",
    workflow(step("a", { for_each: { in: 3, concurrency: 0, on_error: "ignore" } })),
    [
      "steps[0].for_each.in: expected array or string, got number",
      "steps[0].for_each.concurrency: must be at least 1",
      "steps[0].for_each.on_error: expected one of stop, finish, continue",
    ],
  ],
  [
    "bad params",
    workflow(
      { name: "a", task_type: "wait", params: { secnds: 3 } },
      { name: "b", task_type: "wait", params: { seconds: -1 } },
    ),
    [
      "steps[0].params.seconds: is required",
      'steps[0].params.secnds: unknown key, did you mean "seconds"?',
      "steps[1].params.seconds: must be at least 0",
    ],
  ],
  [
    "no params where some are needed",
    workflow({ name: "a", task_type: "wait" }),
    ["steps[0].params.seconds: is required"],
  ],
  [
    "a bad schema of params",
    { ...workflow(step("a")), params: { type: "strin" } },
    ["params: is no JSON Schema: /type must be equal to one of the allowed values"],
  ],
  [
    "a schema of params that leads elsewhere",
    { ...workflow(step("a")), params: { type: "object", properties: { x: { $ref: "https://example.com/" } } } },
    ["params.properties.x.$ref: must point into this schema: #/…"],
  ],
  [
    "params without names",
    { ...workflow(step("a")), params: { type: "array" } },
    ['params.type: expected "object", since params have names'],
  ],
];

test("every mistake is named with its path", () => {
  for (const [what, value, expected] of FAULTS) assert.deepEqual(faults(value).toSorted(), expected.toSorted(), what);
});

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
    ["${{ secrets.x }}", /^unknown name "secrets": there are steps, params/],
    ["${{ params.url }}", /^the workflow has no param "url", did you mean "urls"\?/],
    ["${{ item }}", /^"item" is for the params of a step with for_each/],
    ["${{ steps }}", /^steps is followed by the name of a step/],
    ["${{ steps[params.urls].output }}", /^steps is followed by the name of a step/],
    ["${{ steps.gett.output }}", /^there is no step "gett", did you mean "get"\?/],
    ["${{ steps.nex-list.output }}", /^there is no step "nex", did you mean "next"\?/],
    ["${{ steps.aside.output }}", /^this step does not depend on "aside": add it to its dependencies/],
    ["${{ steps.last.output }}", /^a step cannot use what it gives itself/],
    ["${{ steps.get }}", /^what a step gives is its output: steps\.get\.output/],
    ["${{ steps.get.result.x }}", /^what a step gives is its output/],
    ["${{ steps.get.items }}", /^the items of "get" are too many for an expression/],
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
    /^steps\[4\]\.when: "index" is for/,
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
    /for_each\.in\[0\]: the items of "get" are too many/,
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
  assert.deepEqual(pick({ a: 1, b: 1 }), ["steps[0].params: only one of a, b may be given"]);
  assert.deepEqual(pick({ a: 1, c: 1, d: 1 }), ["steps[0].params: only one of c, d may be given"]);
  assert.deepEqual(pick({ b: "${{ 1 }}", c: "${{ 2 }}" }), []);
});

test("where a condition depends on an expression, neither of its ways is asked for", () => {
  const choose = (params: object) => faults(workflow({ name: "a", task_type: "choose", params }));
  assert.deepEqual(choose({ kind: "b" }), ["steps[0].params.b: is required"]);
  assert.deepEqual(choose({ a: 1, Bad: 1 }), ["steps[0].params.Bad: is not a name that may be given here"]);
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

test("what is no plain JSON, too large or dangerous is refused", () => {
  assert.deepEqual(
    faults(JSON.parse('{"name":"w","steps":[{"name":"a","task_type":"anything","params":{"__proto__":1}}]}')),
    ["steps[0].params.__proto__: is not allowed as a key"],
  );
  assert.deepEqual(faults(workflow(step("a", { params: { at: new Map(), n: Number.NaN } }))), [
    "steps[0].params.at: is not JSON: an object of a class",
    "steps[0].params.n: is not JSON: NaN",
  ]);
  const circular: Record<string, unknown> = { name: "w" };
  circular["steps"] = [circular];
  assert.deepEqual(faults(circular), [": the definition is nested more than 50 levels deep"]);
  assert.deepEqual(faults(workflow(step("a", { params: { text: "x".repeat(1_100_000) } }))), [
    ": the definition has more than 1048576 characters",
  ]);
  assert.deepEqual(faults(workflow(step("a", { params: { list: Array.from({ length: 50_000 }, () => 1) } }))), [
    ": the definition has more than 50000 values",
  ]);
  assert.deepEqual(
    valid({ ...workflow(step("a", { timeout: undefined })), description: undefined }).steps[0]?.timeout,
    null,
  );
});

test("a thousand steps are allowed, and one more is not", () => {
  const steps = Array.from({ length: 1000 }, (_, index) =>
    step(`s${index}`, { dependencies: index > 0 ? [index - 1] : [] }),
  );
  assert.equal(valid(workflow(...steps)).steps.length, 1000);
  assert.deepEqual(faults(workflow(...steps, step("last"))), ["steps: must have at most 1000 entries"]);
});

test("a definition with thousands of mistakes is answered with the first hundred", () => {
  const steps = Array.from({ length: 1000 }, (_, index) =>
    step(`step ${index} ${"long".repeat(5)}`, {
      dependencies: Array.from({ length: 20 }, (_x, n) => `stop ${index} ${n} ${"lung".repeat(5)}`),
      params: { a: "${{ steps.nowhere }}", b: "${{" },
    }),
  );
  const list = faults(workflow(...steps));
  assert.equal(list.length, 101);
  assert.equal(list.at(-1), ": there are more; correct these first");
});

/** Any graph without circles: each step depends on some of those before it. */
const graphs = fc
  .integer({ min: 1, max: 25 })
  .chain((size) =>
    fc.tuple(
      ...Array.from({ length: size }, (_, index) =>
        fc.uniqueArray(fc.nat({ max: Math.max(0, index - 1) }), { maxLength: index === 0 ? 0 : 4 }),
      ),
    ),
  );
const named = (graph: readonly number[][], byName: boolean) =>
  graph.map((dependencies, index) =>
    step(`s${index}`, { dependencies: dependencies.map((other) => (byName ? `s${other}` : other)) }),
  );

test("any graph without circles is valid, by names as by indices, and comes back as it is", () => {
  fc.assert(
    fc.property(graphs, fc.boolean(), (graph, byName) => {
      const definition = valid(workflow(...named(graph, byName)));
      assert.deepEqual(
        definition.steps.map(({ dependencies }) => dependencies),
        graph,
      );
      assert.deepEqual(valid(definition), definition);
    }),
  );
});

test("any edge that leads forwards is reported, as a circle or as a later step", () => {
  fc.assert(
    fc.property(graphs, fc.nat(), fc.nat(), fc.boolean(), (graph, a, b, byName) => {
      const [from, to] = [a % graph.length, b % graph.length].toSorted((x, y) => x - y) as [number, number];
      const bent = graph.map((dependencies, index) => (index === from ? [...dependencies, to] : dependencies));
      const list = faults(workflow(...named(bent, byName)));
      assert.equal(list.length, 1, list.join("\n"));
      const reaches = (start: number, seen = new Set<number>()): boolean =>
        start === from || (bent[start] ?? []).some((next) => !seen.has(next) && reaches(next, seen.add(next)));
      assert.match(list[0] ?? "", reaches(to) ? /in a circle: s\d+ → (s\d+ → )*s\d+$/ : /comes later/);
      const way = /circle: (.*)$/.exec(list[0] ?? "")?.[1]?.split(" → ") ?? [];
      for (const [index, name] of way.slice(0, -1).entries()) {
        const next = Number(way[index + 1]?.slice(1));
        assert.ok(bent[Number(name.slice(1))]?.includes(next), `${name} depends on s${next}`);
      }
      assert.equal(way[0], way.at(-1));
    }),
  );
});

test("whatever is handed in, the answer is a definition or a list of faults", () => {
  const near = fc.record(
    {
      name: fc.oneof(fc.string(), fc.jsonValue()),
      params: fc.jsonValue(),
      steps: fc.oneof(
        fc.array(
          fc.record(
            {
              name: fc.oneof(fc.constantFrom("a", "b", "c"), fc.jsonValue()),
              task_type: fc.constantFrom("anything", "wait", "download", 3),
              params: fc.oneof(fc.jsonValue(), fc.constant({ seconds: "${{ steps.a.output.x }}" })),
              dependencies: fc.oneof(fc.array(fc.constantFrom("a", "b", "c", 0, 1, 2, -1, 1.5, null)), fc.jsonValue()),
              when: fc.oneof(fc.string(), fc.jsonValue()),
              for_each: fc.oneof(fc.jsonValue(), fc.record({ in: fc.jsonValue() })),
            },
            { requiredKeys: ["name", "task_type"] },
          ),
          { maxLength: 5 },
        ),
        fc.jsonValue(),
      ),
    },
    { requiredKeys: ["name", "steps"] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), near, fc.anything()), (value) => {
      const { ok, errors } = validateWorkflow(value, kinds);
      if (ok === undefined) assert.ok(errors.length > 0);
      else assert.deepEqual(validateWorkflow(ok, kinds), { ok });
    }),
    { numRuns: 500 },
  );
});

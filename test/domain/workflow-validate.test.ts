import assert from "node:assert/strict";
import { test } from "node:test";
import { faults, step, valid, workflow } from "./workflow-kinds.ts";

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
    ["steps[0].dependencies[0]: the dependencies form a cycle: a → c → b → a"],
  );
  assert.deepEqual(faults(workflow(step("a", { dependencies: ["a"] }))), [
    "steps[0].dependencies[0]: the dependencies form a cycle: a → a",
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
    ['steps[0].dependencies[0]: "b" comes later: a step can only depend on earlier steps; move it before this step'],
  ],
  [
    "a later index",
    workflow(step("a", { dependencies: [1] }), step("b")),
    ['steps[0].dependencies[0]: "b" comes later: a step can only depend on earlier steps; move it before this step'],
  ],
  [
    "an index that is not there",
    workflow(step("a"), step("b", { dependencies: [0, 7, -1] })),
    [
      "steps[1].dependencies[1]: there is no step 7: the steps are 0 to 1",
      "steps[1].dependencies[2]: there is no step -1: the steps are 0 to 1",
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
          `steps[${index}].name: expected 1 to 100 letters, digits, spaces and _ . -, not beginning or ending with a space`,
      ),
    ],
  ],
  [
    "an unknown kind",
    workflow({ name: "a", task_type: "donwload" }, { name: "b", task_type: "fly" }),
    [
      'steps[0].task_type: unknown step kind "donwload", did you mean "download"?',
      'steps[1].task_type: unknown step kind "fly": known are wait, download, anything, choose, pick',
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
    ["params: is not a JSON Schema: /type must be equal to one of the allowed values"],
  ],
  [
    "a schema of params that leads elsewhere",
    { ...workflow(step("a")), params: { type: "object", properties: { x: { $ref: "https://example.com/" } } } },
    ["params.properties.x.$ref: must point into this schema: #/…"],
  ],
  ["params without names", { ...workflow(step("a")), params: { type: "array" } }, ['params.type: expected "object"']],
];

test("every mistake is named with its path", () => {
  for (const [what, value, expected] of FAULTS) assert.deepEqual(faults(value).toSorted(), expected.toSorted(), what);
});

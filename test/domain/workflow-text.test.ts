import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { readDefinitionText } from "../../src/domain/workflow/read-text.ts";

const DEFINITION = {
  name: "w",
  steps: [
    { name: "a", task_type: "wait", params: { seconds: 1.5, on: "2024-01-01" }, dependencies: [] },
    { name: "b", task_type: "wait", when: "${{ steps.a.output.n > 0 }}", dependencies: ["a", 0], timeout: null },
  ],
};

test("a definition reads the same as YAML and as JSON", () => {
  const yaml = `
# what it does
name: w
steps:
  - name: a
    task_type: wait
    params: { seconds: 1.5, on: 2024-01-01 }
    dependencies: []
  - name: b
    task_type: wait
    when: "\${{ steps.a.output.n > 0 }}"
    dependencies:
      - a
      - 0
    timeout:
`;
  assert.deepEqual(readDefinitionText(yaml), { ok: DEFINITION });
  assert.deepEqual(readDefinitionText(JSON.stringify(DEFINITION)), { ok: DEFINITION });
  assert.deepEqual(readDefinitionText("when: steps.a.output.n > 0\nok: yes\n"), {
    ok: { when: "steps.a.output.n > 0", ok: "yes" },
  });
});

test("aliases repeat a part of a definition", () => {
  const text = "a: &shared {max_retries: 5}\nb: *shared\n";
  assert.deepEqual(readDefinitionText(text), { ok: { a: { max_retries: 5 }, b: { max_retries: 5 } } });
});

const BOMB = [
  "a: &a [1, 1, 1, 1, 1, 1]",
  "b: &b [*a, *a, *a, *a, *a, *a]",
  "c: &c [*b, *b, *b, *b, *b, *b]",
  "d: &d [*c, *c, *c, *c, *c, *c]",
].join("\n");

const MISTAKES: [what: string, text: string, message: RegExp][] = [
  ["bad indentation", "name: w\nsteps:\n  - name: a\n   task_type: b\n", /: line 4, column 1: /],
  ["JSON that is cut off", '{"name": "w",\n "steps": [', /: line 2, column \d+: /],
  ["a key that is there twice", "name: a\nsteps: []\nname: b\n", /: line 3, column 1: the key "name" appears twice$/],
  [
    "a key that is there twice below",
    "steps:\n  - {name: a, name: b}\n",
    /: line 2, column 15: the key "name" appears twice$/,
  ],
  ["a tag", "name: !!js/function 'x'\n", /: line 1, column 7: Unresolved tag: /],
  ["an alias of nothing", "name: *nobody\n", /Unresolved alias/],
  ["two documents", "name: a\n---\nname: b\n", /there is more than one document$/],
  ["lists within lists", `a: ${"[".repeat(5000)}`, /is nested more than 50 levels deep$/],
  ["lists within lists, without brackets", "- ".repeat(10_000), /is nested more than 50 levels deep$/],
  ["very many lines", "- a\n".repeat(30_000), /has more than 20000 lines and entries; use JSON instead$/],
  ["a very long text", "x".repeat(1_100_000), /has 1100000 characters, at most 1048576 are allowed$/],
  ["a long text", `a: ${"x".repeat(600_000)}`, /at most 524288 are allowed as YAML; use JSON instead$/],
  ["an alias of aliases of aliases", BOMB, /uses aliases too often$/],
];

test("what cannot be read is named with its line and column", () => {
  for (const [what, text, message] of MISTAKES) {
    const { errors } = readDefinitionText(text);
    assert.equal(errors?.length, 1, what);
    assert.match(errors[0]?.message ?? "", message, what);
  }
});

test("__proto__ in a text is an ordinary key, which the check of the definition refuses", () => {
  for (const text of ["__proto__:\n  polluted: 1\n", '{"__proto__": {"polluted": 1}}']) {
    const { ok } = readDefinitionText(text);
    assert.ok(Object.hasOwn(ok as object, "__proto__"), text);
    assert.equal(({} as { polluted?: number }).polluted, undefined);
  }
});

test("whatever text is handed in, the answer is a value or a mistake", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "a: ",
      "- ",
      "\n",
      "  ",
      "{",
      "}",
      "[",
      "]",
      "&x ",
      "*x",
      "!t ",
      "|\n",
      ">",
      '"',
      "'",
      "#",
      "? ",
      "%",
      "---\n",
      "<<: ",
    ),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const { ok, errors } = readDefinitionText(pieces.join(""));
      assert.ok(ok !== undefined || errors !== undefined);
    }),
    { numRuns: 1000 },
  );
});

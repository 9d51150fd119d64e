import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { schemaRows } from "../../src/cli/print/schema-words.ts";
import { isAsciiOnly } from "../../src/cli/print/signs.ts";
import { withParams } from "../../src/cli/workflow/workflow-params.ts";
import { sourcePositions } from "../../src/domain/workflow/source-positions.ts";

const SCHEMA = {
  type: "object",
  properties: {
    label: { type: "string" },
    maybe: { type: ["string", "null"] },
    count: { type: "integer", minimum: 1, maximum: 9, default: 3, description: "How many." },
    ratio: { type: "number", exclusiveMinimum: 0 },
    on: { type: "boolean" },
    urls: { type: "array", items: { type: "string" } },
    sizes: { type: "array", items: { type: "integer" } },
    where: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
    format: { enum: ["csv", null] },
    crawl: { type: "object", properties: { url: { type: "string" }, deep: { type: "integer" } }, required: ["url"] },
  },
  required: ["label"],
};

describe("--param", () => {
  const cases: [string[], Record<string, unknown>][] = [
    [["label=123", "maybe=null", "count=5"], { label: "123", maybe: null, count: 5 }],
    [["ratio=1", "on=true", "format=null"], { ratio: 1, on: true, format: null }],
    [["urls=a"], { urls: ["a"] }],
    [["urls=1", "urls=b=c"], { urls: ["1", "b=c"] }],
    [['urls=["a","b"]'], { urls: ["a", "b"] }],
    [["sizes=1", "sizes=2"], { sizes: [1, 2] }],
    [["where=a"], { where: "a" }],
    [["where=a", "where=b"], { where: ["a", "b"] }],
    [["crawl.url=http://a.test/?x=1", "crawl.deep=2"], { crawl: { url: "http://a.test/?x=1", deep: 2 } }],
    [["count=many"], { count: "many" }],
    [["other=7", "another=word", 'third={"a":1}'], { other: 7, another: "word", third: { a: 1 } }],
    [["label="], { label: "" }],
  ];
  for (const [words, expected] of cases)
    test(`${words.join(" ")} is ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(withParams({}, words, SCHEMA), expected);
    });

  test("is added to what a file says, without changing it", () => {
    const before = { label: "a", crawl: { url: "u", deep: 1 } };
    assert.deepEqual(withParams(before, ["crawl.deep=4"], SCHEMA), { label: "a", crawl: { url: "u", deep: 4 } });
    assert.equal(before.crawl.deep, 1);
  });

  for (const word of ["label", "=x", "a..b=1", "__proto__.x=1", "label.x=1"])
    test(`${word} is refused by its name`, () => {
      assert.throws(() => withParams({ label: "a" }, [word], SCHEMA), { code: "input_invalid" });
    });

  test("given twice, what is no list is refused", () => {
    assert.throws(() => withParams({}, ["count=1", "count=2"], SCHEMA), /count=2: is set twice but is not a list/);
  });
});

test("params are told in words, those within a param below it", () => {
  assert.deepEqual(
    schemaRows(SCHEMA).map(({ name, type, fallback, about }) => [name, type, fallback, about].join("|")),
    [
      "label|text|required|",
      "maybe|text or null||",
      "count|integer, 1 to 9|3|How many.",
      "ratio|number, above 0||",
      "on|boolean||",
      "urls|list of text||",
      "sizes|list of integer||",
      "where|text or list of text||",
      'format|"csv" or null||',
      "crawl|object||",
      "crawl.url|text|required|",
      "crawl.deep|integer||",
    ],
  );
});

test("the parts of a definition are found in YAML and in JSON, or what is nearest above them [slow]", () => {
  const yaml = `name: x\nsteps:\n  - name: a\n    params:\n      "a b": 1\n      list: [1, 22]\n  - {name: b}\n`;
  const inYaml = sourcePositions(yaml);
  const at = (line: number, column: number) => ({ line, column });
  assert.deepEqual(inYaml("name"), at(1, 7));
  assert.deepEqual(inYaml("steps[0].params"), at(4, 5));
  assert.deepEqual(inYaml('steps[0].params["a b"]'), at(5, 14));
  assert.deepEqual(inYaml("steps[0].params.list[1]"), at(6, 17));
  assert.deepEqual(inYaml("steps[1].task_type"), at(7, 5), "the step that lacks it");
  assert.equal(inYaml("nowhere"), null);
  assert.deepEqual(sourcePositions('{\n\t"steps": [\n\t\t{"name": 5}]}')("steps[0].name"), at(3, 12));
  assert.equal(sourcePositions("[".repeat(100_000))("steps"), null);
});

test("a screen is believed to know more than ASCII unless the locale says otherwise", () => {
  assert.deepEqual(
    [{}, { LANG: "C" }, { LANG: "C.UTF-8" }, { LANG: "en_GB.utf8", LC_ALL: "POSIX" }, { TERM: "linux" }].map(
      isAsciiOnly,
    ),
    [false, true, false, true, true],
  );
});

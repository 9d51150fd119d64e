import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { KNOWN_NAMES } from "../../src/extract/known/registry.ts";
import { compilePlan, parsePlan, type PlanSpec } from "../../src/extract/plan.ts";
import { read } from "../support/source.ts";

const MISTAKES: readonly [spec: PlanSpec, path: string, message: RegExp][] = [
  [{ fields: "title" }, "fields", /list of names, or an object/],
  [{ fields: ["titel"] }, "fields[0]", /did you mean "title"/],
  [{ fields: ["title", "title"] }, "fields[1]", /twice/],
  [{ fields: [7] }, "fields[0]", /name of a field/],
  [{ fields: { a: 7 } }, "fields.a", /CSS selector or a rule/],
  [{ fields: { a: "div..item[" } }, "fields.a.css", /ends where a name is missing/],
  [{ fields: { a: ".." } }, "fields.a.css", /a name is missing before \.\./],
  [{ fields: { a: {} } }, "fields.a", /needs one of css, xpath, jsonpath/],
  [{ fields: { a: { css: "li[" } } }, "fields.a.css", /./],
  [{ fields: { a: { css: "" } } }, "fields.a.css", /empty/],
  [{ fields: { a: { css: "li:bogus" } } }, "fields.a.css", /bogus/],
  [{ fields: { a: { css: 7 } } }, "fields.a.css", /expected a string/],
  [{ fields: { a: { xpath: "//a[" } } }, "fields.a.xpath", /^invalid XPath \/\/a\[: it ends too early$/],
  [{ fields: { a: { xpath: "//a['x' ]]" } } }, "fields.a.xpath", /: unexpected "\]" at character 10$/],
  [{ fields: { a: { xpath: "//li/[1]" } } }, "fields.a.xpath", /^invalid XPath .*: unexpected "\[" at character 6$/],
  [{ fields: { a: { xpath: "//a[@b='c]" } } }, "fields.a.xpath", /: unterminated string literal: 'c\]$/],
  [{ fields: { a: { xpath: "//a{1}" } } }, "fields.a.xpath", /: unexpected character {$/],
  [{ fields: { a: { xpath: "//a[contain(.,'x')]" } } }, "fields.a.xpath", /did you mean "contains\(\)"/],
  [{ fields: { a: { xpath: "//a[@b=$c]" } } }, "fields.a.xpath", /variables/],
  [{ fields: { a: { jsonpath: "a.b" } } }, "fields.a.jsonpath", /\$/],
  [{ fields: { a: { jsonpath: "$[?(@.a.constructor('x')())]" } } }, "fields.a.jsonpath", /./],
  [{ fields: { a: { jsonpath: "$.a", from: "jsonld" } } }, "fields.a.from", /did you mean "json-ld"/],
  [{ fields: { a: { css: "a", from: "body" } } }, "fields.a.from", /cannot be combined with css/],
  [{ fields: { a: { css: "a", regex: "(" } } }, "fields.a.regex", /./],
  [{ fields: { a: { css: "a", regex: "(?=x)" } } }, "fields.a.regex", /lookaround/],
  [{ fields: { a: { css: "a", regex: "(a)\\1" } } }, "fields.a.regex", /back-references/],
  [{ fields: { a: { css: "a", type: "nummer" } } }, "fields.a.type", /did you mean "number"/],
  [{ fields: { a: { css: "a", typ: "number" } } }, "fields.a.typ", /did you mean "type"/],
  [{ fields: { a: { css: "a", all: "yes" } } }, "fields.a.all", /true or false/],
  [{ fields: { a: { css: "a", xpath: "b" } } }, "fields.a", /both css and xpath/],
  [
    { fields: { a: { css: "a", required: true, default: 1 } } },
    "fields.a.default",
    /required and default cannot be combined/,
  ],
  [{ fields: JSON.parse('{"__proto__": "a"}') as unknown }, "fields.__proto__", /not a valid field name/],
  [{ fields: { a: "b" }, items: { css: "li[" } }, "items.css", /./],
  [{ fields: { a: "b" }, items: {} }, "items", /needs one of/],
  [{ items: { css: "li" } }, "items", /needs fields/],
  [{ fields: ["title"], items: { css: "li" } }, "fields", /whole page/],
  [{ schema: 7 }, "schema", /JSON Schema/],
  [{ schema: { type: "objekt" } }, "schema", /type/],
  [
    { schema: { properties: { a: { $ref: "https://evil.example/s.json" } } } },
    "schema.properties.a.$ref",
    /into this schema/,
  ],
  [{ schema: { $ref: "#/$defs/none" } }, "schema", /none/],
  [{ schema: { pattern: "(?=x)" } }, "schema", /lookaround/],
];

for (const [spec, path, message] of MISTAKES) {
  test(`${JSON.stringify(spec).slice(0, 100)} is refused at ${path}`, () => {
    const { errors } = parsePlan(spec);
    const found = errors?.find((error) => error.path === path);
    assert.ok(found !== undefined, JSON.stringify(errors));
    assert.match(found.message, message);
  });
}

test("every mistake is reported at once", () => {
  const { errors } = parsePlan({ fields: { a: { css: "li[" }, b: { regex: "(" } }, items: {}, schema: { type: 1 } });
  assert.deepEqual(
    errors?.map((error) => error.path),
    ["fields.a.css", "fields.b.regex", "items", "schema"],
  );
});

test("compilePlan throws what the API answers", () => {
  assert.throws(
    () => compilePlan({ fields: { price: { css: "li[" } } }),
    (error) => isOrbError(error, "input_invalid") && error.fields[0]?.path === "fields.price.css",
  );
});

test("whatever a user sends as fields, items or schema is accepted or refused, never a crash", () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 3 }),
      fc.jsonValue({ maxDepth: 2 }),
      fc.jsonValue({ maxDepth: 3 }),
      (fields, items, schema) => {
        const { ok, errors } = parsePlan({ fields, items, schema });
        assert.ok(ok !== undefined || errors.length > 0);
      },
    ),
  );
});

test("whatever a user writes as selector, path or pattern is accepted or refused, never a crash", () => {
  const text = fc.string({ unit: fc.constantFrom(..."abc*.[]()'\"/@:|,$?=<>+~^\\{}1 -#!&"), maxLength: 15 });
  fc.assert(
    fc.property(text, (given) => {
      for (const way of ["css", "xpath", "jsonpath", "regex"]) parsePlan({ fields: { a: { [way]: given } } });
    }),
    { numRuns: 300 },
  );
});

test("the documentation names every well-known field", () => {
  const page = read("docs/extraction.md");
  for (const name of KNOWN_NAMES) assert.ok(page.includes(`| \`${name}\` |`), name);
});

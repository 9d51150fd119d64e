import assert from "node:assert/strict";
import { test } from "node:test";
import { addField, describeField, type FieldRule, itemsRule } from "../../src/cli/fields.ts";
import { parsePlan } from "../../src/extract/plan.ts";

const cases: readonly (readonly [string, string, FieldRule])[] = [
  ["title=h1", "title", { css: "h1" }],
  ["link=a.next@href", "link", { css: "a.next", attr: "href" }],
  ["self=@data-id", "self", { css: ":scope", attr: "data-id" }],
  ["price:number=.price", "price", { css: ".price", type: "number" }],
  ["tags[]=.tag", "tags", { css: ".tag", all: true }],
  ["years[]:integer=time", "years", { css: "time", type: "integer", all: true }],
  ["mail=a[href='mailto:a@b.c']", "mail", { css: "a[href='mailto:a@b.c']" }],
  ["first=li:first-child", "first", { css: "li:first-child" }],
  ["odd=a[data-x=1]", "odd", { css: "a[data-x=1]" }],
  ["heading=xpath://h1/text()", "heading", { xpath: "//h1/text()" }],
  ["name=jsonpath:$.a.b", "name", { jsonpath: "$.a.b" }],
  ["sku=json-ld:$.sku", "sku", { jsonpath: "$.sku", from: "json-ld" }],
  ["id=regex:item-(\\d+)", "id", { regex: "item-(\\d+)" }],
  ["t=known:title", "t", { known: "title" }],
];

test("a field on the command line is the rule that docs/extraction.md describes, and is shown in the same words", () => {
  for (const [text, name, rule] of cases) {
    assert.deepEqual(addField(text), { [name]: rule }, text);
    const { errors } = parsePlan({ fields: { [name]: rule } });
    assert.equal(errors, undefined, `${text}: ${JSON.stringify(errors)}`);
    assert.deepEqual(addField(describeField(name, rule)), { [name]: rule }, `${text} is shown as it could be typed`);
  }
});

test("several fields are gathered; a second one of the same name is a mistake", () => {
  assert.deepEqual(addField("b=h2", addField("a=h1")), { a: { css: "h1" }, b: { css: "h2" } });
  assert.throws(() => addField("a=h2", addField("a=h1")), /set twice/);
  for (const text of ["h1", "=h1", "a=", "", "a b]=x", "__proto__=h1"]) assert.throws(() => addField(text), text);
});

test("items take the same words", () => {
  assert.deepEqual(itemsRule("article.p"), { css: "article.p" });
  assert.deepEqual(itemsRule("jsonpath:$.data[*]"), { jsonpath: "$.data[*]" });
});

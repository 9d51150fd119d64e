import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../web/src/logic/selector.ts";
import {
  type ExampleField,
  exampleProblems,
  formWithRules,
  learnOrder,
  withClick,
  withTyped,
} from "../../web/src/pages/new/logic/examples.ts";
import { NO_ITEMS, rulesFromFields, rulesToFields } from "../../web/src/pages/new/logic/rules.ts";

function node(tag: string, classes: string[] = [], attributes: Record<string, string> = {}): Node {
  return { tag, id: "", classes, attributes, nth: 1, ofType: 1, only: false, alike: 1 };
}

const click = (text: string, target: Node, position: number) => ({
  chain: [target, node("main"), node("body")],
  text,
  position,
});
const price = node("p", ["price"]);

function clicked(
  fields: readonly ExampleField[],
  picked: ReturnType<typeof click>,
  where: { page: number; isList?: boolean; armed?: number },
): ExampleField[] {
  const { page, isList = false, armed } = where;
  const result = withClick(fields, picked, {
    page,
    isList,
    armed: armed === undefined ? null : { key: armed, once: false },
  });
  if (typeof result === "string") return assert.fail(result);
  return result.fields;
}

function typed(field: ExampleField, text: string, places: { first: number; last: number }[]): ExampleField {
  const next = withTyped(field, { page: 1, text, places, isList: true });
  return typeof next === "string" ? assert.fail(next) : next;
}

const texts = (field: ExampleField | undefined) => field?.values.map(({ text }) => text);

test("clicks on two pages fill the same fields, and on one page each starts a field", () => {
  let fields = clicked([], click("Blue lamp", node("h1"), 3), { page: 1 });
  fields = clicked(fields, click("€ 12", price, 5), { page: 1 });
  fields = clicked(fields, click("€ 15", price, 6), { page: 1 });
  assert.deepEqual(
    fields.map(({ name }) => name),
    ["title", "price", "price_2"],
  );
  fields = clicked(fields, click("Desk", node("h1"), 3), { page: 2 });
  fields = clicked(fields, click("€ 90", price, 5), { page: 2 });
  fields = clicked(fields, click("€ 99", price, 6), { page: 2 });
  assert.deepEqual(fields.map(texts), [
    ["Blue lamp", "Desk"],
    ["€ 12", "€ 90"],
    ["€ 15", "€ 99"],
  ]);
});

test("values of a list are sent in the order of the page, whatever was clicked first", () => {
  let fields = clicked([], click("€ 2", price, 20), { page: 1, isList: true });
  fields = clicked(fields, click("€ 1", price, 10), { page: 1, isList: true });
  fields = clicked(fields, click("€ 1", price, 10), { page: 1, isList: true });
  fields = [typed(fields[0]!, "€ 3", [{ first: 30, last: 31 }])];
  const pages = [{ key: 1, url: "https://a.example/", html: "<p>", isJson: false }];
  assert.deepEqual(learnOrder(pages, fields, true), {
    records: "list",
    pages: [{ url: "https://a.example/", html: "<p>", examples: { price: ["€ 1", "€ 2", "€ 3"] } }],
  });
  const armed = clicked(fields, click("€ 4", node("b"), 40), { page: 1, armed: 1 });
  assert.deepEqual(texts(armed[0]), ["€ 1", "€ 2", "€ 3", "€ 4"]);
});

test("a typed value stands where the page shows it, once; records of a list may have the same", () => {
  const places = [
    { first: 5, last: 6 },
    { first: 15, last: 15 },
  ];
  let field = clicked([], click("€ 2", price, 10), { page: 1, isList: true })[0]!;
  field = typed(field, "€ 9", places);
  field = typed(field, "€ 9", places);
  assert.deepEqual(texts(field), ["€ 9", "€ 2", "€ 9"]);
  assert.match(String(withTyped(field, { page: 1, text: "€ 9", places, isList: true })), /shows this value 2 times/);
  assert.deepEqual(texts(typed(field, "not shown", [])), ["€ 9", "€ 2", "€ 9", "not shown"]);
  const same = clicked([field], click("€ 9", price, 6), { page: 1, isList: true });
  assert.deepEqual(texts(same[0]), texts(field), "a click on the typed value");

  const one = clicked([], click("€ 9", price, 6), { page: 1 })[0]!;
  for (const isList of [true, false])
    assert.equal(typeof withTyped(one, { page: 1, text: "€ 9", places: [places[0]!], isList }), "string");
});

test("a second click on the same element adds nothing", () => {
  const once = clicked([], click("€ 12", price, 5), { page: 1 });
  assert.deepEqual(clicked(once, click("€ 12", price, 5), { page: 1 }), once);
  assert.equal(
    clicked(once, click("€ 12", price, 5), { page: 2 })[0]!.values.length,
    2,
    "of another page it is another",
  );
});

test("a list needs equally many values of each field on a page, two or more", () => {
  const field = (key: number, name: string, ...pages: number[]): ExampleField => {
    const values = pages.map((page, n) => ({ page, text: `${n}`, position: n }));
    return { key, name, look: "", values };
  };
  const problems = (...fields: ExampleField[]) => [...exampleProblems(fields, { isList: true }).keys()];
  assert.deepEqual(problems(field(1, "a", 1, 1), field(2, "b", 1, 1)), []);
  assert.deepEqual(problems(field(1, "a", 1, 1), field(2, "b", 1)), [2]);
  assert.deepEqual(problems(field(1, "a", 1), field(2, "b", 1)), [1, 2]);
  assert.deepEqual(problems(field(1, "a", 1, 1, 2, 2), field(2, "b", 1, 1)), [2]);
  assert.deepEqual([...exampleProblems([field(1, "a", 1), field(2, "b", 1, 1)]).keys()], [], "one record");
});

test("a picture's address is its value, and an element without text has none", () => {
  const picture = node("img", ["photo"], { src: "/lamp.png" });
  assert.deepEqual(texts(clicked([], click("", picture, 1), { page: 1 })[0]), ["/lamp.png"]);
  assert.match(String(withClick([], click("", node("div"), 1), { page: 1, armed: null, isList: false })), /no text/);
  const long = click("x".repeat(10_001), node("div"), 1);
  assert.match(String(withClick([], long, { page: 1, armed: null, isList: false })), /too much text/);
});

test("a field without a name, with another's name or without a value is reported", () => {
  const values = [{ page: 1, text: "x", position: 1 }];
  const field = (key: number, name: string, more: ExampleField["values"] = values) => ({
    key,
    name,
    look: "",
    values: more,
  });
  const problems = exampleProblems([field(1, "a"), field(2, " "), field(3, "a"), field(4, "b", [])]);
  assert.deepEqual([...problems.keys()], [2, 3, 4]);
});

test("the form keeps its other fields, unless the learned rules read other records", () => {
  const form = { rules: rulesFromFields({ title: "h1", price: ".old" }), items: NO_ITEMS };
  const lesson = (items: Record<string, unknown> | null) => ({
    items,
    alternatives: {
      price: [
        { rule: { css: ".price" }, score: 0.8, values: [] },
        { rule: { xpath: "//p" }, score: 0.3, values: [] },
      ],
      none: [],
    },
  });
  const same = formWithRules(form, lesson(null), { price: 1 });
  assert.deepEqual(rulesToFields(same.rules), { title: { css: "h1" }, price: { xpath: "//p" } });
  assert.deepEqual(same.dropped, []);
  const list = formWithRules(form, lesson({ css: "li" }), {});
  assert.deepEqual(rulesToFields(list.rules), { price: { css: ".price" } });
  assert.deepEqual([list.items.text, list.dropped], ["li", ["title"]]);
});

/** Whole lessons: pages with wanted values in, a job's rules out. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ExamplePage, learnRules as learn } from "../../src/extract/learn/lesson.ts";

const learnRules = (pages: ExamplePage[], examples: Examples = {}) => learn({ pages, examples });

type Examples = ExamplePage["examples"];

const html = (body: string, examples: Examples): ExamplePage => ({
  input: { body: `<!doctype html><title>Shop</title><body>${body}</body>`, contentType: "text/html", url: null },
  examples,
});

const card = (name: string, price: string) =>
  `<li class="card"><a href="/${name}"><h3>${name}</h3></a><p class="cost">${price}</p></li>`;
const shop = (cards: string) => `<nav><a href="/">Home</a></nav><div class="hits"><ul>${cards}</ul></div>`;

describe("what is learned from examples", () => {
  test("two records of a page are enough for all of them", () => {
    const cards = [card("Lamp", "$12"), card("Chair", "$90"), card("Desk", "$140"), card("Rug", "$55")].join("");
    const { items, fields, records, problems } = learnRules([
      html(shop(cards), { name: ["Lamp", "Chair"], price: ["$12", "$90"] }),
    ]);
    assert.deepEqual(problems, []);
    assert.deepEqual(items, { css: "li.card" });
    assert.deepEqual(fields, { name: { css: "h3" }, price: { css: "p.cost" } });
    assert.deepEqual(records[0]!.at(-1), { name: "Rug", price: "$55" });
    assert.equal(records[0]!.length, 4);
  });

  test("a long list shows its first records, and says how many there are", () => {
    const cards = Array.from({ length: 60 }, (_, n) => card(`Lamp ${n}`, `$${n}`)).join("");
    const examples = { name: ["Lamp 1", "Lamp 2"], price: ["$1", "$2"] };
    const { records, record_counts: counts } = learnRules([html(shop(cards), examples)]);
    assert.deepEqual([records[0]!.length, counts], [20, [60]]);
  });

  test("records in rows of several, with equal values in different records", () => {
    const row = (...cards: string[]) => `<div class="row">${cards.join("")}</div>`;
    const item = (name: string, price: string) => `<div class="col"><b>${name}</b> <i>${price}</i></div>`;
    const page = row(item("A1", "$5"), item("B2", "$5")) + row(item("C3", "$5"), item("D4", "$7"));
    const { records } = learnRules([html(page, { name: ["A1", "B2", "C3"], price: ["$5", "$5", "$5"] })]);
    assert.deepEqual(records[0], [
      { name: "A1", price: "$5" },
      { name: "B2", price: "$5" },
      { name: "C3", price: "$5" },
      { name: "D4", price: "$7" },
    ]);
  });

  test("some values of a list give the whole list, and nothing beside it", () => {
    const tags = ["red", "green", "blue", "grey"].map((tag) => `<a class="tag" href="/${tag}">${tag}</a>`).join("");
    const { fields, records } = learnRules([html(`<a href="/">Home</a><p>${tags}</p>`, { tags: ["red", "green"] })]);
    assert.deepEqual(fields, { tags: { css: "a.tag", all: true } });
    assert.deepEqual(records, [[{ tags: ["red", "green", "blue", "grey"] }]]);
  });

  test("an answer of an API: its array is the list of records", () => {
    const body = JSON.stringify({
      total: 3,
      products: [
        { id: 7, name: "Lamp", price: { amount: 12.5 } },
        { id: 8, name: "Chair", price: { amount: 90 } },
        { id: 9, name: "Desk", price: { amount: 7 } },
      ],
    });
    const input = { body, contentType: "application/json", url: null };
    const { items, fields, records } = learnRules([
      { input, examples: { name: ["Lamp", "Chair"], price: ["12.5", "90"] } },
    ]);
    assert.deepEqual(items, { jsonpath: "$.products[*]" });
    assert.deepEqual(fields, { name: { jsonpath: "$.name" }, price: { jsonpath: "$.price.amount" } });
    assert.deepEqual(records[0]!.at(-1), { name: "Desk", price: 7 });
  });

  test("a value that stands only in JSON-LD is taken from there, whatever stands before it", () => {
    const page = (name: string, sku: string, ...before: object[]) => {
      const graph = [...before, { "@type": "Product", name, sku }];
      return `<h1>${name}</h1><script type="application/ld+json">${JSON.stringify({ "@graph": graph })}</script>`;
    };
    const { fields, records } = learnRules([
      html(page("Lamp", "L-1", { "@type": "WebSite", name: "Shop" }), { sku: ["L-1"] }),
      html(page("Desk", "D-9"), { sku: ["D-9"] }),
    ]);
    assert.deepEqual(records, [[{ sku: "L-1" }], [{ sku: "D-9" }]]);
    assert.deepEqual(fields, { sku: { jsonpath: "$.sku", from: "json-ld" } });
  });

  test("alternatives say what they give on every page, the surest first", () => {
    const page = (price: string) => `<div id="buy"><span class="price">${price}</span></div>`;
    const { alternatives } = learnRules([html(page("$1"), { price: ["$1"] }), html(page("$2"), { price: ["$2"] })]);
    const scores = alternatives["price"]!.map(({ score }) => score);
    assert.ok(scores.length > 1 && scores.every((score) => score > 0 && score <= 1));
    assert.deepEqual(
      scores,
      [...scores].sort((a, b) => b - a),
    );
    for (const { values } of alternatives["price"]!) assert.deepEqual(values, ["$1", "$2"]);
  });

  test("values that stand on one of several pages are found there, and a rule that fits the others is preferred", () => {
    const page = (name: string, extra = "") =>
      html(`<div class="top">${extra}<h1 class="name" id="n${name.length}">${name}</h1></div>`, {});
    const { fields, records, problems } = learnRules([page("Lamp"), page("Office chair"), page("Desk", "<p>New</p>")], {
      name: ["Office chair", "Lamp"],
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(fields, { name: { css: "h1.name" } });
    assert.deepEqual(records, [[{ name: "Lamp" }], [{ name: "Office chair" }], [{ name: "Desk" }]]);
  });

  test("a value that the page does not show is named, with the page", () => {
    const { fields, problems } = learnRules([html("<h1>Lamp</h1>", { name: ["Lamp"], price: ["$99"] })]);
    assert.deepEqual(fields, { name: { css: "h1" } });
    assert.equal(problems.length, 1);
    assert.deepEqual([problems[0]!.field, problems[0]!.page], ["price", 0]);
    assert.match(problems[0]!.message, /does not contain "\$99"/);
  });

  test("examples that have nothing in common give no rule, and that is said", () => {
    const { fields, problems } = learnRules([
      html('<h1>Lamp</h1><p class="a">one</p>', { x: ["Lamp"] }),
      html('<h1>Desk</h1><footer><i class="b">two</i></footer>', { x: ["two"] }),
    ]);
    assert.deepEqual([fields, problems.length], [{}, 1]);
    assert.match(problems[0]!.message, /no rule finds all examples/);
  });
});

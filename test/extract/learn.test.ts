/** Rules that are learned from examples, on pages as shops, catalogues and directories write them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LabelledPage } from "../../src/extract/learn/labelled-page.ts";
import { learnField } from "../../src/extract/learn/learn.ts";
import { learnRules } from "../../src/extract/learn/lesson.ts";
import { parsePage } from "../../src/extract/page.ts";
import { compileRule, Problems } from "../../src/extract/rules/compile.ts";
import { evaluate } from "../../src/extract/rules/evaluate.ts";

const factsOf = (body: string) =>
  parsePage({ body: `<!doctype html><body>${body}</body>`, contentType: "text/html", url: null }).facts;

interface Lesson {
  pages: readonly [html: string, values: readonly string[]][];
  /** What the best rule gives on a page that was no example. */
  other: string;
}

function learn({ pages, other }: Lesson) {
  const labelled = pages.map(([html, values]) => new LabelledPage(factsOf(html), { field: values }));
  const [best] = learnField("field", labelled);
  assert.ok(best !== undefined, "nothing was learned");
  const compiled = compileRule("field", best.rule, "field", new Problems());
  assert.ok(compiled !== null, JSON.stringify(best.rule));
  const facts = factsOf(other);
  return { rule: best.rule, value: evaluate(compiled, { facts, element: facts.document.root }).value };
}

describe("a rule learned from examples", () => {
  test("takes a class that names the value, not its position", () => {
    const page = (name: string, price: string, more = "") =>
      `<div class="row">${more}<h2>${name}</h2><span class="price">${price}</span></div>`;
    const { rule, value } = learn({
      pages: [
        [page("Lamp", "12 €"), ["12 €"]],
        [page("Chair", "90 €", "<span>New</span>"), ["90 €"]],
      ],
      other: page("Table", "140 €", "<span>Last</span><span>Sale</span>"),
    });
    assert.deepEqual([rule, value], [{ css: "span.price" }, "140 €"]);
  });

  test("takes the label beside the value where rows come and go", () => {
    const page = (rows: Record<string, string>) =>
      `<table>${Object.entries(rows)
        .map(([name, text]) => `<tr><td>${name}:</td><td>${text}</td></tr>`)
        .join("")}</table>`;
    const { value } = learn({
      pages: [
        [page({ Author: "Ada Lund", Publisher: "North", Year: "2001" }), ["North"]],
        [page({ Author: "Leo Falk", Series: "Two", Publisher: "South", Year: "1999" }), ["South"]],
      ],
      other: page({ Publisher: "West", Year: "2010", Pages: "200" }),
    });
    assert.equal(value, "West");
  });

  test("takes a text label, and a text after a label", () => {
    const page = (isbn: string, year: string) =>
      `<div>ISBN: <strong>${isbn}</strong><br><b>Year:</b> ${year}<br></div>`;
    const pages = [
      ["978-1", "2001"],
      ["978-2", "2002"],
    ] as const;
    const isbn = learn({
      pages: pages.map(([a, b]) => [page(a, b), [a]]),
      other: `<div>Title: <strong>T</strong> ${page("978-3", "2003")}</div>`,
    });
    assert.equal(isbn.value, "978-3");
    const year = learn({ pages: pages.map(([a, b]) => [page(a, b), [b]]), other: page("978-3", "2003") });
    assert.equal(year.value, "2003");
  });

  test("gives nothing where an example says that there is nothing", () => {
    const page = (text: string) => `<p class="note">${text}</p><p>Footer</p>`;
    const { value } = learn({
      pages: [
        [page("Sold by Ada"), ["Sold by Ada"]],
        ["<p>Footer</p>", []],
      ],
      other: "<p>Another footer</p>",
    });
    assert.equal(value, null);
  });

  test("takes a part of a text by what stands around it", () => {
    const page = (name: string) => `<h1>${name} Review | Guide</h1>`;
    const { value } = learn({
      pages: [
        [page("Blue Inn"), ["Blue Inn"]],
        [page("The Old Mill"), ["The Old Mill"]],
      ],
      other: page("Harbour House"),
    });
    assert.equal(value, "Harbour House");
  });

  test("takes all values of a list, in their order", () => {
    const page = (names: string[]) =>
      `<ul class="tags">${names.map((name) => `<li>${name}</li>`).join("")}</ul><ul><li>Home</li></ul>`;
    const { rule, value } = learn({
      pages: [
        [page(["red", "green"]), ["red", "green"]],
        [page(["blue"]), ["blue"]],
      ],
      other: page(["black", "white", "grey"]),
    });
    assert.deepEqual([value, rule["all"]], [["black", "white", "grey"], true]);
  });

  test("does not rest on names that a build tool made", () => {
    const page = (created: string, text: string) =>
      `<main><div class="css-${created} product-title">${text}</div></main>`;
    const { rule } = learn({
      pages: [
        [page("1a2b3c", "Lamp"), ["Lamp"]],
        [page("1a2b3c", "Chair"), ["Chair"]],
      ],
      other: page("9z8y7x", "Table"),
    });
    assert.deepEqual(rule, { css: "div.product-title" });
  });

  test("is none where the examples have nothing in common", () => {
    const pages = [
      new LabelledPage(factsOf("<p>one</p>"), { field: ["one"] }),
      new LabelledPage(factsOf("<p>two</p>"), { field: ["three"] }),
    ];
    assert.deepEqual(learnField("field", pages), []);
  });
});

describe("what each page has", () => {
  const item = (name: string, price: string) => `<li><b>${name}</b><i>${price}</i></li>`;
  const body = `<!doctype html><body><ul>${item("Lamp", "12 €")}${item("Chair", "90 €")}${item("Desk", "140 €")}</ul></body>`;
  const input = { body, contentType: "text/html", url: null };
  const learned = (examples: Record<string, string[]>, records?: "one" | "list") =>
    learnRules({ pages: [{ input, examples }], examples: {}, ...(records === undefined ? {} : { records }) });
  const both = { name: ["Lamp", "Chair"], price: ["12 €", "90 €"] };

  test("is decided by the examples, unless it is said", () => {
    assert.deepEqual([learned(both).items === null, learned(both).record_counts], [false, [3]]);
    const one = learned(both, "one");
    assert.deepEqual([one.items, one.record_counts], [null, [1]]);
    assert.deepEqual(one.records[0]?.[0]?.["name"], ["Lamp", "Chair", "Desk"]);
    const { name } = both;
    assert.equal(learned({ name }).items, null);
    const list = learned({ name }, "list");
    assert.deepEqual([list.items === null, list.record_counts], [false, [3]], JSON.stringify(list));
  });

  test("gives no rules for one record where a list is wanted", () => {
    const { fields, problems, record_counts: counts } = learned({ name: ["Lamp", "Chair"], price: ["12 €"] }, "list");
    assert.deepEqual([fields, counts], [{}, [0]]);
    assert.match(problems.find(({ field }) => field === "price")?.message ?? "", /equally many values/);
  });
});

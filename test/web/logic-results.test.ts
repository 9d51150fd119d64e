import assert from "node:assert/strict";
import { test } from "node:test";
import { documentIn, documentLine, documentParts, fileStem } from "../../web/src/pages/runs/logic/whole-page.ts";
import { lineOf, safeHref, shapeOf } from "../../web/src/logic/nested.ts";
import { cellText, resultColumns, type ResultRow, valueAt } from "../../web/src/pages/runs/logic/result-table.ts";

test("records of any shape become a table", () => {
  const rows: ResultRow[] = [
    {
      id: "1",
      url: "u",
      created_at: "",
      data: { url: "u", title: "A", markdown: "…", fields: { price: 3, "a.b": 1 } },
    },
    { id: "2", url: "u", created_at: "", data: { title: null, tags: ["x", "y"], constructor: "odd" } },
  ];
  const columns = resultColumns(rows);
  assert.deepEqual(
    columns.map(({ id, hidden }) => `${id}${hidden ? " hidden" : ""}`),
    ["fields.price", "fields.a.b", "title", "markdown hidden", "tags", "constructor"],
  );
  const twice = [{ id: "1", url: "u", created_at: "", data: { title: "A", fields: { title: "B", url: "c" } } }];
  assert.deepEqual(
    resultColumns(twice).map(({ name }) => name),
    ["title", "url (field)", "title (of the page)"],
    "columns can be told apart",
  );
  assert.deepEqual(
    columns.filter(({ isNumber }) => isNumber).map(({ name }) => name),
    ["price", "a.b"],
  );
  assert.deepEqual(
    ["fields.price", "fields.a.b", "title", "toString", "fields"].map((id) =>
      cellText(valueAt(rows[0]?.data ?? {}, id)),
    ),
    ["3", "1", "A", null, "price: 3, a.b: 1"],
  );
  assert.equal(cellText(["x", "y"]), "x, y");
  assert.equal(cellText("  two\n lines "), "two lines");
  assert.equal(cellText({ a: [1, 2], b: null }), "a: 1, 2, b: –");
  assert.equal(cellText([{ name: "Tea", price: 4.5 }, { name: "Honey" }]), "name: Tea, price: 4.5; name: Honey");
  assert.deepEqual([cellText([]), cellText({}), cellText(false)], [null, null, "false"]);
  assert.equal(cellText(0), "0");
  assert.equal(cellText(null), null);
  assert.equal(cellText("x".repeat(300))?.length, 201);
  assert.equal(cellText(`${"x".repeat(5000)} no. 7`)?.endsWith("x no. 7"), true);
});

test("values of any depth are shown as what they are", () => {
  assert.deepEqual(shapeOf(null), { kind: "none" });
  assert.deepEqual(shapeOf(0), { kind: "text", text: "0" });
  assert.deepEqual(shapeOf("https://a.example/x?y=1"), { kind: "link", href: "https://a.example/x?y=1" });
  assert.deepEqual(shapeOf(["a", "b"]), { kind: "list", values: ["a", "b"] });
  assert.deepEqual(shapeOf({ a: { b: 1 } }), { kind: "pairs", pairs: [["a", { b: 1 }]] });
  const rows = [{ name: "Tea", price: 4 }, { name: "Honey" }];
  assert.deepEqual(shapeOf(rows), { kind: "table", columns: ["name", "price"], rows });
  assert.equal(shapeOf([{ a: 1 }, { a: [1] }]).kind, "list", "what is not flat is no table");
  assert.equal(shapeOf({ a: 1 }, 3).kind, "json", "boxes in boxes in boxes help nobody");
  for (const text of [
    "javascript:alert(1)",
    "https://a.example/ x",
    "see https://a.example/",
    "//a.example",
    "https://",
  ])
    assert.equal(safeHref(text), null, text);
  assert.ok(
    lineOf(
      Array.from({ length: 100_000 }, () => "x".repeat(50)),
      200,
    ).length < 500,
    "no more than is wanted",
  );
});

test("a page as a whole says what it is in a line, and is opened form by form", () => {
  const metadata = {
    title: ["A page", "again"],
    source_url: "http://a.example/",
    url: "https://a.example/b/c.html?d=1",
  };
  const page = {
    markdown: "# Hello\n\nworld",
    links: ["https://b.example/"],
    metadata: { ...metadata, status_code: 200 },
  };
  const whole = {
    ...page,
    html: "<h1>Hello</h1>",
    raw_html: "<html>",
    images: [],
    screenshot: { artifact_id: "p1" },
    actions: {
      screenshots: [{ artifact_id: "p2" }, { artifact_id: null }],
      scrapes: [{ url: "https://a.example/s", html: "<b>" }],
    },
    truncated: ["html", "actions.scrapes"],
  };
  assert.equal(documentIn({ metadata: { title: "a field that is called so" } }), null);
  assert.equal(documentIn("text"), null);
  const line = (document: object) => documentLine(documentIn(document)!);
  assert.deepEqual(line(page), { title: "A page", note: "14 B · Markdown, links" });
  const untitled = { ...page, metadata: { ...page.metadata, title: null } };
  assert.equal(line(untitled).title, "Hello world");
  assert.equal(line({ ...untitled, markdown: "" }).title, "a.example/b/c.html?d=1");
  assert.equal(line(whole).note, "34 B · Markdown, HTML, Raw HTML, links, images, screenshot");
  const parts = documentParts(documentIn(whole)!);
  assert.deepEqual(
    parts.map(({ id, kind, size, isCut }) => `${id} ${kind} ${size}${isCut ? " cut" : ""}`),
    [
      "markdown text 14 B",
      "html html 14 B cut",
      "raw_html html 6 B",
      "links addresses 1 address",
      "images addresses 0 addresses",
      "screenshots pictures 2 pictures",
      "scrape-1 html 3 B cut",
      "metadata facts 4 entries",
    ],
  );
  assert.deepEqual(
    parts.flatMap((part) => ("file" in part ? part.file : part.artifacts)),
    ["a.example-b-c.md", "a.example-b-c.html", "a.example-b-c.raw.html", "a.example-b-c.links.txt"].concat([
      "a.example-b-c.images.txt",
      "p1",
      "p2",
      "a.example-b-c.scrape-1.html",
      "a.example-b-c.metadata.json",
    ]),
  );
  assert.deepEqual([fileStem("https://a.example/../x y/"), fileStem("")], ["a.example-..-x-y", "page"]);
  const rows = [page, null].map((document, n) => ({ id: String(n), url: "", created_at: "", data: { document } }));
  assert.deepEqual(resultColumns(rows), [
    { id: "document", name: "document", hidden: false, isNumber: false, isDocument: true },
  ]);
});

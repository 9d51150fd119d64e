import assert from "node:assert/strict";
import { test } from "node:test";
import { type Extraction, extractPage } from "../../src/extract/page.ts";
import { compilePlan, type PlanSpec } from "../../src/extract/plan.ts";

const SHOP = `<!doctype html><html lang="en"><head><title> Books
  to  buy </title><base href="/shop/"></head><body>
<article class="product" data-id="7"><h3><a href="a.html" rel="tag">First &amp; best</a></h3><p class="star-rating Three"></p><p class="price_color">£51.77</p><time datetime="2024-05-01T10:00:00+02:00">yesterday</time><input type=checkbox checked></article>
<article class="product" data-id="8"><h3><a href="b.html" rel="tag">Second</a></h3><p class="star-rating One"></p><p class="price_color">Sold out</p></article>
<div id="about"><h2>About</h2><p>We <b>sell</b> books.<script>alert(1)</script></p></div>
<script type="application/ld+json">[{"@type":"WebSite","name":"Shop"},{"@type":"Product","offers":{"sku":"S-1"}}]</script>
<script id="__NEXT_DATA__" type="application/json">{"props":{"total":2,"list":[{"n":1},{"n":2}]}}</script>
<script id="state" type="application/json">{"user":null,"flag":true}</script><script>var sku = "X99";</script></body></html>`;

function read(spec: PlanSpec, body: string = SHOP, contentType = "text/html"): Extraction {
  return extractPage({ body, contentType, url: "https://site.example/page" }, compilePlan(spec));
}

function field(rule: unknown, body?: string, contentType?: string): unknown {
  return read({ fields: { it: rule } }, body, contentType).records[0]?.["it"];
}

const RULES: readonly [user: string, rule: unknown, value: unknown][] = [
  ["a selector alone gives the text", "h3 a", "First & best"],
  ["a selector in a rule gives the text", { css: "h3" }, "First & best"],
  ["an attribute", { css: "article", attr: "data-id" }, "7"],
  ["a regex takes its first group", { css: "p.star-rating", attr: "class", regex: "star-rating (\\w+)" }, "Three"],
  ["a regex without a group takes the whole match", { css: ".price_color", regex: "[0-9.]+" }, "51.77"],
  ["a regex looks on until a match fits", { css: "article", attr: "data-id", regex: "8" }, "8"],
  ["a regex alone reads the page's text", { regex: "We (\\w+) books" }, "sell"],
  ["a regex alone reads scripts too", { regex: 'sku = "(\\w+)"' }, "X99"],
  ["all gives a list", { css: "h3", all: true }, ["First & best", "Second"]],
  ["all with a regex drops what does not fit", { css: ".price_color", all: true, regex: "£(.+)" }, ["51.77"]],
  ["all without a match is an empty list", { css: ".none", all: true }, []],
  ["an XPath to attributes", { xpath: "//a[@rel='tag']/@href", all: true }, ["a.html", "b.html"]],
  ["an XPath to texts", { xpath: "//a[@rel='tag']/text()", all: true }, ["First & best", "Second"]],
  ["an XPath that counts", { xpath: "count(//article)" }, 2],
  ["an XPath to elements", { xpath: "//article[2]//a" }, "Second"],
  ["JSONPath into JSON-LD, whichever block has it", { jsonpath: "$.offers.sku", from: "json-ld" }, "S-1"],
  ["JSONPath into a page's data", { jsonpath: "$.props.total", from: "next-data" }, 2],
  ["JSONPath with a filter", { jsonpath: "$.props.list[?@.n > 1].n", from: "next-data" }, 2],
  ["JSONPath into a named script", { jsonpath: "$.flag", from: "script#state" }, true],
  ["a number", { css: ".price_color", type: "number" }, 51.77],
  ["a whole number", { css: "article", attr: "data-id", type: "integer" }, 7],
  ["a broken number is not a whole one", { css: ".price_color", type: "integer" }, null],
  ["a flag that is there", { css: "input", attr: "checked", type: "boolean" }, true],
  ["a date, as <time> says it", { css: "time", type: "date" }, "2024-05-01T08:00:00Z"],
  ["a link's address, by its base", { css: "h3 a", type: "url" }, "https://site.example/shop/a.html"],
  ["an element as Markdown", { css: "#about", type: "markdown" }, "## About\n\nWe **sell** books."],
  ["an element as clean HTML", { css: "#about", type: "html" }, "<h2>About</h2><p>We <b>sell</b> books.</p>"],
  ["nothing is null", { css: ".none" }, null],
  ["nothing with a default", { css: ".none", default: "n/a" }, "n/a"],
  ["something else with a default", { css: "h3", type: "number", default: 0 }, 0],
  ["a well-known field among rules", { known: "title" }, "Books to buy"],
];

for (const [user, rule, value] of RULES) {
  test(user, () => assert.deepEqual(field(rule), value));
}

test("items are read one by one, and relative selectors start from each", () => {
  const { records, errors } = read({
    items: { css: "article.product" },
    fields: {
      id: { css: ":scope", attr: "data-id", type: "integer" },
      name: "> h3",
      link: { xpath: ".//a/@href", type: "url" },
      price: { css: ".price_color", type: "number" },
    },
  });
  assert.deepEqual(records, [
    { id: 7, name: "First & best", link: "https://site.example/shop/a.html", price: 51.77 },
    { id: 8, name: "Second", link: "https://site.example/shop/b.html", price: null },
  ]);
  assert.deepEqual(errors, []);
});

test("a required field that is missing or invalid is named, with its rule and what stood there", () => {
  const { errors, warnings } = read({
    items: "article.product",
    fields: {
      price: { css: ".price_color", type: "number", required: true },
      isbn: { css: ".isbn", required: true },
      stars: { css: ".star-rating", attr: "class", type: "number" },
    },
  });
  assert.deepEqual(errors, [
    { record: 0, field: "isbn", rule: 'css ".isbn"', message: "nothing matches", found: null },
    { record: 1, field: "price", rule: 'css ".price_color"', message: "expected a number", found: "Sold out" },
    { record: 1, field: "isbn", rule: 'css ".isbn"', message: "nothing matches", found: null },
  ]);
  assert.deepEqual(
    warnings.map(({ field, found }) => [field, found]),
    [
      ["stars", "star-rating Three"],
      ["stars", "star-rating One"],
    ],
  );
});

test("records that break the schema are errors, with the place in both", () => {
  const { errors } = read({
    fields: { price: { css: ".price_color", type: "number" }, code: "h3" },
    schema: {
      type: "object",
      properties: { price: { $ref: "#/$defs/cheap" }, code: { type: "string", pattern: "^[A-Z]{3}$" } },
      $defs: { cheap: { type: "number", maximum: 20 } },
    },
  });
  assert.deepEqual(errors, [
    { record: 0, field: "price", rule: "schema /$defs/cheap/maximum", message: "must be <= 20", found: "51.77" },
    {
      record: 0,
      field: "code",
      rule: "schema /properties/code/pattern",
      message: 'must match pattern "^[A-Z]{3}$"',
      found: '"First & best"',
    },
  ]);
});

test("a JSON body is read by JSONPath, record by record", () => {
  const json = `)]}'\n{"products":[{"a":1,"b":{"c":[1,2]}},{"a":2}],"next":"/p?2"}`;
  const { kind, records } = read(
    {
      items: { jsonpath: "$.products[*]" },
      fields: {
        a: { jsonpath: "$.a" },
        b: { jsonpath: "$.b" },
        next: { jsonpath: "$.next", from: "body", type: "url" },
      },
    },
    json,
    "application/json",
  );
  assert.equal(kind, "json");
  assert.deepEqual(records, [
    { a: 1, b: { c: [1, 2] }, next: "https://site.example/p?2" },
    { a: 2, b: null, next: "https://site.example/p?2" },
  ]);
});

test("a body that is no JSON gives nulls, not a crash", () => {
  assert.equal(field({ jsonpath: "$.a" }, "{oops", "application/json"), null);
});

test("a feed is read as XML: case, prefixes and CDATA count", () => {
  const feed = `<?xml version="1.0"?><rss xmlns:media="x"><channel><title>News</title><item><title><![CDATA[A & B]]></title><pubDate>Wed, 01 May 2024 10:30:00 GMT</pubDate><media:thumbnail url="/t.jpg"/></item></channel></rss>`;
  const { kind, records, title } = read(
    {
      items: { css: "item" },
      fields: {
        title: "title",
        date: { css: "pubDate", type: "date" },
        image: { xpath: ".//media:thumbnail/@url", type: "url" },
      },
    },
    feed,
    "text/html",
  );
  assert.equal(kind, "xml");
  assert.equal(title, "News");
  assert.deepEqual(records, [{ title: "A & B", date: "2024-05-01T10:30:00Z", image: "https://site.example/t.jpg" }]);
});

test("links are whole, in order, without fragments, and say what they were told about following", () => {
  const { links, meta } = read(
    { fields: null },
    `<base href="https://other.example/d/"><a href="x#part">One</a><a href="#top">no</a><a href="mailto:a@b.example">no</a><a href="javascript:x()">no</a>
     <a href=" //cdn.example/y " rel="noopener NoFollow">Two</a><area href="/z" alt="Map"><a href="/i"><img src=i.png alt="Picture"></a><a>no</a><a href="http://[bad">no</a>`,
  );
  assert.deepEqual(links, [
    { url: "https://other.example/d/x", text: "One", rel: null, nofollow: false },
    { url: "https://cdn.example/y", text: "Two", rel: "noopener NoFollow", nofollow: true },
    { url: "https://other.example/z", text: "Map", rel: null, nofollow: false },
    { url: "https://other.example/i", text: "Picture", rel: null, nofollow: false },
  ]);
  assert.equal(meta.baseUrl, "https://other.example/d/");
});

test("a page that asks not to be followed says so on every link", () => {
  const { links, meta } = read({}, `<meta name="Robots" content="noindex, NOFOLLOW"><a href="/a">A</a>`);
  assert.deepEqual(meta.robots, { noindex: true, nofollow: true });
  assert.equal(links[0]?.nofollow, true);
});

test("links in a template are not on the page; those of a shadow root are", () => {
  const { links } = read(
    {},
    `<template><a href="/no">x</a></template><div><template shadowrootmode="open"><a href="/yes">x</a></template></div>`,
  );
  assert.deepEqual(
    links.map((link) => link.url),
    ["https://site.example/yes"],
  );
});

test("the number of an element is read as it looks: raised digits are cents, exponents or footnotes, crossed-out ones do not count", () => {
  for (const [html, number] of [
    ["$19<sup>99</sup>", 19.99],
    ["10<sup>6</sup>", 1_000_000],
    ["1.5 × 10<sup>−3</sup>", 0.0015],
    ["1,299<sup>2</sup>", 1299],
    ["$19.99<sup>1</sup>", 19.99],
    ["120 m<sup>2</sup>", 120],
    ["<del>$20</del> $15", 15],
    ["<del>$20</del>", 20],
    ["$<span>19</span>\n<span>.</span>\n<span>99</span>", 19.99],
  ] as const)
    assert.equal(field({ css: "p", type: "number" }, `<p>${html}</p>`), number, html);
});

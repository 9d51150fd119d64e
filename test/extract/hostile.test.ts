import assert from "node:assert/strict";
import { test } from "node:test";
import { type Extraction, extractPage } from "../../src/extract/page.ts";
import { compilePlan, type PlanSpec } from "../../src/extract/plan.ts";

const MB = 1024 * 1024;
/** What takes a second here would take hours if it were not bounded: the limit is for busy machines. */
const BOUNDED = { timeout: 270_000 };
const ALL: PlanSpec = {
  article: true,
  fields: {
    css: { css: "div span a", all: true },
    xpath: { xpath: "//a/@href", all: true },
    regex: { regex: "zz(\\d+)" },
    markdown: { css: "body", type: "markdown" },
    html: { css: "body", type: "html" },
    title: { known: "title" },
    price: { known: "price" },
    author: { known: "author" },
    published: { known: "published_at" },
    image: { known: "image" },
    tables: { known: "tables" },
  },
};

function read(body: string, spec: PlanSpec = ALL): Extraction {
  const extraction = extractPage({ body, contentType: "text/html", url: "https://site.example/" }, compilePlan(spec));
  // Whatever comes out can be stored.
  assert.ok(JSON.stringify(extraction.records).length < 100 * MB);
  assert.ok((extraction.article?.markdown.length ?? 0) < 10 * MB);
  return extraction;
}

const PAGES: Record<string, () => string> = {
  "50,000 inline elements deep, closed again": () => "<span>".repeat(50_000) + "x" + "</span>".repeat(50_000),
  "20,000 nested quotes": () => "<blockquote>".repeat(20_000) + "x",
  "50,000 nested templates": () => "<template>".repeat(50_000) + "x",
  "50,000 nested svgs": () => "<svg>".repeat(50_000),
  "formatting that is never closed": () => "<p><b><i><u><em>".repeat(3_000),
  "links in links": () => "<a href=x><div>".repeat(5_000),
  "text and formatting that a table throws out": () => "<table>" + "x<b>".repeat(5_000),
  "300,000 attributes": () => `<p ${Array.from({ length: 300_000 }, (_, i) => `a${i}=1`).join(" ")}>x`,
  "quotes that are never closed": () => '<a href="x'.repeat(100_000),
  "comments that are never closed": () => "<!--".repeat(500_000),
  "scripts that escape themselves": () => "<script><!--<script></script>".repeat(50_000),
  "tags that never end": () => "<a ".repeat(1_000_000),
  "null bytes": () => "\0".repeat(2 * MB) + "<p>x",
  "a million entities": () => "&amp;&lt;&copy".repeat(300_000),
  "50,000 names nobody knows": () => Array.from({ length: 50_000 }, (_, i) => `<x${i}>`).join(""),
  "JSON-LD that is 100,000 arrays deep": () =>
    `<script type="application/ld+json">${"[".repeat(100_000)}${"]".repeat(100_000)}</script>`,
};

/** Each takes half a second and more. */
const EXPENSIVE_PAGES: Record<string, () => string> = {
  "50,000 elements deep": () => "<div>".repeat(50_000) + "x",
  "20,000 nested lists": () => "<ul><li>".repeat(20_000),
  "5,000 nested tables": () => "<table><tr><td>".repeat(5_000),
  "50,000 nested items of microdata": () => "<div itemscope itemprop=x>".repeat(50_000),
  "formatting that is always different": () => Array.from({ length: 3_000 }, (_, i) => `<font size=${i}><p>x`).join(""),
  "50,000 nested raised texts": () => `${"<sup>".repeat(50_000)}${"x ".repeat(500_000)}`,
  "50,000 nested formulas that are none": () => `${"<div class=math>".repeat(50_000)}${"<i>x</i>".repeat(50_000)}$`,
  "a paragraph of 20,000 marks": () => `<p>${"a<b>b<i>c</i></b>".repeat(20_000)}`,
  "2,000 rows of cells that cover 1,000 more": () => `<table>${"<tr><td rowspan=9999 colspan=1000>x".repeat(2_000)}`,
  "20,000 pictures for readers without scripts": () => "<img><noscript><img src=x.png></noscript>".repeat(20_000),
  "nothing but <": () => "<".repeat(2 * MB),
  "5,000 bylines and prices in each other": () => "<h1>x</h1>" + "<div class='byline price date'>By x ".repeat(5_000),
  "20,000 bylines, prices and dates": () =>
    "<h1>x</h1>" + "<p class=byline>By A B</p><p class=price>$5</p><p class=date>x</p><time>x</time>".repeat(20_000),
  "20,000 items of microdata that are products": () =>
    "<div itemscope itemtype=https://schema.org/Product><b itemprop=price>$5</b></div>".repeat(20_000),
};

for (const [name, page] of Object.entries(PAGES)) {
  test(`${name}: the page is read to an end, in bounded time`, BOUNDED, () => void read(page()));
}
for (const [name, page] of Object.entries(EXPENSIVE_PAGES)) {
  test(`${name}: the page is read to an end, in bounded time [slow]`, BOUNDED, () => void read(page()));
}

test("100,000 links are all found [slow]", BOUNDED, () => {
  const { links, records, truncated } = read("<li><a href='/p?x=1'>link</a></li>\n".repeat(100_000), {
    fields: { all: { xpath: "//a/@href", all: true } },
  });
  assert.equal(links.length, 100_000);
  assert.equal((records[0]?.["all"] as string[] | undefined)?.length, 10_000);
  assert.equal(truncated, false);
});

test("of a 20 MB page the beginning is read, and it says so", BOUNDED, () => {
  const { truncated, links, title } = read(
    `<title>Big</title><a href=/first>x</a>${"<p>Lorem ipsum, dolor. </p>".repeat(800_000)}`,
    { fields: ["title"] },
  );
  assert.equal(truncated, true);
  assert.equal(title, "Big");
  assert.equal(links.length, 1);
});

test("20 MB of plain words give a bounded article", BOUNDED, () => {
  const { article } = read("word ".repeat(4 * MB), { article: true });
  assert.ok(article !== null && article.text.length <= 2_000_000);
});

test("a regex that hangs other engines ends at once", () => {
  const text = "a".repeat(50_000);
  for (const regex of ["^(a+)+$x", "(a|aa)+b", "(.*)*c", "(x+x+)+y"]) {
    assert.equal(read(`<p>${text}</p>`, { fields: { it: { css: "p", regex } } }).records[0]?.["it"], null);
  }
});

test("a selector that runs wild costs its field, not the page [slow]", BOUNDED, () => {
  const page = "<div><p>".repeat(200) + "<i>x</i>".repeat(20_000);
  const { records, errors } = read(page, {
    fields: {
      wild: { css: "div p div p div p div p div p div p div p div p b ~ i", required: true },
      late: { css: "i:nth-last-child(7):has(~ i:nth-last-child(3) ~ b)", all: true },
      fine: "i",
    },
  });
  assert.equal(records[0]?.["wild"], null);
  assert.equal(errors[0]?.field, "wild");
});

test("an XPath that runs wild costs its field, not the page [slow]", BOUNDED, () => {
  const { errors } = read("<div>".repeat(300) + "<i>x</i>".repeat(3_000), {
    fields: {
      wild: { xpath: "//*[count(.//*[count(.//*) > 1]) > 1][count(following::*/preceding::*) > 1]", required: true },
    },
  });
  assert.match(errors[0]?.message ?? "", /too many steps/);
});

test("a JSONPath that runs wild costs its field, not the page [slow]", BOUNDED, () => {
  const value = Array.from({ length: 2_000 }, (_, index) => ({ index, list: [index] }));
  const plan = compilePlan({
    fields: { wild: { jsonpath: "$..[?count($..*) == 1 && count(@..*) == 7]", required: true } },
  });
  const { errors } = extractPage({ body: JSON.stringify(value), contentType: "application/json", url: null }, plan);
  assert.match(errors[0]?.message ?? "", /longer than 1000 ms/);
});

test("a schema that refers to itself without end costs its record, not the process [slow]", BOUNDED, () => {
  const endless = read("<p>x", { fields: { a: "p" }, schema: { $ref: "#" } });
  assert.equal(endless.errors.length, 1);
  const names = Array.from({ length: 30 }, (_, index) => index);
  const $defs = Object.fromEntries(
    names.map((i) => [`d${i}`, { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }]),
  );
  const explosive = read("<p>x", {
    fields: { a: "p" },
    schema: { $ref: "#/$defs/d0", $defs: { ...$defs, d30: { type: "object" } } },
  });
  assert.match(explosive.errors[0]?.message ?? "", /longer than 1000 ms/);
});

test("JSON that is nested deeper than can be stored is refused, not returned", () => {
  const deep = `${"[".repeat(5_000)}1${"]".repeat(5_000)}`;
  const plan = compilePlan({ fields: { it: { jsonpath: "$" }, inside: { jsonpath: "$..*", all: true } } });
  const { records, warnings } = extractPage({ body: deep, contentType: "application/json", url: null }, plan);
  assert.equal(records[0]?.["it"], null);
  assert.match(warnings[0]?.message ?? "", /nested too deep/);
});

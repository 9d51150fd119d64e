import assert from "node:assert/strict";
import { test } from "node:test";
import { type Extraction, extractPage } from "../../src/extract/page.ts";
import { compilePlan, type PlanSpec } from "../../src/extract/plan.ts";

const LISTS = ["links", "images", "keywords", "headings", "tables"];

function read(spec: PlanSpec, body = "<p>x", contentType = "text/html"): Extraction {
  return extractPage({ body, contentType, url: "https://site.example/" }, compilePlan(spec));
}

for (const [contentType, body] of [
  ["text/html", "<p>x"],
  ["application/json", "{}"],
  ["application/rss+xml", "<rss><channel></channel></rss>"],
  ["text/plain", "x"],
]) {
  test(`lists that ${contentType} does not have are empty, and nothing is said about them`, () => {
    const { records, warnings, errors } = read({ fields: LISTS }, body, contentType);
    assert.deepEqual(records, [Object.fromEntries(LISTS.map((name) => [name, []]))]);
    assert.deepEqual([warnings, errors], [[], []]);
  });
}

test("a required list that is empty is missing", () => {
  const { errors } = read({
    fields: { links: { known: "links", required: true }, tags: { css: ".tag", all: true, required: true } },
  });
  assert.deepEqual(
    errors.map(({ field, message }) => [field, message]),
    [
      ["links", "the page does not have it"],
      ["tags", "nothing matches"],
    ],
  );
});

test("a default applies where nothing was found, null included", () => {
  const { records } = read({
    fields: {
      links: { known: "links", default: ["none"] },
      images: { known: "images", default: null },
      all: { known: "title", all: true, default: ["untitled"] },
      tags: { css: ".tag", all: true, default: null },
    },
  });
  assert.deepEqual(records, [{ links: ["none"], images: null, all: ["untitled"], tags: null }]);
});

test("a rule with all gives a list, also of a well-known field and of what cannot be read", () => {
  const { records, warnings } = read(
    {
      fields: {
        titles: { known: "title", all: true },
        ids: { known: "links", all: true, regex: "id=(\\d+)", type: "integer" },
        prices: { css: "p", all: true, type: "number" },
      },
    },
    "<title>T</title><a href='?id=7'>a</a><a href='?id=8'>b</a><p>none",
  );
  assert.deepEqual(records, [{ titles: ["T"], ids: [7, 8], prices: [] }]);
  assert.deepEqual(
    warnings.map(({ field, found }) => [field, found]),
    [["prices", "none"]],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { parse } from "yaml";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { markdownExporter } from "../../src/exporters/markdown.ts";
import { HOSTILE, textOf } from "./records.ts";

interface Read {
  front: Record<string, unknown>;
  body: string;
}

/** As the documentation says: a record begins with dashes before a line `url:`, and its front matter ends with dashes. */
function recordsIn(text: string): Read[] {
  return text.split(/^(?=---\nurl: )/m).map((part) => {
    const [, front = "", body = ""] = /^---\n(.*?)^---\n(.*)$/ms.exec(part) ?? [];
    const read = parse(front) as Record<string, unknown>;
    assert.deepEqual(parse(front, { version: "1.1" }), read, "an older reader takes it for the same");
    return { front: read, body: body.trim() };
  });
}

const htmlOf = (markdown: string) =>
  micromark(markdown, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] });

test("no records are said to be none", async () => {
  assert.equal(await textOf(markdownExporter, []), "No results.\n");
});

test("a page is its front matter and its Markdown as it is", async () => {
  const markdown =
    "# A Shoe\n\n- a [link](https://x.example)\n\n---\n\n`Vec<T>` <strong>*a*b</strong>\n\n```html\n<b>code</b>\n```";
  const data = {
    title: 'A "Shoe": 50 %',
    price: 9.5,
    sold: null,
    on: true,
    published_at: "2024-05-01",
    tags: ["a", "b"],
    offers: [{ price: 1, shops: ["x"] }],
    empty: [],
    text: "left out",
    markdown,
  };
  assert.equal(
    await textOf(markdownExporter, [data, { title: "Second", markdown: "Words." }]),
    `---
url: "https://shop.example/item/1"
title: "A \\"Shoe\\": 50 %"
published_at: "2024-05-01"
price: 9.5
sold: null
"on": true
tags:
  - "a"
  - "b"
offers:
  - price: 1
    shops:
      - "x"
empty: []
---

${markdown}

---
url: "https://shop.example/item/2"
title: "Second"
---

Words.
`,
  );
});

test("an article of a crawl leaves its links to its Markdown", async () => {
  const data = { depth: 1, title: "T", markdown: "M", text: "M", content_hash: "abc", links: ["https://x.example/"] };
  const [record] = recordsIn(await textOf(markdownExporter, [data]));
  assert.deepEqual(record, {
    front: { url: "https://shop.example/item/1", title: "T", depth: 1, content_hash: "abc" },
    body: "M",
  });
});

test("the page itself is the body, with what it says of itself above it", async () => {
  const document = {
    markdown: "# Hello\n\nWorld",
    html: "<h1>Hello</h1>",
    links: ["https://x.example/"],
    metadata: { title: "Hello", description: "Says hello", "og:image": "x", status_code: 200 },
  };
  const [record] = recordsIn(await textOf(markdownExporter, [{ depth: 0, title: null, document }]));
  assert.deepEqual(record, {
    front: { url: "https://shop.example/item/1", title: "Hello", description: "Says hello", depth: 0 },
    body: "# Hello\n\nWorld",
  });
});

test("a record without Markdown is a heading, a list of its fields with lists in it, and its text", async () => {
  const data = {
    title: "A Shoe",
    price: 9.5,
    sold: null,
    image: "https://x.example/a.png",
    tags: ["a", "b"],
    offers: [
      { shop: "X", price: 1 },
      { shop: "Y", prices: [1, 2] },
    ],
    size: { width: 1, height: { cm: 2 } },
    text: "First line.\n\n2. line.",
  };
  const text = await textOf(markdownExporter, [data, { price: 1 }]);
  const [first, second] = recordsIn(text);
  assert.deepEqual(first?.front, {
    url: "https://shop.example/item/1",
    title: "A Shoe",
    price: 9.5,
    sold: null,
    image: "https://x.example/a.png",
  });
  assert.equal(
    first?.body,
    `# A Shoe

<https://shop.example/item/1>

- **price:** 9.5
- **sold:** –
- **image:** <https://x.example/a.png>
- **tags:**
  - a
  - b
- **offers:**
  - **shop:** X · **price:** 1
  - **2**
    - **shop:** Y
    - **prices:**
      - 1
      - 2
- **size:**
  - **width:** 1
  - **height:**
    - **cm:** 2

First line.

2\\. line.`,
  );
  assert.equal(second?.body, "# https://shop.example/item/2\n\n<https://shop.example/item/2>\n\n- **price:** 1");
});

test("a field named url stands beside the address", async () => {
  const [record] = recordsIn(await textOf(markdownExporter, [{ url: "/x", markdown: "M" }]));
  assert.deepEqual(record?.front, { url: "https://shop.example/item/1", data_url: "/x" });
});

test("Markdown that shows the beginning of a record begins none", async () => {
  for (const markdown of ["---\nurl: x\n---", "a\n\n```\n---\nurl: x\n---\n```", "---\r\nurl: x", "---\rurl: x"]) {
    const text = await textOf(markdownExporter, [{ markdown }, { markdown: "second" }]);
    assert.equal(recordsIn(text).length, 2, text);
  }
});

test("code keeps its angle brackets, also between others and in lists", async () => {
  for (const markdown of [
    "`a<b>` and ``<i>` ``",
    "- a\n\n  ```js\n  <b>\n  ```\n- b",
    "1. a\n\n   ~~~\n   <b>\n   ~~~",
    "| `<T>\\|x` |",
  ])
    assert.equal(recordsIn(await textOf(markdownExporter, [{ markdown }]))[0]?.body, markdown);
});

test("HTML of a page is shown rather than used, whatever is around it", async () => {
  for (const markdown of [
    "<script>",
    "- ```\n<script>\n",
    "  ~~~\n<script>",
    "> ```\n<script>",
    "1. ~~~\n   x\n\n<script>",
    "  ```\n      ```\n<script>\n  ```\n<script>",
    "para\n    ~~~\n    <script>\n    ~~~",
    "a ` b\nc ` <script> `",
    "| ` | <script> ` |\n|---|---|\n| ` | <script> ` |",
    "<strong>\n`<script>`",
    "<pre>`<script>`</pre>",
    "<pre>\n\n`<script>`",
    '<a href="https://x.example/`">`<script>',
    "<https://x.example/`> <script> `",
    "\\\\<script>",
    "<br>\n\\<script>",
    "`\\`<script>`",
    '<a href="javascript:x">',
    '<img src="https://x.example/" onerror=x>',
    "~~~\n```\n<i>\n~~~\n<script>",
  ]) {
    const body = recordsIn(await textOf(markdownExporter, [{ markdown }]))[0]?.body ?? "";
    assert.ok(!/<(?:script|img)|javascript:x"/i.test(htmlOf(body)), `${markdown}\n=>\n${body}\n=>\n${htmlOf(body)}`);
  }
});

test("what is escaped already stays, and a page defines no links for the others", async () => {
  const [record] = recordsIn(await textOf(markdownExporter, [{ markdown: "1 \\<b> 2\n\n[x]: /evil\n\n~~~\nopen" }]));
  assert.equal(record?.body, "1 \\<b> 2\n\n[x]\\: /evil\n\n~~~\nopen\n~~~");
});

test("hostile strings stay in their line, as title, field, name of a field and text", async () => {
  for (const text of HOSTILE.map((one) => one.slice(0, 5000))) {
    const written = await textOf(markdownExporter, [{ title: text, [text]: text, field: text, list: [text], text }]);
    const [record, ...more] = recordsIn(written);
    assert.equal(more.length, 0);
    assert.equal(record?.front["field"], text.toWellFormed());
    assert.ok(!/<(?!\/?(?:h1|p|a|ul|li|strong|br|code)\b)/.test(htmlOf(record?.body ?? "")), written.slice(0, 500));
  }
});

test("whatever is scraped, there are as many records, their values read back, and there is no HTML in it", async () => {
  const pieces = fc.constantFrom(
    ...["#", "\n", "\r", "<b>", "<i>", "```", "|", "-", "---", "\n---\nurl: x\n", "=", ">", "[a]:", " ", "x"],
    ...["\\", "`", "~~~", "    ", "<pre>", "</pre>", "<strong>", "<br>", '"', "'", ": ", "é", "\ud800", "\u0085", "- "],
  );
  const text = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(""));
  const field = fc.oneof(
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.constant(null),
  );
  const tags = fc.array(fc.oneof(text, fc.dictionary(text, text, { maxKeys: 2 })), { maxLength: 2 });
  const fields = fc.record({ title: text, note: field, text, markdown: text, tags }, { requiredKeys: [] });
  await fc.assert(
    fc.asyncProperty(fc.array(fields, { minLength: 1, maxLength: 4 }), async (data) => {
      const written = await textOf(markdownExporter, data as Record<string, JsonValue>[]);
      const read = recordsIn(written);
      assert.equal(read.length, data.length, written);
      for (const [index, { front, body }] of read.entries()) {
        const note = data[index]?.note;
        if (note !== undefined) assert.deepEqual(front["note"], typeof note === "string" ? note.toWellFormed() : note);
        assert.ok(!/<[bi]>/.test(htmlOf(body)), body);
      }
    }),
    { numRuns: 200 },
  );
});

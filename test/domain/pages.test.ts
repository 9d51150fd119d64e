/**
 * The pages in test/fixtures/pages say by their folder what they are. Comments at their top may add what a page does not
 * hold itself: `status`, `header NAME: VALUE`, `url`, `type`, and the `rule` that must be the one to match.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { outlineOf } from "../../src/domain/page/page-outline.ts";
import { shellOf } from "../../src/domain/page/page-shell.ts";
import { softBlockOf } from "../../src/domain/page/soft-block.ts";
import { SOFT_BLOCK_RULES } from "../../src/domain/page/soft-block-rules.ts";
import { read, root } from "../support/source.ts";

const FOLDER = "test/fixtures/pages";
const KINDS = ["challenge", "captcha", "shell", "plain"] as const;

interface Fixture {
  name: string;
  html: string;
  status: number;
  headers: Record<string, string>;
  url: string;
  contentType: string;
  rule: string | null;
}

function fixture(name: string): Fixture {
  const page: Fixture = {
    name,
    html: read(join(FOLDER, name)),
    status: 200,
    headers: {},
    url: "https://site.example/page",
    contentType: "text/html; charset=utf-8",
    rule: null,
  };
  for (let note; (note = /^<!-- (status|header|url|type|rule) (.*) -->\n/.exec(page.html)) !== null;) {
    const [whole, key = "", value = ""] = note;
    page.html = page.html.slice(whole.length);
    if (key === "status") page.status = Number(value);
    if (key === "url") page.url = value;
    if (key === "type") page.contentType = value;
    if (key === "rule") page.rule = value;
    const colon = value.indexOf(": ");
    if (key === "header") page.headers[value.slice(0, colon)] = value.slice(colon + 2);
  }
  return page;
}

const pages = KINDS.flatMap((kind) =>
  readdirSync(join(root, FOLDER, kind))
    .sort()
    .map((file) => ({ kind, page: fixture(`${kind}/${file}`) })),
);

test("there are enough pages of every kind to say something", () => {
  const count = (...kinds: string[]) => pages.filter(({ kind }) => kinds.includes(kind)).length;
  assert.ok(count("challenge", "captcha") >= 12);
  assert.ok(count("shell") >= 10);
  assert.ok(count("plain") >= 20);
});

for (const { kind, page } of pages) {
  test(`${page.name} is seen as ${kind}`, () => {
    const block = softBlockOf(page);
    const shell = shellOf(page);
    if (kind === "shell") {
      assert.equal(block, null);
      assert.ok(shell !== null, JSON.stringify(outlineOf(page.html)));
      if (page.rule !== null) assert.equal(shell.rule, page.rule);
    } else if (kind === "plain") {
      assert.equal(block, null);
      assert.equal(shell, null);
    } else {
      assert.ok(block !== null, JSON.stringify(outlineOf(page.html)));
      assert.equal(block.kind, kind);
      if (page.rule !== null) assert.equal(block.rule, page.rule);
      assert.ok(block.message.includes(String(page.status)), block.message);
    }
  });
}

test("a block that stands inside a long page is none, whatever its vendor", () => {
  const article = `<p>${"Words that somebody wrote for readers. ".repeat(80)}</p>`;
  for (const { kind, page } of pages) {
    if (kind !== "challenge" && kind !== "captcha") continue;
    const block = softBlockOf({ ...page, html: `${page.html}${article}`, headers: {} });
    assert.equal(block, null, page.name);
  }
});

test("the same page with any status is the same block", () => {
  for (const { kind, page } of pages) {
    if (kind !== "challenge" && kind !== "captcha") continue;
    for (const status of [200, 202, 403, 429, 503]) assert.equal(softBlockOf({ ...page, status })?.kind, kind);
  }
});

test("the words of the table are in lower case, and every rule asks for something", () => {
  for (const { rule, clues } of SOFT_BLOCK_RULES) {
    assert.ok(clues.length > 0, rule);
    for (const words of clues) {
      assert.ok(words.length > 1, rule);
      for (const word of words) assert.equal(word, word.toLowerCase(), rule);
    }
  }
});

test("every rule has a page that it recognises", () => {
  const seen = new Set(pages.flatMap(({ page }) => page.rule ?? []));
  const unseen = new Set(SOFT_BLOCK_RULES.map(({ rule }) => rule).filter((rule) => !seen.has(rule)));
  assert.deepEqual([...unseen], [], "add a page for each to test/fixtures/pages");
});

const judge = (html: string) => {
  softBlockOf({ status: 200, headers: {}, html, url: "https://site.example/" });
  return shellOf({ status: 200, contentType: "text/html", html });
};

test("no text makes the rules throw", () => {
  const pieces = [
    "<",
    ">",
    "<!--",
    "-->",
    "<script",
    "</script>",
    "<div id=root>",
    "</div>",
    '"',
    "'",
    "=",
    "&#x110000;",
  ];
  const text = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: "binary" })), { maxLength: 60 });
  fc.assert(fc.property(text, (parts) => void judge(parts.join(""))));
});

test("a megabyte made to be slow is read to its end [slow]", () => {
  const million = 1_000_000;
  const made = [
    "<",
    "<!",
    "<!--",
    "</",
    "<a ",
    '<a b="',
    "<a b='x'",
    "<script>",
    "<script src=x></script>",
    "<noscript>x</noscript>",
    "<noscript><",
    "<div id=root>",
    "<div id=root></div>",
    "<app-root>",
    "<select>",
    "<title>",
    "&",
    "&#1",
    "<i>x</i>",
    "<br>",
    `<b class="${"x ".repeat(50)}">`,
    " ",
    "<textarea>",
    "<svg><p></svg>",
  ];
  for (const piece of made) judge(piece.repeat(Math.ceil(million / piece.length)));
  judge(`<!doctype html>${" ".repeat(million)}`);
  judge(`<p ${"a".repeat(million)}`);
  judge(`<${"a-".repeat(million)}app>`);
});

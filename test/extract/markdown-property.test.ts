import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { markdownOf, seenIn, seenInMarkdown } from "./read-back.ts";

/** What Markdown gives a meaning to, between words, and at the start and end of lines. */
const PIECES = [
  ..."\\`*_{}[]()#+-.!|<>~=:&\"'^@€—…「」 é日1a",
  ...["  ", "**", "__", "~~", "---", "===", "***", "# ", "- ", "+ ", "* ", "1. ", "2) ", "> ", "```", "~~~", "[a](b)"],
  ...["![", "<b>", "</p>", "<!--", "&copy;", "&lt;", "&#35;", "| a |", "|---|", ":-:", "\\\\", "https://x.example/"],
  ...[
    "www.x.example",
    "a@b.example",
    "word",
    "snake_case",
    "two words",
    " * ",
    "[ ] ",
    "[x]: y",
    "\u00a0",
    "😀",
    "<div>",
  ],
];

function escapeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

const words = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 5 })
  .map((parts) => escapeHtml(parts.join("")));
const address = fc
  .array(fc.constantFrom("/a", "/b_c", "/(d", "/e)", "?f=*g*", "&copy;", "/h i", "/[j]", "/k|l", "/`m", "/\\n"), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => escapeHtml(`/x${parts.join("")}`).replaceAll('"', "&quot;"));

function within(names: readonly string[], content: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...names), content)
    .map(([name, inner]) => `<${name}>${inner}</${name.split(" ")[0]}>`);
}

function joined(content: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> {
  return fc.array(content, { minLength: 1, maxLength }).map((parts) => parts.join(""));
}

function linked(content: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(address, content).map(([href, inner]) => `<a href="${href}">${inner}.</a>`);
}

const picture = fc
  .tuple(address, words)
  .map(([src, alt]) => `<img src="${src}.png" alt="${alt.replaceAll('"', "&quot;")}">`);

const pages = fc.letrec<Record<"inline" | "block" | "item", string>>((tie) => ({
  inline: fc.oneof(
    { depthSize: "small" },
    words,
    fc.constantFrom(" ", "<br>"),
    within(["em", "strong", "b", "i", "del", "sup", "sub", "span", "u"], joined(tie("inline"), 3)),
    within(["code", "kbd"], words),
    linked(words),
    linked(joined(within(["em", "b", "code", "span"], words), 2)),
    linked(picture),
    within(["code"], joined(fc.oneof(words, linked(words)), 3)),
    picture,
  ),
  item: fc.tuple(joined(tie("inline"), 2), fc.option(tie("block"), { nil: "" })).map(([a, b]) => `<li>${a}${b}</li>`),
  block: fc.oneof(
    { depthSize: "small" },
    within(["p", "div", "h2", "h4"], joined(tie("inline"), 4)),
    within(["ul", "ol", 'ol start="3"'], joined(tie("item"), 3)),
    within(["blockquote", "div", "section"], joined(tie("block"), 2)),
    within(
      ["pre"],
      words.map((text) => `x${text}\n ${text}x`),
    ),
    fc.constant("<hr>"),
    linked(within(["h3", "p", "div"], words)),
    within(["dl"], joined(within(["dt", "dd"], tie("inline")), 2)),
    within(
      ["details"],
      fc.tuple(within(["summary"], words), tie("block")).map((parts) => parts.join("")),
    ),
    within(["b", "em"], tie("block")),
    fc
      .array(fc.tuple(joined(tie("inline"), 2), joined(tie("inline"), 2)), { minLength: 1, maxLength: 3 })
      .map((rows) => `<table>${rows.map(([a, b]) => `<tr><td>${a}</td><td>${b}</td></tr>`).join("")}</table>`),
  ),
}));

/** Readers that know GitHub's additions make links of addresses in the text; those are welcome. */
function linksOf(list: readonly string[]): string[] {
  return list.filter((href) => href.startsWith("https://site.example/"));
}

test("an address and a bar in the code of a table read back", () => {
  const html =
    "<table><tr><td>a</td><td><code>https://x.example/\\| a www.x.example\\|</code></td></tr><tr><td>b</td><td>c</td></tr></table>";
  assert.equal(seenInMarkdown(markdownOf(html)).text, seenIn(html).text);
});

test("whatever a page says, its Markdown reads back as the same text, links and pictures", () => {
  fc.assert(
    fc.property(joined(pages.block, 3), (html) => {
      const markdown = markdownOf(html);
      const [before, after] = [seenIn(html), seenInMarkdown(markdown)];
      assert.equal(after.text, before.text, markdown);
      assert.deepEqual(linksOf(after.links), before.links, markdown);
      assert.deepEqual(after.pictures, before.pictures, markdown);
    }),
    { numRuns: 300 },
  );
});

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Article } from "../../src/extract/article/article.ts";
import { parsePage } from "../../src/extract/page.ts";

const folder = new URL("pages/", import.meta.url);

function articleOf(html: string | Uint8Array): Article {
  const url = "https://site.example/a/page.html";
  const { article } = parsePage({ body: html, contentType: "text/html", url }).facts;
  assert.ok(article !== null);
  return article;
}

const SHAPES: Record<string, { language: string; words: number; without: string[] }> = {
  blog: { language: "en", words: 87, without: ["Share on X", "First!", "Popular posts", "All rights"] },
  broken: { language: "en", words: 75, without: [] },
  cjk: { language: "ja", words: 93, without: [] },
  code: { language: "en", words: 64, without: [] },
  docs: { language: "en", words: 63, without: ["Introduction", "Built with", "¶", "»"] },
  forum: { language: "en", words: 77, without: ["Search", "Powered by"] },
  news: { language: "en-GB", words: 85, without: ["partners", "sofa", "Related", "advertise"] },
  paywall: { language: "en", words: 21, without: ["Subscribe", "More"] },
  recipe: { language: "de", words: 63, without: ["Start"] },
  rtl: { language: "ar", words: 34, without: ["الرئيسية"] },
  shop: { language: "en", words: 36, without: ["Cart", "You may also like", "Add to cart"] },
  tables: { language: "en", words: 65, without: [] },
};

for (const [name, expected] of Object.entries(SHAPES)) {
  test(`the article of a ${name} page is what a reader comes for`, () => {
    const article = articleOf(readFileSync(new URL(`${name}.html`, folder)));
    assert.equal(`${article.markdown}\n`, readFileSync(new URL(`${name}.md`, folder), "utf8"));
    assert.equal(article.language, expected.language);
    assert.equal(article.wordCount, expected.words);
    for (const text of expected.without) {
      assert.ok(!article.text.includes(text), `text has "${text}"`);
      assert.ok(!article.html.includes(text), `html has "${text}"`);
    }
    assert.match(article.contentHash, /^[0-9a-f]{64}$/);
  });
}

test("every page shape has its expectation", () => {
  const pages = readdirSync(folder).filter((file) => file.endsWith(".html"));
  assert.deepEqual(pages.map((file) => file.replace(".html", "")).sort(), Object.keys(SHAPES).sort());
});

test("the hash of an article is that of its words, not of its white space", () => {
  const a = articleOf("<article><p>One two three, four five.</p><p>Six.</p></article>");
  const b = articleOf("<body><article>\n\n <p>One  two\nthree, four five.</p>\n<p>Six.</p></article></body>");
  const c = articleOf("<article><p>One two three, four six.</p><p>Six.</p></article>");
  assert.equal(a.contentHash, b.contentHash);
  assert.notEqual(a.contentHash, c.contentHash);
});

test("what a page hides is not in its article", () => {
  const text = "Words that are long enough to be taken for a paragraph, with a comma or two.";
  const { text: found } = articleOf(
    `<main><p>Seen: ${text}</p><p hidden>Hidden: ${text}</p><p style="display:none">Styled: ${text}</p><div aria-hidden="true">Aria ${text}</div><template><p>Later</p></template><script>code()</script></main>`,
  );
  assert.equal(found, `Seen: ${text}`);
});

test("an empty page has an empty article", () => {
  const article = articleOf("");
  assert.equal(article.text, "");
  assert.equal(article.markdown, "");
  assert.equal(article.wordCount, 0);
  assert.equal(article.language, null);
});

test("late-loading pictures keep their real address, and counting pixels without one are dropped", () => {
  const { markdown } = articleOf(
    `<article><p>Some words, enough of them, to make this a paragraph of its own.</p><img src="data:image/gif;base64,R0" data-src="/real.jpg" alt="Real"><img src="data:image/gif;base64,R0"></article>`,
  );
  assert.match(markdown, /!\[Real\]\(https:\/\/site\.example\/real\.jpg\)$/);
});

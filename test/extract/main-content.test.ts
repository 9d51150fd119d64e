import assert from "node:assert/strict";
import { test } from "node:test";
import { parseXml } from "../../src/extract/dom/xml.ts";
import { readPageBlocks } from "../../src/extract/main-content/find.ts";
import { parsePage } from "../../src/extract/page.ts";

function contentOf(body: string, { title = "A page", url = "https://site.example/a/page.html" } = {}) {
  const html = `<!doctype html><html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`;
  const { article } = parsePage({ body: html, contentType: "text/html", url }).facts;
  assert.ok(article !== null);
  return article;
}

/** Paragraphs of prose about a subject, each with its own words. */
function prose(subject: string, paragraphs: number): string {
  const sentences = [
    `The ${subject} was planned for years, and in the end it was finished within a single summer, to the surprise of all.`,
    `People who had followed the ${subject} from the start said that nobody, not even they, had expected it to go so well.`,
    `There are several reasons for this, among them the weather, the money that was left over, and a good deal of luck.`,
    `What happens next is not decided; the ${subject} will be looked at again in spring, when more is known about its use.`,
  ];
  return Array.from(
    { length: paragraphs },
    (_, index) =>
      `<p>${index + 1}. ${sentences[index % sentences.length]} ${sentences[(index + 1) % sentences.length]}</p>`,
  ).join("\n");
}

const NAVIGATION = `<header class="site-header"><nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li><li><a href="/about">About us</a></li></ul></nav></header>`;
const FOOTER = `<footer><p>© 2024 The site. All rights reserved. <a href="/imprint">Imprint</a></p></footer>`;

for (const paragraphs of [1, 4]) {
  test(`chapters whose ids look like furniture are content (${paragraphs} paragraphs each)`, () => {
    const { text, markdown } = contentOf(
      `${NAVIGATION}<main><h1>The manual</h1>
      <h2 id="cookies">Cookies</h2>${prose("oven", paragraphs)}
      <section id="sharing-with-others"><h2>Sharing with others</h2>${prose("folder", paragraphs)}</section>
      <div class="section" id="related-work"><h2>Related work</h2>${prose("study", paragraphs)}</div>
      <section id="comments"><h2>Comments in code</h2>${prose("parser", paragraphs)}</section>
      <h2 id="navigation">Navigation</h2>${prose("compass", paragraphs)}
      <section id="subscription-options"><h2>Subscription options</h2>${prose("magazine", paragraphs)}</section>
      </main>${FOOTER}`,
      { title: "The manual" },
    );
    for (const word of ["oven", "folder", "study", "parser", "compass", "magazine"]) {
      assert.ok(text.includes(`The ${word} was planned`), `text without the chapter about the ${word}`);
    }
    assert.match(markdown, /^## Cookies$/m);
    assert.match(markdown, /^## Related work$/m);
    assert.doesNotMatch(text, /Imprint|About us/);
  });
}

test("a side column beside the story is not part of it", () => {
  const teasers = Array.from(
    { length: 6 },
    (_, index) => `<li><a href="/${index}">Other story number ${index} that somebody else wrote</a></li>`,
  ).join("");
  const { text } = contentOf(
    `${NAVIGATION}<div class="columns"><main><article><h1>The bridge</h1>${prose("bridge", 6)}</article></main>
    <div class="article-sidebar"><h3>Most read</h3><ul>${teasers}</ul><p>Get our newsletter, every morning, with the best of the day.</p></div></div>
    <div class="footer-content"><p>The site is made by people, with love, in three countries, since 1998.</p></div>${FOOTER}`,
    { title: "The bridge" },
  );
  assert.match(text, /The bridge was planned/);
  assert.doesNotMatch(text, /Other story|newsletter|three countries/);
});

test("teasers in articles of their own do not replace the story", () => {
  const teasers = Array.from(
    { length: 8 },
    (_, index) =>
      `<article class="teaser"><h3><a href="/${index}">Teaser ${index} about something else</a></h3><p>A short text about story ${index}, which is on another page …</p></article>`,
  ).join("");
  const { text } = contentOf(
    `${NAVIGATION}<div id="content"><h1>The harbour</h1><div class="story-body">${prose("harbour", 6)}</div></div><section class="related">${teasers}</section>${FOOTER}`,
    { title: "The harbour" },
  );
  assert.match(text, /The harbour was planned/);
  assert.doesNotMatch(text, /Teaser \d/);
});

for (const paragraphs of [0, 3])
  test(`a list of links inside an article stays (${paragraphs} paragraphs around it)`, () => {
    const { text, markdown } = contentOf(
      `${NAVIGATION}<article><h1>Five tools</h1>${prose("workshop", paragraphs)}<p>These are the tools that we use:</p>
    <ul><li><a href="https://a.example/">The hammer of the first maker</a></li><li><a href="https://b.example/">The saw of the second maker</a></li><li><a href="https://c.example/">The drill of the third maker</a></li></ul>
    ${prose("bench", paragraphs)}</article>${FOOTER}`,
      { title: "Five tools" },
    );
    assert.match(text, /The saw of the second maker/);
    assert.match(markdown, /- \[The drill of the third maker\]\(https:\/\/c\.example\/\)/);
  });

const TOOLS = `<li><a href="https://a.example/">The hammer of the first maker</a></li><li><a href="https://b.example/">The saw of the second maker</a></li><li><a href="https://c.example/">The drill of the third maker</a></li>`;
for (const [where, body] of [
  [
    "at its end, after a paragraph that announces it",
    `${prose("workshop", 5)}<p>These are the tools that we use:</p><ul>${TOOLS}</ul>`,
  ],
  [
    "with a class",
    `${prose("workshop", 5)}<p>We use these tools every day:</p><ul class="wp-block-list">${TOOLS}</ul>`,
  ],
  ["under Sources", `${prose("workshop", 5)}<h2>Sources</h2><ol>${TOOLS}</ol>`],
  [
    "under References, behind another list",
    `${prose("workshop", 5)}<p>We wanted them to be:</p><ul><li>Light, and easy to carry about</li><li>Cheap, and easy to repair</li></ul><h2>References</h2><ol>${TOOLS}</ol>`,
  ],
  [
    "under Footnotes, in a section behind a quotation",
    `${prose("workshop", 5)}<blockquote><p>It was the best summer of my life, and of the life of all who were there.</p></blockquote><section><h2>Footnotes</h2><ol>${TOOLS}</ol></section>`,
  ],
  ["under Einzelnachweise", `${prose("workshop", 5)}<h3>Einzelnachweise</h3><ol class="references">${TOOLS}</ol>`],
  [
    "in a section of its own",
    `${prose("workshop", 5)}<section><h2>Works cited</h2><ol>${TOOLS}</ol></section><section><h2>What is next</h2>${prose("bench", 2)}</section>`,
  ],
  [
    "at the end of a section",
    `<section><h2>Where it began</h2>${prose("workshop", 3)}<ul>${TOOLS}</ul></section><section><h2>What is next</h2>${prose("bench", 2)}</section>`,
  ],
] as const) {
  test(`a list of links ${where} is part of the article`, () => {
    const { text, markdown } = contentOf(`${NAVIGATION}<article><h1>Five tools</h1>${body}</article>${FOOTER}`, {
      title: "Five tools",
    });
    assert.match(text, /The hammer of the first maker/);
    assert.match(markdown, /\[The drill of the third maker\]\(https:\/\/c\.example\/\)/);
    if (where.startsWith("under")) assert.match(markdown, /^#+ (?:Sources|References|Footnotes|Einzelnachweise)$/m);
  });
}

for (const [what, end] of [
  ["of related articles under a heading", `<h2>Related articles</h2><ul>${TOOLS}</ul>`],
  ["of articles to read next", `<p>Read more:</p><ul>${TOOLS}</ul>`],
  ["of the newest articles", `<h3>Latest news</h3><ul>${TOOLS}</ul>`],
  ["after the last paragraph", `<ul>${TOOLS}</ul>`],
  ["of topics", `<p>Filed under:</p><ul>${TOOLS}</ul>`],
  [
    "of articles that a long sentence recommends",
    `<p>If you liked this story, our editors have chosen others for you, related to it:</p><ul>${TOOLS}</ul>`,
  ],
  ["of tags after a sentence", `<p>We have written about it in:</p><ul class="post-tags">${TOOLS}</ul>`],
  [
    "in a side column that is headed like sources",
    `<aside class="sidebar"><h2>References</h2><ul>${TOOLS}</ul></aside>`,
  ],
  [
    "of related pages that is headed like sources",
    `<div class="related-posts"><h3>References</h3><ul>${TOOLS}</ul></div>`,
  ],
  ["that is hidden", `<h2 hidden>References</h2><ul hidden>${TOOLS}</ul>`],
  ["of comments", `<section id="comments" class="comments"><h2>Footnotes</h2><ol>${TOOLS}</ol></section>`],
] as const)
  test(`a list ${what} is no part of the article`, () => {
    const { text } = contentOf(
      `${NAVIGATION}<article><h1>Five tools</h1>${prose("workshop", 5)}${end}</article>${FOOTER}`,
      { title: "Five tools" },
    );
    assert.doesNotMatch(text, /The saw of the second maker|References/);
  });

test("advertisements and hidden items within a list are left out of it", () => {
  const { text } = contentOf(
    `${NAVIGATION}<article><h1>Five tools</h1>${prose("workshop", 5)}<h2>Sources</h2><ul>${TOOLS}
    <li class="ad sponsored"><a href="/buy">Buy a new hammer today</a></li><li hidden><a href="/old">The old page of sources</a></li>
    <li><a href="https://d.example/">The rasp of the fourth maker</a><ul class="share"><li><a href="/s">Share this source now</a></li></ul></li></ul></article>${FOOTER}`,
    { title: "Five tools" },
  );
  assert.match(text, /The rasp of the fourth maker/);
  assert.doesNotMatch(text, /new hammer|old page|Share this/);
});

test("the short last paragraph of an article is part of it, and the list of other articles is not", () => {
  const title = "Early ladder and the hollow bridge";
  const cards = Array.from({ length: 60 }, (_, n) => `<li class="card"><a href="/n/${n}">${title}, part ${n}</a></li>`);
  const long = prose("bridge", 52)
    .replaceAll(/<\/p>\n<p>(?!\d*[05]\.)/g, " ")
    .split("\n");
  for (const words of [5, 6, 8, 12, 20]) {
    const end = `${"This was the very end of the whole story of the bridge and of all who had built it".split(" ").slice(0, words).join(" ")}.`;
    const { text } = contentOf(
      `${NAVIGATION}<main><article><h1>${title}</h1><p class="byline">By <span>Ada Lund</span>, <time>2024-01-02</time></p>
      ${long.map((one, index) => one.replace("<p>", `<p class="c${index}">`)).join("\n")}
      <p>${end}</p></article>
      <aside class="offer"><span class="label">In print</span> <span class="price">€12.40</span></aside>
      <section class="related"><h2>Read on</h2><ul>${cards.join("")}</ul></section></main>${FOOTER}`,
      { title },
    );
    assert.ok(text.includes(end), `"${end}" is missing`);
    assert.doesNotMatch(text, /Read on|part 3/);
  }
});

test("a text that a page has twice, for phones and for desktops, is shown once", () => {
  const { text } = contentOf(
    `${NAVIGATION}<main><h1>The lamp</h1><div class="phone">${prose("lamp", 3)}</div><div class="desktop">${prose("lamp", 3)}</div></main>${FOOTER}`,
    { title: "The lamp" },
  );
  assert.equal(text.split("1. The lamp was planned").length, 2);
});

test("a refrain is sung as often as it stands there", () => {
  const verses = Array.from(
    { length: 4 },
    (_, index) =>
      `<p>Verse ${index}: the wind blew over the hill, and took with it what was left of the day before.</p><p>And so we sing, as we did before, of the wind that blows at the old front door.</p>`,
  );
  const { text } = contentOf(`${NAVIGATION}<article><h1>The song</h1>${verses.join("")}</article>${FOOTER}`, {
    title: "The song",
  });
  assert.equal(text.split("And so we sing").length, 5);
});

test("all posts of a forum are its content", () => {
  const posts = ["Anna", "Bert", "Carla", "Dirk"].map(
    (name, index) =>
      `<article class="message message--post"><div class="message-user"><a href="/u/${index}">${name}</a></div><div class="message-body"><p>${name} says: I have had the same trouble with the ${["pump", "valve", "hose", "tank"][index]}, and what helped in the end was to clean it, let it dry for a day, and put it together again. Has anybody else tried this?</p></div></article>`,
  );
  const { text } = contentOf(`${NAVIGATION}<main><h1>My pump makes noises</h1>${posts.join("")}</main>${FOOTER}`, {
    title: "My pump makes noises",
    url: "https://forum.example/threads/my-pump.17/",
  });
  for (const name of ["Anna", "Bert", "Carla", "Dirk"]) assert.ok(text.includes(`${name} says`), name);
});

test("a page whose content is all in noscript is read like a browser without scripts shows it", () => {
  const posts = ["Anna", "Bert"].map((name) => `<div class="topic-body"><h3>${name}</h3>${prose(name, 2)}</div>`);
  const noscript = `<noscript data-path="/t/17"><header><a href="/">The forum</a></header><main id="posts"><h1>My pump</h1>${posts.join("")}</main></noscript>`;
  const html = `<html><body><div id="app"></div>${noscript}<p>Loading the forum</p></body></html>`;
  const { facts } = parsePage({ body: html, contentType: "text/html", url: "https://forum.example/t/17" });
  for (const name of ["Anna", "Bert"]) assert.ok(facts.article?.text.includes(`The ${name} was planned`), name);
  assert.match(facts.article?.markdown ?? "", /^### Bert$/m);
  assert.deepEqual(
    facts.links.map(({ url }) => url),
    ["https://forum.example/"],
  );
});

test("a notice for browsers without scripts is not content, however long", () => {
  const notice = `<noscript><p>${"Please enable JavaScript to use this site. ".repeat(15)}</p></noscript>`;
  const { text } = contentOf(`${notice}<main><h1>The manual</h1>${prose("oven", 4)}</main>`);
  assert.doesNotMatch(text, /enable JavaScript/);
});

test("the cards of a collection are its content, not the menu beside them", () => {
  const cards = ["Lamp", "Chair", "Table", "Shelf", "Mirror", "Carpet", "Vase", "Clock"].map(
    (name, index) =>
      `<li class="product-${index} card"><a href="/p/${index}"><img src="/i/${index}.jpg"><h3>${name} of oak</h3></a><p class="price">€${index + 20}.00</p></li>`,
  );
  const menu = ["Kitchen", "Garden", "Bath", "Office"].map((name) => `<li><a href="/c/${name}">${name}</a></li>`);
  const { text } = contentOf(
    `${NAVIGATION}<aside class="filters"><ul>${menu.join("")}</ul></aside><main><h1>Furniture</h1><p>Furniture of oak, made by hand in our own workshop from trees of the region, with a guarantee of ten years.</p><ul class="products">${cards.join("")}</ul></main>${FOOTER}`,
    { title: "Furniture", url: "https://shop.example/collections/furniture" },
  );
  for (const name of ["Lamp", "Chair", "Clock"]) assert.ok(text.includes(`${name} of oak`), name);
  assert.doesNotMatch(text, /Imprint|Bath/);
});

test("a page of more blocks than the model judges is read by the rules", () => {
  const items = Array.from({ length: 25_000 }, (_, index) => `<li>Item ${index}</li>`).join("");
  const { text } = contentOf(`${NAVIGATION}<main><ul>${items}</ul></main>${FOOTER}`);
  assert.ok(text.startsWith("Item 0\n") && text.endsWith("Item 24999"));
});

test("a page with few words is read, whatever it is made of", () => {
  assert.equal(contentOf("<div>Hello, <b>world</b>.</div>").text, "Hello, world.");
  assert.equal(contentOf("").text, "");
});

function typeOf(body: string, url: string, head = ""): unknown {
  const html = `<html lang="en"><head><title>A page</title>${head}</head><body>${body}</body></html>`;
  return parsePage({ body: html, contentType: "text/html", url }).facts.pageType;
}

test("the type of a page is told with what says so, and is open when nothing does", () => {
  const ld = (type: string) => `<script type="application/ld+json">{"@type": "${type}", "name": "It"}</script>`;
  const cases: [type: string, reason: RegExp, page: unknown][] = [
    ["product", /structured data/, typeOf("<h1>It</h1><p>€5</p>", "https://a.example/it", ld("Product"))],
    ["forum", /structured data/, typeOf("<p>Why?</p>", "https://a.example/1", ld("QAPage"))],
    ["forum", /address/, typeOf("<p>Why?</p>", "https://a.example/threads/why.17/")],
    [
      "documentation",
      /host/,
      typeOf("<p>First, open the box. Then close it, and put it back on the shelf.</p>", "https://docs.a.example/x"),
    ],
    ["article", /address/, typeOf(prose("river", 8), "https://a.example/2024/05/river.html")],
    ["article", /structured data/, typeOf(prose("river", 8), "https://a.example/river", ld("NewsArticle"))],
    ["collection", /address/, typeOf("<p>Shirts</p>", "https://a.example/collections/shirts")],
  ];
  for (const [type, reason, found] of cases) {
    const { type: given, reason: why } = found as { type: string; reason: string };
    assert.equal(given, type);
    assert.match(why, reason);
  }
  assert.equal(typeOf("<p>Hello.</p>", "https://a.example/"), null);
});

test("the scripts of an XML document are no text of its blocks, and its important words are known", () => {
  const words = "one two three four five six seven eight nine ten";
  const page = readPageBlocks(
    parseXml(`<article><body><p>${words}</p> <script>${words}</script> <strong>${words}</strong></body></article>`),
  );
  assert.equal(page?.body.words, 20);
  assert.equal(
    page?.blocks.reduce((sum, { strongWords }) => sum + strongWords, 0),
    10,
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { known, ld, og } from "./known-field.ts";

const BODY =
  "<p>Some words of the article, with commas, and more of them, so that it is one, and long enough.</p>".repeat(5);
const article = (byline: string, after = "") => `<article><h1>News</h1>${byline}${BODY}</article>${after}`;

const BYLINES: readonly [byline: string, author: string | null][] = [
  [`<p class="byline">By Ann Lee</p>`, "Ann Lee"],
  [`<p class="byline">By <a href="/author/ann">Ann Lee</a> and <a href="/author/bo">Bo Ek</a></p>`, "Ann Lee, Bo Ek"],
  [`<p class="byline">By Ann Lee and Bo Ek | Reuters</p>`, "Ann Lee, Bo Ek"],
  [`<p class="byline">By Ann Lee, May 3, 2024</p>`, "Ann Lee"],
  [`<p class="byline">Written by Ann Lee on 3 May 2024</p>`, "Ann Lee"],
  [`<span class="post-author">Von Ann Lee</span>`, "Ann Lee"],
  [`<span class="ArticleByline">Par Ann Lee • 5 min read</span>`, "Ann Lee"],
  [`<span class="author">Por: Ann Lee</span>`, "Ann Lee"],
  [`<span itemprop="author">Ann Lee</span>`, "Ann Lee"],
  [`<a rel="author" href="/ann">Ann Lee</a>`, "Ann Lee"],
  [`<p>By Ann Lee</p>`, "Ann Lee"],
  [`<p>By Monday all was well again.</p>`, null],
  [`<p class="byline">By Ann Lee, Staff Writer</p>`, "Ann Lee"],
  [`<p class="byline">By Dr. Ann Lee, MD</p>`, "Dr. Ann Lee"],
  [`<p class="byline">Words by Ann Lee. Photos by Bo Ek</p>`, "Ann Lee"],
  [`<p class="byline">Tekst: Ann Lee Foto: Bo Ek</p>`, "Ann Lee"],
  [`<p class="byline">Écrit par Ann Lee</p>`, "Ann Lee"],
  [`<p class="byline">Geschrieben von Ann Lee</p>`, "Ann Lee"],
  [`<p class="byline">Yazan: Ann Lee</p>`, "Ann Lee"],
  [`<p class="byline">Oleh Ann Lee</p>`, "Ann Lee"],
  [`<p class="byline">Ann Lee (@annlee)</p>`, "Ann Lee"],
  [`<p class="byline">Published by Ann Lee at 10:30</p>`, "Ann Lee"],
  [`<p class="byline">May 1, 2024</p>`, null],
  [`<p class="byline">ann.lee@site.example</p>`, null],
  [`<p class="authorisation">Login</p>`, null],
  [`<div class="author-bio">Ann has written for years.</div>`, null],
];

for (const [byline, expected] of BYLINES) {
  test(`the author of an article with ${byline.slice(0, 80)}`, () => {
    assert.equal(known("author", article(byline)), expected);
  });
}

test("a byline goes before a handle, which is no name", () => {
  const handle = `<meta name="twitter:creator" content="@paper">`;
  assert.equal(known("author", handle + article(`<p class="byline">By Ann Lee</p>`)), "Ann Lee");
  assert.equal(known("author", handle + article("")), null);
});

test("addresses are no names", () => {
  assert.equal(known("author", og("article:author", "https://social.example/ann")), null);
  assert.equal(known("author", `<meta name=author content="/author/ann/">`), null);
  assert.equal(known("author", ld({ "@type": "Article", author: { url: "https://site.example/ann" } })), null);
});

test("who wrote comments and other articles did not write this one", () => {
  const comment = `<div class="comments"><p class="comment"><b class="author">Bo Ek</b></p></div>`;
  const teaser = `<aside><p class="byline">By Cy Po</p></aside><div class="related"><a rel=author href=/c>Cy Po</a></div>`;
  assert.equal(known("author", article("", comment + teaser)), null);
  assert.equal(known("author", teaser + article(`<p class="byline">By Ann Lee</p>`, comment)), "Ann Lee");
});

test("a list of articles has no author", () => {
  const list = ["Ann Lee", "Bo Ek", "Cy Po"].map(
    (name) => `<div class="post"><h2>T</h2><i class="author">${name}</i></div>`,
  );
  assert.equal(known("author", `<main><h1>Blog</h1>${list.join("")}</main>`), null);
});

test("an organisation is the author when nobody else is", () => {
  const press = { "@type": "Organization", name: "Press" };
  assert.equal(known("author", ld({ "@type": "Article", author: press })), "Press");
  assert.equal(
    known("author", ld({ "@type": "Article", author: [press, { "@type": "Person", name: "Ann Lee" }] })),
    "Ann Lee",
  );
  const html = ld({ "@type": "Article", author: press }) + article(`<p class="byline">By Ann Lee</p>`);
  assert.equal(known("author", html), "Ann Lee");
  const site = og("og:site_name", "Press") + `<meta name=author content=Press>`;
  assert.equal(known("author", site + article(`<p class="byline">By Ann Lee</p>`)), "Ann Lee");
});

test("names in data lose what is no part of them", () => {
  assert.equal(known("author", ld({ "@type": "Article", author: "By Ann Lee and Bo Ek" })), "Ann Lee, Bo Ek");
  assert.equal(known("author", `<meta name=author content="Ann Lee, Press">${og("og:site_name", "Press")}`), "Ann Lee");
  assert.equal(known("author", ld({ "@type": "Article", author: { givenName: "Ann", familyName: "Lee" } })), "Ann Lee");
  assert.equal(known("author", ld({ "@type": "Article", author: "Sean O&#39;Neill" })), "Sean O'Neill");
  assert.equal(
    known("author", `<meta name="twitter:label1" content="Written by"><meta name="twitter:data1" content="Ann Lee">`),
    "Ann Lee",
  );
});

test("names that hold a word of bylines keep it", () => {
  for (const name of [
    "Marine Le Pen",
    "Mohamed El Baradei",
    "Von Miller",
    "Di Stefano",
    "Sir On Lee",
    "Ursula von der Leyen",
  ])
    assert.equal(known("author", `<html lang=en>${ld({ "@type": "Article", author: { name } })}`), name);
  assert.equal(known("author", `<meta name=author content="Author 0">`), "Author 0");
  assert.equal(known("author", `<meta name=author content="Author: Ann Lee">`), "Ann Lee");
  assert.equal(
    known("author", `<html lang=de>${article("<p class=byline>Von Ursula von der Leyen</p>")}`),
    "Ursula von der Leyen",
  );
  assert.equal(known("author", `<html lang=en>${article("<p class=byline>By Von Miller on May 3</p>")}`), "Von Miller");
});

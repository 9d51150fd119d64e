import assert from "node:assert/strict";
import { test } from "node:test";
import { known, ld, og, PAGE } from "./known-field.ts";

const GRAPH = ld({
  "@graph": [
    { "@type": "WebPage", "@id": PAGE, url: PAGE, primaryImageOfPage: { "@id": "#primaryimage" } },
    {
      "@type": "Article",
      "@id": `${PAGE}#article`,
      headline: "Tea",
      author: { "@id": `${PAGE}#ann` },
      image: { "@id": `${PAGE}#primaryimage` },
      publisher: { "@id": "#press" },
    },
    { "@type": "ImageObject", "@id": "#primaryimage", url: "/tea.jpg" },
  ],
});
const PEOPLE = ld([
  { "@type": "Person", "@id": `${PAGE}#ann`, name: "Ann Lee" },
  { "@type": "Organization", "@id": `${PAGE}#press`, name: "Press" },
]);

test("references within JSON-LD are followed, across blocks", () => {
  assert.equal(known("author", GRAPH + PEOPLE), "Ann Lee");
  assert.equal(known("image", GRAPH + PEOPLE), "https://site.example/tea.jpg");
  assert.equal(known("site_name", GRAPH + PEOPLE), "Press");
});

test("a reference that leads nowhere is no value", () => {
  const lost = { "@type": "Article", author: { "@id": "#nobody" }, image: { "@id": `${PAGE}#primaryimage` } };
  assert.equal(known("author", ld(lost)), null);
  assert.equal(known("author", `${ld(lost)}<meta name=author content="Ann Lee">`), "Ann Lee");
  assert.equal(known("image", ld(lost)), null);
  assert.equal(known("image", ld(lost) + og("og:image", "/g.jpg")), "https://site.example/g.jpg");
  const text = { "@type": "Article", author: `${PAGE}#/schema/person/1`, image: `${PAGE}#primaryimage` };
  assert.equal(known("author", ld(text)), null);
  assert.equal(known("image", ld(text)), null);
});

test("JSON-LD is read in all its spellings", () => {
  const prefixed = {
    "@context": { schema: "https://schema.org/" },
    "@graph": [
      {
        "@type": "schema:Article",
        "schema:headline": "Tea",
        "schema:author": { "@list": [{ "schema:name": "Ann Lee" }, { "schema:name": "Bo Ek" }] },
        "schema:datePublished": { "@value": "2024-05-01", "@type": "schema:Date" },
      },
    ],
  };
  assert.equal(known("title", ld(prefixed)), "Tea");
  assert.equal(known("author", ld(prefixed)), "Ann Lee, Bo Ek");
  assert.equal(known("published_at", ld(prefixed)), "2024-05-01");
  const aliased = [
    { type: "Article", headline: "Tea", "http://schema.org/author": { "@set": [{ id: "#ann" }] } },
    { type: "Person", id: "#ann", name: "Ann Lee" },
  ];
  assert.equal(known("author", ld(aliased)), "Ann Lee");
  const twice = { "@type": "Article", "schema:headline": "Milk", headline: "Tea" };
  assert.equal(known("title", ld(twice)), "Tea");
});

test("a list in the spelling of JSON-LD that holds nothing, or a list, harms nothing", () => {
  const article = { "@type": "Article", headline: "Tea", author: [{ "@list": [{ name: "Ann Lee" }] }] };
  for (const other of [{ "@set": null }, { "@list": null, "@set": null }, { "@set": ["a", 1, []] }, { "@list": [] }]) {
    const page = `<title>Kettle</title>${ld([article, other])}`;
    assert.deepEqual([known("title", page), known("author", page)], ["Tea", "Ann Lee"], JSON.stringify(other));
    assert.equal(known("title", `<title>Kettle</title>${ld(other)}`), "Kettle");
  }
  assert.equal(known("title", ld({ "@set": [article] })), "Tea");
});

test("a number of a database is no identity", () => {
  const article = { type: "Article", id: "5", headline: "Tea is good", author: { type: "Person", id: "5", url: "/a" } };
  assert.equal(known("author", ld(article)), null);
  const offers = [
    { type: "Offer", id: "1", price: 10, priceCurrency: "EUR" },
    { type: "Offer", id: "1", price: 10, priceCurrency: "EUR" },
  ];
  assert.equal(known("price", ld({ type: "Product", id: "4711", name: "Pot", offers })), 10);
});

test("a property without a value is read in its other spelling", () => {
  const article = { "@type": "Article", headline: null, "https://www.schema.org/headline": "Tea" };
  assert.equal(known("title", ld(article)), "Tea");
});

test("references in a circle, and very many of them, end", { timeout: 60_000 }, () => {
  const circle = [
    { "@type": "Article", "@id": "#a", headline: "Circle", author: { "@id": "#b" }, image: { "@id": "#b" } },
    { "@type": "Person", "@id": "#b", author: { "@id": "#a" }, image: { "@id": "#b" } },
  ];
  assert.equal(known("title", ld(circle)), "Circle");
  assert.equal(known("author", ld(circle)), null);
  const many = Array.from({ length: 30_000 }, (_, index) => ({
    "@id": `#${index % 7}`,
    name: "x",
    next: { "@id": "#1" },
  }));
  assert.equal(known("author", ld({ "@type": "Article", author: { "@id": "#3" }, mentions: many })), "x");
});

const FAQ = { "@type": "FAQPage", name: "Questions", mainEntity: [{ "@type": "Question", name: "Why?" }] };
const REVIEW = {
  "@type": "Review",
  name: "Great!",
  author: { name: "Bo Ek" },
  itemReviewed: { "@type": "Thing", name: "It" },
};
const CHAIR = { "@type": "Product", name: "Chair", offers: { price: 49, priceCurrency: "EUR" } };

test("a product goes before the questions and reviews on its page", () => {
  assert.equal(known("title", ld([FAQ, REVIEW, CHAIR])), "Chair");
  assert.equal(known("price", ld([FAQ, REVIEW, CHAIR])), 49);
  assert.equal(known("author", ld([FAQ, REVIEW, CHAIR])), null);
});

test("what a page names as its main entity is read", () => {
  const page = { "@type": "ItemPage", name: "Shop", mainEntity: CHAIR };
  assert.equal(known("price", ld(page)), 49);
  assert.equal(known("title", ld(page)), "Chair");
  const reviewed = { "@type": "Review", name: "Tried: the chair", author: "Bo Ek", itemReviewed: CHAIR };
  const html = `${ld(reviewed)}<h1>Tried: the chair</h1>`;
  assert.equal(known("author", html), "Bo Ek");
  assert.equal(known("price", html), 49);
});

test("of several products the one with the page's address or headline counts; of a list none", () => {
  const other = { "@type": "Product", name: "Table", url: "/t", offers: { price: 99, priceCurrency: "EUR" } };
  const lamp = { "@type": "Product", name: "Lamp", url: "/l", offers: { price: 9, priceCurrency: "EUR" } };
  assert.equal(known("price", ld([other, { ...CHAIR, url: `${PAGE}/#top` }])), 49);
  assert.equal(known("price", `${ld([other, lamp, CHAIR])}<h1>Chair</h1>`), 49);
  assert.equal(known("price", ld([other, lamp])), null);
});

test("an article goes before its page, whichever comes first", () => {
  const page = { "@type": "WebPage", "@id": PAGE, name: "The page" };
  assert.equal(known("title", ld([page, { "@type": "NewsArticle", headline: "The news" }])), "The news");
});

test("the title is what the page shows: a headline that is a description is passed over", () => {
  const country = ld({ "@type": "Article", name: "New Zealand", headline: "constitutional monarchy in Oceania" });
  assert.equal(known("title", `${country}<title>New Zealand - Wikipedia</title><h1>New Zealand</h1>`), "New Zealand");
  const lead = ld({ "@type": "Article", headline: "Take a look at our list of tools" });
  assert.equal(known("title", `${lead}${og("og:title", "24 good tools")}<h1>24 good tools</h1>`), "24 good tools");
  assert.equal(known("title", `${og("og:title", "Shop")}${og("og:site_name", "Shop")}<h1>All socks</h1>`), "All socks");
});

test("character references in JSON-LD and twice escaped ones in meta are read", () => {
  const title = ld({ "@type": "Article", headline: "It&#8217;s here &amp;amp; now" });
  assert.equal(known("title", title), "It’s here & now");
  assert.equal(known("description", og("og:description", "Yoga &amp;amp; more&amp;#33;")), "Yoga & more!");
  const about = ld({ "@type": "Article", headline: "What &nbsp; means" });
  assert.equal(known("title", `${about}<title>What &amp;nbsp; means</title>`), "What &nbsp; means");
});

test("tags in the description of a product are left out", () => {
  assert.equal(
    known("description", ld({ "@type": "Product", description: "<p>One</p><p>two &lt; 3</p>" })),
    "One two < 3",
  );
});

test("microdata of comments and customers' reviews is not the page's", () => {
  const review = `<div itemscope itemtype=https://schema.org/Review><b itemprop=author>Bo Ek</b><meta itemprop=datePublished content=2020-01-01></div>`;
  assert.equal(known("author", review), null);
  assert.equal(known("published_at", review), null);
  const question = `<div itemscope itemtype=https://schema.org/QAPage><div itemprop=mainEntity itemscope itemtype=https://schema.org/Question><h1 itemprop=name>Why?</h1><p itemprop=author itemscope><b itemprop=name>Ann Lee</b></p></div></div>`;
  assert.equal(known("author", question), "Ann Lee");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { readSitemap, SITEMAP_LIMITS } from "../../src/extract/sitemap.ts";

const url = "https://site.example/sitemap.xml";
const read = (text: string, depth = 0) => readSitemap({ text, url, depth });
const addresses = (text: string) => read(text).urls.map((entry) => entry.url);
const NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

test("a sitemap gives its pages with dates and priorities", () => {
  const map = read(`<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet type="text/xsl" href="/style.xsl"?>
<urlset ${NS} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <!-- <url><loc>https://site.example/hidden</loc></url> -->
  <url><loc> https://site.example/a?x=1&amp;y=2#top </loc><lastmod>2026-05-12</lastmod><priority>0.8</priority>
    <image:image><image:loc>https://site.example/a.jpg</image:loc></image:image></url>
  <url><loc><![CDATA[https://site.example/b?x=1&y=2]]></loc><lastmod>2026-05-12T10:00:00+02:00</lastmod></url>
  <url><loc>https://site.example/a?x=1&amp;y=2</loc></url>
  <url><loc>https://site.example/c</loc><lastmod>2026-05</lastmod><priority>7</priority></url>
  <url><loc>https://site.example/d</loc><lastmod>yesterday</lastmod><priority></priority></url>
</urlset>`);
  assert.deepEqual(map, {
    kind: "urlset",
    urls: [
      { url: "https://site.example/a?x=1&y=2", lastmod: "2026-05-12", priority: 0.8 },
      { url: "https://site.example/b?x=1&y=2", lastmod: "2026-05-12T08:00:00Z", priority: null },
      { url: "https://site.example/c", lastmod: "2026-05", priority: null },
      { url: "https://site.example/d", lastmod: null, priority: null },
    ],
    sitemaps: [],
    truncated: false,
    problems: [],
  });
});

test("an index gives its sitemaps, down to the third index", () => {
  const index = `<sitemapindex ${NS}><sitemap><loc>https://site.example/1.xml.gz</loc><lastmod>2026-01-02</lastmod></sitemap>
    <sitemap><loc>/2.xml</loc></sitemap></sitemapindex>`;
  assert.deepEqual(read(index).sitemaps, [
    { url: "https://site.example/1.xml.gz", lastmod: "2026-01-02" },
    { url: "https://site.example/2.xml", lastmod: null },
  ]);
  assert.equal(read(index, SITEMAP_LIMITS.indexDepth - 1).sitemaps.length, 2);
  const deep = read(index, SITEMAP_LIMITS.indexDepth);
  assert.deepEqual([deep.kind, deep.sitemaps], ["index", []]);
  assert.match(deep.problems.join(), /nested more than 3 levels/);
});

test("names may carry a prefix", () => {
  const map =
    '<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9"><sm:url><sm:loc>https://a.example/</sm:loc></sm:url></sm:urlset>';
  assert.deepEqual(addresses(map), ["https://a.example/"]);
});

test("RSS, RDF and Atom feeds are lists of pages", () => {
  const rss = `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>https://site.example/</link>
    <atom:link href="https://site.example/feed" rel="self"/>
    <item><title>A</title><link>https://site.example/a</link><pubDate>Tue, 12 May 2026 10:00:00 +0200</pubDate></item>
    <item><guid>https://site.example/b</guid></item>
    <item><guid isPermaLink="false">tag:7</guid></item></channel></rss>`;
  assert.deepEqual(read(rss).urls, [
    { url: "https://site.example/a", lastmod: "2026-05-12T08:00:00Z", priority: null },
    { url: "https://site.example/b", lastmod: null, priority: null },
  ]);
  assert.equal(read(rss).kind, "feed");
  const rdf = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
    <item rdf:about="https://site.example/r"><link>https://site.example/r</link><dc:date>2026-05-12</dc:date></item></rdf:RDF>`;
  assert.deepEqual(read(rdf).urls, [{ url: "https://site.example/r", lastmod: "2026-05-12", priority: null }]);
  const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://site.example/"/>
    <entry><link rel="edit" href="/edit"/><link rel="alternate" href="/x"/><updated>2026-05-12T10:00:00Z</updated></entry>
    <entry><link href="/y"/><published>2026-05-11T00:00:00Z</published></entry></feed>`;
  assert.deepEqual(read(atom).urls, [
    { url: "https://site.example/x", lastmod: "2026-05-12T10:00:00Z", priority: null },
    { url: "https://site.example/y", lastmod: "2026-05-11T00:00:00Z", priority: null },
  ]);
});

test("a plain list has one address a line", () => {
  const list = read(
    "\uFEFFhttps://site.example/a\r\n\r\n  https://site.example/b  \r/relative\nftp://site.example/c\nhttps://site.example/a\n",
  );
  assert.equal(list.kind, "text");
  assert.deepEqual(
    list.urls.map((entry) => entry.url),
    ["https://site.example/a", "https://site.example/b"],
  );
  assert.match(list.problems.join(), /without an http or https URL/);
});

test("what is no list of addresses says so", () => {
  const cases: [string, RegExp][] = [
    ["", /the file is empty/],
    ["  \n ", /the file is empty/],
    ["not found", /expected a sitemap, a feed or one URL per line/],
    ["<!doctype html><html><body><a href=/x>x</a></body></html>", /found <html>/],
    ["<", /found no element/],
    ['{"urls": []}', /expected a sitemap/],
  ];
  for (const [text, message] of cases) {
    const none = read(text);
    assert.deepEqual([none.kind, none.urls, none.sitemaps], ["none", [], []], text);
    assert.match(none.problems.join(), message);
  }
});

test("addresses that are no web addresses are left out, and the rest stays", () => {
  const locs = [
    "javascript:alert(1)",
    "",
    "file:///etc/passwd",
    `https://a.example/${"x".repeat(9_000)}`,
    "http://[bad",
    "https://a.example/ok",
  ];
  const map = read(`<urlset>${locs.map((loc) => `<url><loc>${loc}</loc></url>`).join("")}<url/></urlset>`);
  assert.deepEqual(
    map.urls.map((entry) => entry.url),
    ["https://a.example/ok"],
  );
  assert.equal(map.problems.length, 1);
});

const full = (count: number, name = "url") =>
  Array.from(
    { length: count },
    (_, index) =>
      `  <${name}>\n    <loc>https://site.example/${index}</loc>\n    <lastmod>2026-05-12</lastmod>\n    <changefreq>daily</changefreq>\n    <priority>0.5</priority>\n  </${name}>\n`,
  ).join("");

test("all 50,000 entries of a full sitemap are read, and no more [slow]", () => {
  const whole = read(`<urlset ${NS}>\n${full(50_000)}</urlset>`);
  assert.equal(whole.urls.length, 50_000);
  assert.deepEqual(whole.urls.at(-1), { url: "https://site.example/49999", lastmod: "2026-05-12", priority: 0.5 });
  assert.deepEqual([whole.truncated, whole.problems], [false, []]);
  const more = read(`<urlset ${NS}>\n${full(50_001)}</urlset>`);
  assert.equal(more.urls.length, 50_000);
  assert.equal(more.truncated, true);
  assert.match(more.problems.join(), /more than 50000 entries; the rest was not read/);
});

test("comments and raw text of any length hide what is in them, also in large files", () => {
  const hidden = "<url><loc>https://site.example/hidden</loc></url>\n".repeat(12_000);
  const shown = full(5_000);
  const map = read(
    `<urlset ${NS}>${shown}<!-- ${hidden} --><url><loc>https://site.example/end</loc></url><x><![CDATA[${hidden}]]></x></urlset>`,
  );
  assert.equal(map.urls.length, 5_001);
  assert.ok(!map.urls.some((entry) => entry.url.endsWith("/hidden")));
});

test("a file that is cut gives what was whole in it", () => {
  const whole = `<urlset ${NS}>${full(3)}`;
  for (const rest of ["<url><loc>https://site.example/la", "<url><loc>https://site.example/", "<url", "<", "</u", ""]) {
    assert.equal(read(whole + rest).urls.length, 3, rest);
  }
  assert.deepEqual(addresses("<urlset><url><loc>https://site.example/a</lo"), ["https://site.example/a"]);
  assert.deepEqual(addresses("<urlset><url><loc>https://site.example/hal"), []);
  assert.equal(read("<urlset").kind, "none");
});

test("of a file beyond the limit of its length, only whole addresses are read", () => {
  const filler = `<!--${"x".repeat(SITEMAP_LIMITS.characters - 120)}-->`;
  const map = read(
    `<urlset>${filler}<url><loc>https://site.example/a</loc></url><url><loc>https://site.example/${"b".repeat(200)}</loc></url>`,
  );
  assert.deepEqual(
    map.urls.map((entry) => entry.url),
    ["https://site.example/a"],
  );
  assert.equal(map.truncated, true);
  const lines = read(
    `https://site.example/a\n${"\n".repeat(SITEMAP_LIMITS.characters - 60)}https://site.example/${"b".repeat(200)}\n`,
  );
  assert.deepEqual([lines.urls.length, lines.truncated], [1, true]);
});

test("document types and entities of the file's own mean nothing", () => {
  const bomb = `<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "https://evil.example/"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>https://site.example/&b;&f;</loc></url></urlset>`;
  assert.deepEqual(addresses(bomb), ["https://site.example/&b;&f;"]);
});

test("files made to be slow come to an end [slow]", () => {
  const pieces = [
    "<url>",
    "<url><loc>",
    "<!--</url>-->",
    "<![CDATA[</url>]]>",
    "</url>",
    "<url><loc>https://site.example/</loc></url>",
    "<!--",
    "<x ",
    "&amp;",
  ];
  for (const piece of pieces) {
    const map = read(`<urlset>${piece.repeat(Math.floor(4_000_000 / piece.length))}`);
    assert.equal(map.kind, "urlset");
    assert.ok(map.urls.length <= 1, piece);
  }
});

test("no text makes it throw", () => {
  const piece = fc.constantFrom(
    "<urlset>",
    "</urlset>",
    "<url>",
    "</url>",
    "<loc>",
    "</loc>",
    "<feed>",
    "<rss>",
    "<item>",
    "<link",
    " href='",
    "'/>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<!DOCTYPE x [",
    "]>",
    "https://a.example/",
    "&amp;",
    "&#0;",
    "\0",
    "\n",
  );
  fc.assert(
    fc.property(
      fc.array(fc.oneof(piece, fc.string({ unit: "binary", maxLength: 5 }))),
      fc.boolean(),
      (parts, markup) => {
        const map = read((markup ? "<urlset>" : "") + parts.join(""));
        for (const { url: address } of map.urls) assert.match(address, /^https?:\/\//);
      },
    ),
    { numRuns: 2_000 },
  );
});

test("a loc without a scheme, or that is relative, is the page that is meant", () => {
  const cases: [loc: string, page: string][] = [
    ["site.example/x", "https://site.example/x"],
    ["www.site.example/x?y=1", "https://www.site.example/x?y=1"],
    ["shop.site.example", "https://shop.site.example/"],
    ["site.example:8080/x", "https://site.example:8080/x"],
    ["//site.example/x", "https://site.example/x"],
    ["//cdn.example/x", "https://cdn.example/x"],
    ["https:/site.example/x", "https://site.example/x"],
    ["http:site.example/x", "http://site.example/x"],
    ["/x", "https://site.example/x"],
    ["x.html", "https://site.example/x.html"],
    ["other.example/x", "https://site.example/other.example/x"],
  ];
  for (const [loc, page] of cases) {
    assert.deepEqual(addresses(`<urlset><url><loc>${loc}</loc></url></urlset>`), [page], loc);
    const index = `<sitemapindex><sitemap><loc>${loc}</loc></sitemap></sitemapindex>`;
    assert.deepEqual(
      read(index).sitemaps.map((entry) => entry.url),
      [page],
      loc,
    );
  }
});

test("entities that XML does not know, and a bare &, do an address no harm", () => {
  const cases: [loc: string, page: string][] = [
    ["https://site.example/a&nbsp;", "https://site.example/a"],
    ["&nbsp;https://site.example/a", "https://site.example/a"],
    ["https://site.example/caf&eacute;", "https://site.example/caf%C3%A9"],
    ["https://site.example/?a=1&b=2", "https://site.example/?a=1&b=2"],
    ["https://site.example/?a=1&copy=2&lt=3&amp;d=4", "https://site.example/?a=1&copy=2&lt=3&d=4"],
    ["https://site.example/?a=1&unknown;b", "https://site.example/?a=1&unknown;b"],
    ["https://site.example/?q=&#97;&#x62;", "https://site.example/?q=ab"],
  ];
  for (const [loc, page] of cases) {
    assert.deepEqual(addresses(`<urlset><url><loc>${loc}</loc></url></urlset>`), [page], loc);
  }
});

test("every loc of an entry is a page, and those of its pictures are none", () => {
  const map = `<urlset ${NS} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url>
    <image:image><image:loc>https://site.example/a.jpg</image:loc></image:image>
    <loc>https://site.example/a</loc><lastmod>2026-05-12</lastmod><loc>https://site.example/b</loc></url>
    <url><image:loc>https://site.example/c.jpg</image:loc><loc>https://site.example/c</loc></url></urlset>`;
  assert.deepEqual(
    read(map).urls.map((entry) => [entry.url, entry.lastmod]),
    [
      ["https://site.example/a", "2026-05-12"],
      ["https://site.example/b", "2026-05-12"],
      ["https://site.example/c", null],
    ],
  );
  const index = `<sitemapindex><sitemap><loc>/1.xml</loc><loc>/2.xml</loc></sitemap></sitemapindex>`;
  assert.equal(read(index).sitemaps.length, 2);
});

test("names may be in capitals", () => {
  const page = ["https://site.example/a"];
  assert.deepEqual(addresses(`<URLSET><URL><LOC>${page[0]}</LOC></URL></URLSET>`), page);
  assert.deepEqual(addresses(`<urlset ${NS}><Url><Loc>${page[0]}</Loc></Url></urlset>`), page);
  const index = read(`<SitemapIndex><Sitemap><loc>${page[0]}</loc></Sitemap></SitemapIndex>`);
  assert.deepEqual(index.sitemaps, [{ url: page[0], lastmod: null }]);
});

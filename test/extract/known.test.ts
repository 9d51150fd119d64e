import assert from "node:assert/strict";
import { test } from "node:test";
import { known, ld, og } from "./known-field.ts";

/** Each page holds one source less than the one before: the answer moves down the stated order. */
const ORDERS: Record<string, readonly [html: string, value: unknown][]> = {
  title: [
    [
      ld({ "@type": "Article", headline: "Data" }) + og("og:title", "Graph") + "<title>Tag</title><h1>Head</h1>",
      "Data",
    ],
    [ld({ "@type": "Organization", name: "Firm" }) + og("og:title", "Graph") + "<title>Tag</title>", "Graph"],
    ["<meta name=twitter:title content=Bird><title>Tag</title>", "Bird"],
    ["<title>Tag\n and more</title><h1>Head</h1>", "Tag and more"],
    ["<svg><title>Icon</title></svg><h1>Head</h1>", "Head"],
    ["<p>x", null],
  ],
  description: [
    [ld({ "@type": "Product", description: "Data" }) + og("og:description", "Graph"), "Data"],
    [og("og:description", "Graph") + "<meta name=description content=Meta>", "Graph"],
    ["<meta name=Description content=' Meta  text '>", "Meta text"],
  ],
  author: [
    [ld({ "@type": "BlogPosting", author: [{ name: "A" }, { name: "B" }] }), "A, B"],
    [ld({ "@type": "BlogPosting", author: "C" }), "C"],
    [
      "<div itemscope itemtype=https://schema.org/Article><span itemprop=author itemscope><b itemprop=name>D</b></span></div>",
      "D",
    ],
    ["<meta name=author content=E><a rel=author href=/f>F</a>", "E"],
    [`${og("article:author", "https://social.example/f")}<a rel="author" href=/f>F</a>`, "F"],
  ],
  published_at: [
    [
      ld({ "@type": "Article", datePublished: "2024-05-01T10:00:00+02:00" }) +
        og("article:published_time", "2020-01-01"),
      "2024-05-01T08:00:00Z",
    ],
    [
      `${ld({ "@type": "Article", datePublished: "1970-01-01T00:00:00+00:00" })}${og("article:published_time", "2020-01-01")}`,
      "2020-01-01",
    ],
    [og("article:published_time", "1969-12-31T19:00:00-05:00"), null],
    [`${og("article:published_time", "1970-01-01")}<meta name=date content=2024-05-01>`, "2024-05-01"],
    ["<time datetime=1970-01-01T00:00:00Z>x</time><time datetime=2024-05-01>y</time>", "2024-05-01"],
    [og("article:published_time", "1970-01-01T12:34:56Z"), "1970-01-01T12:34:56Z"],
    [`${ld({ "@type": "Article", datePublished: "soon" })}${og("article:published_time", "2020-01-01")}`, "2020-01-01"],
    ["<div itemscope><time itemprop=datePublished datetime=2019-02-03>x</time></div>", "2019-02-03"],
    [
      "<time class=updated datetime=2022-01-01>x</time><time class=published datetime=2021-01-01>y</time>",
      "2021-01-01",
    ],
    ["<time>May 1, 2020</time>", "2020-05-01"],
    [
      ld({ "@type": "Article", dateCreated: "2018-01-01" }) +
        "<div itemscope itemtype=https://schema.org/Article><meta itemprop=datePublished content=2019-02-03></div>",
      "2019-02-03",
    ],
    [
      `${ld({ "@type": "Article", dateCreated: "2018-01-01" })}${og("article:published_time", "2020-01-01")}`,
      "2020-01-01",
    ],
    [ld({ "@type": "Article", dateCreated: "2018-01-01" }), "2018-01-01"],
    [ld({ "@type": "Article", datePublished: "2024-05-01T10:00:00&#43;02:00" }), "2024-05-01T08:00:00Z"],
    ["<article><p>Text</p></article><section class=comments><time datetime=2022-01-01>x</time></section>", null],
    ["<article><h1>News</h1><p class=entry-date>1 May 2020</p></article>", "2020-05-01"],
  ],
  modified_at: [["<time class=updated datetime=2022-01-01>x</time>", "2022-01-01"]],
  price: [
    [ld({ "@type": "Product", offers: [{ price: "12.50", priceCurrency: "EUR" }] }), 12.5],
    [ld({ "@type": "Product", offers: { "@type": "AggregateOffer", lowPrice: 9 } }), 9],
    ["<div itemscope><meta itemprop=price content=7.20></div>", 7.2],
    [og("product:price:amount", "5.00"), 5],
    [`<p class="old-price">£99</p><p class="price_color">£51.77</p>`, 51.77],
    [`<html lang=de><p class="price">1.299 €</p>`, 1299],
    [`<p class="price">on request</p>`, null],
  ],
  currency: [
    [ld({ "@type": "Product", offers: { price: 1, priceCurrency: "eur" } }), "EUR"],
    [`<p class="price">£51.77</p>`, "GBP"],
    [`<p class="price">CHF 12.–</p>`, "CHF"],
  ],
  image: [
    [
      ld({ "@type": "Article", image: [{ "@type": "ImageObject", url: "/d.jpg" }] }) + og("og:image", "/g.jpg"),
      "https://site.example/d.jpg",
    ],
    [og("og:image", "//cdn.example/g.jpg") + "<img src=i.jpg>", "https://cdn.example/g.jpg"],
    ["<img src=p.gif width=1 height=1><img src=i.jpg>", "https://site.example/a/i.jpg"],
    [og("og:image", "javascript:x"), null],
    [og("og:image", "data:image/png;base64,AAAA") + "<img src=i.jpg>", "https://site.example/a/i.jpg"],
    ["<img src=/lazy/placeholder.svg><img src=/img/blank.gif><img src=i.jpg>", "https://site.example/a/i.jpg"],
    ["<img src=/woocommerce-placeholder-600x600.png><img src=i.jpg>", "https://site.example/a/i.jpg"],
    ["<img src=no-image.png><img src=/shop/google-pixel.png>", "https://site.example/shop/google-pixel.png"],
    ["<img src=empty-00012.jpg>", "https://site.example/a/empty-00012.jpg"],
    ["<img src=p.gif style='width:1px;height:1px'><img src=logo.svg><img src=i.jpg>", "https://site.example/a/i.jpg"],
  ],
  images: [
    [
      `${og("og:image", "/g.jpg")}<img src=i.jpg><img src=i.jpg><img data-src=late.jpg src="data:x">`,
      ["https://site.example/g.jpg", "https://site.example/a/i.jpg", "https://site.example/a/late.jpg"],
    ],
  ],
  site_name: [
    [og("og:site_name", "Site"), "Site"],
    [ld({ "@type": "Article", publisher: { name: "Press" } }), "Press"],
  ],
  language: [
    ["<html lang=pt-BR>", "pt-BR"],
    [og("og:locale", "en_US"), "en-US"],
    [`<html lang="">${og("og:locale", "en_GB")}`, "en-GB"],
    [ld({ "@type": "Article", inLanguage: { "@type": "Language", name: "German", alternateName: "de" } }), "de"],
    ["<p>Das ist ein Satz, der lang genug ist, und mit den Wörtern, die man in der Sprache oft findet.", "de"],
  ],
  canonical_url: [
    ["<link rel=canonical href=/c>", "https://site.example/c"],
    [og("og:url", "https://site.example/o"), "https://site.example/o"],
  ],
  keywords: [
    [ld({ "@type": "Article", keywords: ["a", "b"] }), ["a", "b"]],
    ["<meta name=keywords content='x, y,, x'>", ["x", "y"]],
    ["<a rel=tag href=/t>T</a>", ["T"]],
    [og("article:tag", "one") + og("article:tag", "two"), ["one", "two"]],
    [ld({ "@type": "Article", keywords: "rock &#8217;n&#8217; roll; R&amp;B" }), ["rock ’n’ roll", "R&B"]],
  ],
  headings: [
    [
      "<h1>A</h1><h3>B <i>c</i></h3><h2></h2>",
      [
        { level: 1, text: "A" },
        { level: 3, text: "B c" },
      ],
    ],
  ],
  tables: [
    [
      "<table><tr><th>a<th>b<tr><td>1<td>2</table><table><tr><td>layout</table>",
      [
        [
          ["a", "b"],
          ["1", "2"],
        ],
      ],
    ],
  ],
  links: [["<a href=x>1</a><a href=x#y>2</a><a href=/z>3</a>", ["https://site.example/a/x", "https://site.example/z"]]],
};

for (const [name, pages] of Object.entries(ORDERS)) {
  for (const [html, value] of pages) {
    test(`${name} of ${html.slice(0, 90)}`, () => assert.deepEqual(known(name, html), value));
  }
}

test("JSON-LD with line ends in strings, trailing commas or comments around it is still read", () => {
  const broken = `<script type="application/ld+json"><!-- {"@type": "Article", "headline": "Line\none",} --></script>`;
  assert.equal(known("title", broken), "Line one");
  assert.equal(known("title", `<script type="application/ld+json">{nonsense</script><title>T</title>`), "T");
});

test("text and Markdown keep their lines", () => {
  const html = "<article><p>One, two, three, four, five, six.</p><ul><li>a</li><li>b</li></ul></article>";
  assert.equal(known("text", html), "One, two, three, four, five, six.\n\na\nb");
  assert.equal(known("markdown", html), "One, two, three, four, five, six.\n\n- a\n- b");
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../support/properties.ts";
import type { DocumentRequest } from "../../src/domain/page/page-options.ts";
import type { PageDocument } from "../../src/extract/document/read.ts";
import { parseHtml } from "../../src/extract/dom/parse.ts";
import { elementsBelow } from "../../src/extract/dom/nodes.ts";
import { extractPage } from "../../src/extract/page.ts";
import { compilePlan, parsePlan } from "../../src/extract/plan.ts";

const URL = "https://shop.example/deep/page.html?q=1";

function documentOf(body: string, document: Partial<DocumentRequest>, contentType = "text/html"): PageDocument {
  const read = extractPage({ body, contentType, url: URL }, compilePlan({ document, links: false })).document;
  assert.ok(read !== undefined);
  return read;
}

const STORY = "A long enough sentence about spiders, webs, and the patience that both of them take. ".repeat(6);
const PAGE = `<!doctype html><html lang="de-AT"><head><title> The  title </title>
  <meta name="description" content="About webs"><meta name="keywords" content="web, spider"><meta name="robots" content="noarchive">
  <meta property="og:title" content="The OG title"><meta property="og:image" content="/1.png"><meta property="og:image" content="/2.png">
  <meta name="url" content="https://elsewhere.example/"></head>
  <body><nav><a href="/home">Home</a><img src="/logo.png"></nav>
  <article><h1>Spiders</h1><p class="lead">${STORY}</p><p class="ad">Buy <b>now</b></p><a href="more.html#top">More</a></article>
  <footer><a href="/home">Home again</a></footer></body></html>`;

describe("the document of a page", () => {
  test("has the main content unless told, in the forms that were asked for and in no other", () => {
    const { markdown, html, ...rest } = documentOf(PAGE, { formats: ["markdown", "html"] });
    assert.match(markdown!, /^# Spiders\n\nA long enough/);
    assert.match(markdown!, /\[More\]\(https:\/\/shop\.example\/deep\/more\.html#top\)/);
    assert.match(html!, /^<article><h1>Spiders<\/h1>/);
    for (const form of [markdown!, html!]) assert.doesNotMatch(form, /Home/);
    assert.deepEqual(Object.keys(rest), ["metadata", "truncated"]);
    assert.deepEqual(rest.truncated, []);
  });

  test("has all of the page, when that is asked for", () => {
    const { markdown, html } = documentOf(PAGE, { formats: ["markdown", "html"], only_main_content: false });
    for (const form of [markdown!, html!]) assert.match(form, /Home[^]*Spiders[^]*Home again/);
    assert.match(html!, /<nav><a href="https:\/\/shop\.example\/home">/);
  });

  test("says what the page says about itself, with lists where it says several things", () => {
    assert.deepEqual(documentOf(PAGE, { formats: [] }).metadata, {
      title: "The title",
      description: "About webs",
      language: "de-AT",
      keywords: "web, spider",
      robots: "noarchive",
      "og:title": "The OG title",
      "og:image": ["/1.png", "/2.png"],
      url: "https://elsewhere.example/",
    });
    const nothing = documentOf("<p>x", { formats: [] }).metadata;
    assert.deepEqual(nothing, { title: null, description: null, language: null, keywords: null, robots: null });
  });

  test("keeps what include_tags match, in the order of the page and each once, without what exclude_tags match", () => {
    const body = `<body><div id=b><p>Second</p></div><div class=a><p>First of a <i class=no>not this</i></p><div class=a>Nested</div></div>
      <section class=no><div class=a>Inside what is left out</div></section><p>Nobody</p></body>`;
    const { markdown, html } = documentOf(body, {
      formats: ["markdown", "html"],
      include_tags: [".a", "#b"],
      exclude_tags: [".no"],
    });
    assert.equal(markdown, "Second\n\nFirst of a\n\nNested");
    assert.equal(
      html,
      '<div id="b"><p>Second</p></div>\n<div class="a"><p>First of a </p><div class="a">Nested</div></div>',
    );
    assert.equal(documentOf(body, { formats: ["markdown"], include_tags: [".x"] }).markdown, "", "nothing is nothing");
    const link = '<p>See <a class=a href="/x">this</a></p>';
    assert.equal(documentOf(link, { include_tags: ["a"] }).markdown, "[this](https://shop.example/x)");
  });

  test("exclude_tags also take from the main content, and may take all of it", () => {
    const { markdown } = documentOf(PAGE, { exclude_tags: [".ad", "h1"] });
    assert.match(markdown!, /^A long enough/);
    assert.doesNotMatch(markdown!, /Buy|Spiders/);
    assert.equal(documentOf(PAGE, { exclude_tags: ["body"] }).markdown, "");
  });

  test("links are those of the whole page, absolute, each once, in their order", () => {
    const { links } = documentOf(PAGE, { formats: ["links"] });
    assert.deepEqual(links, ["https://shop.example/home", "https://shop.example/deep/more.html"]);
    const only = documentOf(PAGE, { formats: ["links", "images"], include_tags: ["article"] });
    assert.deepEqual([only.links, only.images], [["https://shop.example/deep/more.html"], []]);
    const strange = `<base href="/other/"><a href=" x.html ">1</a><a href="javascript:alert(1)">2</a><a href="#top">3</a>
      <a href="//cdn.example/y">4</a><a href="mailto:a@b.example">5</a><area href="?z"><template><a href=/t>6</a></template>`;
    assert.deepEqual(documentOf(strange, { formats: ["links"] }).links, [
      "https://shop.example/other/x.html",
      "https://cdn.example/y",
      "https://shop.example/other/?z",
    ]);
  });

  test("images come from src, from late addresses and from every srcset, commas and all", () => {
    const body = `<base href="https://img.example/a/"><img src="1.png" srcset="1.png 1x,2.png 2x, /w_1,h_2/3.png 3x">
      <picture><source srcset="4.webp, 5.webp 480w"><img src="data:image/gif;base64,R0lG" data-src="6.png"></picture>
      <img src="7.gif" width="1" height="1"><img src="1.png"><video><source src="8.mp4"></video>`;
    const { images, html } = documentOf(body, { formats: ["images", "html"] });
    const at = (path: string) => `https://img.example/${path}`;
    assert.deepEqual(images, [
      at("a/1.png"),
      at("a/2.png"),
      at("w_1,h_2/3.png"),
      at("a/4.webp"),
      at("a/5.webp"),
      at("a/6.png"),
    ]);
    assert.ok(html!.includes(`srcset="${at("a/1.png")} 1x, ${at("a/2.png")} 2x, ${at("w_1,h_2/3.png")} 3x"`), html);
    assert.ok(html!.includes(`<source srcset="${at("a/4.webp")}, ${at("a/5.webp")} 480w">`), html);
  });

  test("html keeps forms and what programs find their way by, and nothing that runs", () => {
    const body = `<form action="/go" onsubmit="x()"><label for=q>Q</label><input id=q name=q type=text value='a"b' data-test=1 style="color:red" onfocus=x()>
      <select><option selected>1</select><textarea name=t>&lt;/textarea&gt;<script>1</script></textarea><button formaction="javascript:x()">Go</button></form>
      <iframe srcdoc="<script>1</script>">y</iframe><noscript><img src=x></noscript><style>p{}</style><svg><script>1</script></svg><object data=x></object>`;
    const { html } = documentOf(body, { formats: ["html"], only_main_content: false });
    assert.match(
      html!,
      /<form action="https:\/\/shop\.example\/go"><label for="q">Q<\/label><input id="q" name="q" type="text" value="a&quot;b" data-test="1">/,
    );
    assert.match(
      html!,
      /<textarea name="t">&lt;\/textarea&gt;&lt;script&gt;1&lt;\/script&gt;<\/textarea><button>Go<\/button><\/form>/,
    );
    assert.doesNotMatch(html!, /<(?:script|style|iframe|noscript|svg|object)|\son\w+=|style=|javascript:/i);
  });

  test("raw_html is the page as it was received", () => {
    assert.equal(documentOf(PAGE, { formats: ["raw_html"] }).raw_html, PAGE);
  });

  test("what is no page is shown as it is", () => {
    const json = documentOf('{"a": "<b>"}', { formats: ["markdown", "html", "links"] }, "application/json");
    assert.deepEqual(
      [json.markdown, json.html, json.links],
      ['```json\n{"a": "<b>"}\n```', '<pre>{"a": "&lt;b&gt;"}</pre>', []],
    );
    assert.equal(documentOf("just\ntext", {}, "text/plain").markdown, "just\ntext");
  });

  test("what is too long is cut, and named", () => {
    const long = `<body><p>${"many words, ".repeat(400_000)}</p><p>the end</p></body>`;
    const read = documentOf(long, { formats: ["markdown", "html", "raw_html", "links"], only_main_content: false });
    assert.deepEqual(read.truncated, ["markdown", "html", "raw_html"]);
    assert.equal(read.raw_html!.length, 2_000_000);
    assert.doesNotMatch(read.html!, /the end/);
    const many = Array.from({ length: 10_001 }, (_, n) => `<a href="/${n}">x</a>`).join("");
    assert.deepEqual(documentOf(many, { formats: ["links"] }).truncated, ["links"]);
  });

  test("is not made when nobody asks for it", () => {
    assert.equal(extractPage({ body: PAGE, contentType: "text/html", url: URL }, compilePlan({})).document, undefined);
  });

  test("mistakes are named with their path", () => {
    const errors = (spec: object) => parsePlan(spec).errors?.map(({ path, message }) => `${path}: ${message}`) ?? [];
    assert.deepEqual(errors({ document: { formats: ["html", "htm", "html"], include_tags: ["p", "p["], colour: 1 } }), [
      'document.colour: unknown key "colour": known are formats, only_main_content, include_tags, exclude_tags',
      'document.formats[1]: unknown format "htm", did you mean "html"?',
      'document.formats[2]: "html" appears twice',
      ...errors({ document: { include_tags: ["p", "p["] } }),
    ]);
    assert.match(errors({ document: { include_tags: ["p", "p["] } })[0]!, /^document\.include_tags\[1\]: /);
    assert.match(
      errors({ document: { formats: ["screenshot", "screenshot_full"] } })[0]!,
      /^document\.formats: use either screenshot .* or screenshot_full .* not both$/,
    );
    assert.match(errors({ document: {}, fields: { document: "h1" } })[0]!, /^fields\.document: /);
    assert.deepEqual(errors({ fields: { document: "h1" } }), [], "without one the name is free");
  });
});

const piece = fc.oneof(
  fc.constantFrom(
    "<script>alert(1)</script>",
    "<scr<script>ipt>",
    "</script>",
    "<svg><script href=x>",
    "<math><mtext><img src=x onerror=alert(1)>",
    "<noscript><p title='</noscript><script>alert(1)</script>'>",
    "<textarea><script>",
    "</textarea>",
    "<template><script>1</script></template>",
    "<a href='java&#115;cript:alert(1)'>x</a>",
    "<a href=' javascript:alert(1)'>x",
    "<form action=javascript:x()><button>",
    "<iframe srcdoc='<script>1</script>'>",
    "<style><!--</style><script>1</script>-->",
    "<!--<script>-->",
    "<xmp><script>",
    "<plaintext>",
    "<title><script>1</script></title>",
    "<select><script>1</script>",
    "<table><script>1</script><tr><td>",
    "<img srcset='javascript:x 1x' onload=x()>",
    "<object data=x><embed src=y>",
    "<details open ontoggle=x()>",
    "<div data-x='\"><script>1</script>'>",
    "<p>",
    "</p>",
    "<![CDATA[<script>]]>",
  ),
  fc.string({ maxLength: 20 }),
  fc.constantFrom("<", ">", "'", '"', "&lt;script&gt;", "\0"),
);

test("whatever a page is made of, nothing that runs is left in its html, read again by the same rules", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 25 }), fc.boolean(), (pieces, main) => {
      const body = pieces.join("");
      const { html } = documentOf(body, { formats: ["html"], only_main_content: main });
      const again = documentOf(body, { formats: ["html"], include_tags: ["script", "body", "*"] });
      for (const text of [html!, again.html!]) {
        const tree = parseHtml(text);
        for (const element of elementsBelow(tree.root)) {
          const { name } = element.tag;
          assert.ok(
            !/^(?:script|style|iframe|noscript|object|embed|svg|math|template|base|meta|link)$/.test(name),
            text,
          );
          for (let at = 0; at < element.attributes.length; at += 2) {
            const [key, value] = [element.attributes[at]!, element.attributes[at + 1]!];
            assert.ok(!/^on|^style$|^srcdoc$/.test(key), `${key} in ${text}`);
            if (/^(?:href|src|action|poster|cite)$/.test(key)) assert.match(value, /^(?:https?|mailto|tel|ftp):/, text);
          }
        }
      }
    }),
    { numRuns: 300 },
  );
});

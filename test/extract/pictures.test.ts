import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cleanHtml } from "../../src/extract/values/clean-html.ts";
import { elementsBelow } from "../../src/extract/dom/nodes.ts";
import { parsePage } from "../../src/extract/page.ts";
import { markdownOf } from "./read-back.ts";

const REAL = "![](https://site.example/real.jpg)";
const BLANK = "data:image/gif;base64,R0";

describe("the address of a picture", () => {
  const PICTURES: Record<string, [html: string, markdown: string]> = {
    "loaded late": [`<img src="${BLANK}" data-src="/real.jpg">`, REAL],
    "settings beside it": [`<img src="/real.jpg" data-src='{"a":"/b.jpg"}'>`, REAL],
    "a switch beside it": ['<img src="/real.jpg" data-lazy="true">', REAL],
    "a placeholder beside it": [`<img src="/real.jpg" data-src="${BLANK}">`, REAL],
    "a template beside it": ['<img src="/real.jpg" data-src="{{ url }}">', REAL],
    "behind a blank picture": ['<img src="/img/blank.gif" data-original="/real.jpg">', REAL],
    "nothing but a blank picture": ['<img src="/img/spacer.gif">', ""],
    "the largest of a set": [`<img src="${BLANK}" srcset="/s.jpg 100w, /real.jpg 900w, /m.jpg 500w">`, REAL],
    "a set that is loaded late": [`<img src="${BLANK}" data-srcset="/s.jpg 1x, /real.jpg 2x">`, REAL],
    "offered by the element around it": ['<picture><source srcset="/real.jpg"><img alt=""></picture>', REAL],
    "for readers without scripts": [`<img src="${BLANK}"><noscript><img src="/real.jpg"></noscript>`, REAL],
    "for readers without scripts, after another picture": [
      `<img src="/real.jpg"><img src="${BLANK}"><noscript><img src="/real.jpg"></noscript>`,
      REAL + REAL,
    ],
    "only for readers without scripts": ['<div><noscript><img src="/real.jpg"></noscript></div>', REAL],
    twice: ['<img data-src="/real.jpg"><noscript><img src="/other.jpg"></noscript>', REAL],
    "a visitor's counter": ['<img src="/count.gif" width="1" height="1">', ""],
    "a counter for readers without scripts": ['<noscript><img src="/c" height="1" width="1"></noscript>', ""],
    "words for readers without scripts": ['<noscript>Enable it <img src="/real.jpg"></noscript>', ""],
    "an address with spaces": ['<img src="/a b.jpg">', "![](https://site.example/a%20b.jpg)"],
    "a description with signs": [
      '<img src="/real.jpg" alt="a [b] *c*">',
      "![a \\[b\\] \\*c\\*](https://site.example/real.jpg)",
    ],
    "a title as description": ['<img src="/real.jpg" alt="" title="T">', "![T](https://site.example/real.jpg)"],
  };
  for (const [what, [html, markdown]] of Object.entries(PICTURES))
    test(what, () => assert.equal(markdownOf(html), markdown));

  test("clean HTML has it, too", () => {
    const { facts } = parsePage({
      body: `<img src="${BLANK}" data-src="/real.jpg" alt="A">`,
      contentType: "text/html",
      url: "https://site.example/",
    });
    const body = [...elementsBelow(facts.document.root)].find((element) => element.tag.name === "body");
    assert.equal(cleanHtml(body!, facts.resolve), '<img src="https://site.example/real.jpg" alt="A">');
  });
});

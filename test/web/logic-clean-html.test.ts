import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { cleanHtml } from "../../web/src/ui/logic/clean-html.ts";

/** Everything in it, as a browser reads it. */
function elementsOf(html: string): DefaultTreeAdapterTypes.Element[] {
  const found: DefaultTreeAdapterTypes.Element[] = [];
  const walk = (node: DefaultTreeAdapterTypes.ParentNode) => {
    for (const child of node.childNodes) {
      if (!("tagName" in child)) continue;
      found.push(child);
      walk(child);
      if ("content" in child) walk(child.content);
    }
  };
  walk(parse(html, { scriptingEnabled: false }));
  return found;
}

const acting = (html: string) =>
  elementsOf(html).flatMap(({ tagName, attrs }) => [
    ...(/^(?:script|iframe|object|embed|base|meta|link|template)$/.test(tagName) ? [tagName] : []),
    ...attrs.filter(({ name, value }) => /^on/i.test(name) || /^\s*javascript:/i.test(value)).map(({ name }) => name),
  ]);

const HOSTILE = [
  `<img src="/x.png" onerror="parent.hurt=1">`,
  `<body ONLOAD=a()><p OnClick = 'b()'>text`,
  `<svg onload=a()><a xlink:href="javascript:b()">c</a><script>d()</script></svg>`,
  `<math><mtext><table><mglyph><style><img src=x onerror=a()></style></mglyph></table></mtext></math>`,
  `<noscript><p title="</noscript><img src=x onerror=a()>"></noscript>`,
  `<template><img onerror=a()></template><iframe srcdoc="<img onerror=a()>"></iframe>`,
  `<form action="javascript:a()"><button formaction=" java\nscript:b()" autofocus>x</button></form>`,
  `<a href="&#106;avascript&colon;a()">x</a><a href="vbscript:a()">y</a>`,
  `<title>&lt;img src=x onerror=a()&gt;</title><textarea></textarea><img onerror=b()>`,
];

test("nothing that acts is left in hostile pages, and their text is", () => {
  for (const html of HOSTILE) {
    assert.deepEqual(acting(cleanHtml(html)), [], html);
    assert.ok(!cleanHtml(html).startsWith("<pre>"), html);
  }
  assert.match(cleanHtml(HOSTILE[1] ?? ""), /<p>text<\/p>/);
});

test("nothing that acts is left, however tags, quotes and handlers are mixed", () => {
  const piece = fc.constantFrom(
    ...["<img ", "<svg>", "<style>", "</style>", "<p ", ">", '"', "'", "<!--", "-->", "<math>", "<table>", "<td>"],
    ...[
      "onerror=a() ",
      "ONLOAD='b()' ",
      "href=javascript:c() ",
      "<script>",
      "</script>",
      "<title>",
      "</title>",
      "=",
      " x",
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      assert.deepEqual(acting(cleanHtml(pieces.join(""))), []);
    }),
    { numRuns: 500 },
  );
});

test("what a page says, how it is built and how it looks stays as it was", () => {
  const html = `<!DOCTYPE html><html lang="en"><head><style>p { color: red }</style></head><body class="a"><main id="m"><p title="t">One <b>two</b></p><a href="/x">x</a><img src="/y.png" alt="z"></main></body></html>`;
  assert.equal(cleanHtml(html), html);
});

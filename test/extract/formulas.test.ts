import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { extractPage, parsePage } from "../../src/extract/page.ts";
import { compilePlan } from "../../src/extract/plan.ts";
import { markdownOf } from "./read-back.ts";

function textOf(html: string): string | undefined {
  return parsePage({ body: `<article>${html}</article>`, contentType: "text/html", url: null }).facts.article?.text;
}

const TEX =
  '<math><semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">x_1^2</annotation></semantics></math>';

/** The page, its formula in Markdown and in plain text. */
const FORMULAS: Record<string, [html: string, markdown: string, text?: string]> = {
  "MathML with its TeX": [`<p>Let ${TEX}.</p>`, "Let $x_1^2$."],
  "MathML with TeX as its alternative": ['<p><math alttext="a\\le b"><mi>a</mi></math></p>', "$a\\le b$"],
  "on lines of its own": [`<p>Let</p>${TEX.replace("<math", '<math display="block"')}`, "Let\n\n$$x_1^2$$"],
  Wikipedia: [
    `<p>a <span class="mwe-math-element"><span style="display: none;"><math alttext="{\\displaystyle E=mc^{2}}"><mi>E</mi></math></span><img class="mwe-math-fallback-image-inline" aria-hidden="true" alt="{\\displaystyle E=mc^{2}}" src="/x.svg"></span> b</p>`,
    "a $E=mc^{2}$ b",
  ],
  "Wikipedia without MathML": [
    '<p><img class="mwe-math-fallback-image-inline" aria-hidden="true" alt="{\\displaystyle x}" src="/x.svg"></p>',
    "$x$",
  ],
  KaTeX: [
    `<p><span class="katex"><span class="katex-mathml">${TEX}</span><span class="katex-html" aria-hidden="true">x12</span></span></p>`,
    "$x_1^2$",
  ],
  "KaTeX on lines of its own": [
    `<span class="katex-display"><span class="katex"><span class="katex-mathml">${TEX}</span><span class="katex-html" aria-hidden="true">x12</span></span></span>`,
    "$$x_1^2$$",
  ],
  "MathJax 2": [
    '<p><span class="MathJax_Preview"></span><span class="MathJax"><nobr>x1</nobr></span><script type="math/tex">x_1</script></p>',
    "$x_1$",
  ],
  "MathJax 2 on lines of its own": [
    '<p>a</p><script type="math/tex; mode=display">\\frac{a}\n{b}</script>',
    "a\n\n$$\\frac{a} {b}$$",
  ],
  "MathJax 3": [
    '<p><mjx-container><mjx-math aria-hidden="true">x</mjx-math><mjx-assistive-mml><math><msup><mi>x</mi><mn>2</mn></msup></math></mjx-assistive-mml></mjx-container></p>',
    "x^2",
  ],
  "not drawn yet": ['<p><span class="math inline">\\(x_1*y\\)</span></p>', "$x_1*y$"],
  "a picture with TeX": ['<p><img class="latex" alt="x^2" src="/latex.php?x"></p>', "$x^2$"],
  "MathML alone": [
    "<p><math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac><mo>=</mo><msqrt><mi>c</mi></msqrt></math></p>",
    "(a + b)/2 = √(c)",
  ],
  "prices beside a formula": [`<p>$5, $6: ${TEX}</p>`, "\\$5, \\$6: $x_1^2$", "$5, $6: $x_1^2$"],
  "in a table": [
    `<table><tr><th>a<th>b<tr><td>${TEX.replace("x_1^2", "|x|")}<td>c</table>`,
    "| a | b |\n| --- | --- |\n| $\\vert x\\vert $ | c |",
    "a b\n$|x|$ c",
  ],
};

describe("formulas", () => {
  for (const [what, [html, markdown, text = markdown]] of Object.entries(FORMULAS)) {
    test(what, () => {
      assert.equal(markdownOf(html), markdown);
      assert.equal(textOf(html), text);
    });
  }

  test("clean HTML has their TeX", () => {
    const { facts } = parsePage({ body: `<article>a ${TEX}</article>`, contentType: "text/html", url: null });
    assert.equal(facts.article?.html, '<article>a <span class="math">$x_1^2$</span></article>');
  });

  test("what the reader does not want of a page is not there", () => {
    const input = {
      body: `<p>a ${TEX}</p><video src=/v></video>`,
      contentType: "text/html",
      url: "https://site.example/",
    };
    const read = (exclude_tags: string[]) =>
      extractPage(input, compilePlan({ document: { exclude_tags }, links: false })).document?.markdown;
    assert.equal(read([]), "a $x_1^2$\n\n[Video](https://site.example/v)");
    assert.equal(read(["math", "video"]), "a");
  });

  test("prices on a page without formulas stay as they are", () => {
    assert.equal(markdownOf("<p>$5 or $6</p>"), "$5 or $6");
  });
});

describe("plain text", () => {
  const TEXTS: Record<string, [html: string, text: string]> = {
    "a power": ["<p>10<sup>6</sup>, 10<sup>-6</sup>, x<sup>n+1</sup></p>", "10^6, 10^-6, x^(n+1)"],
    "ordinals, trade marks and foot-notes": ["<p>1<sup>st</sup> A<sup>TM</sup> b<sup>[1]</sup></p>", "1st ATM b[1]"],
    "a foot-note's text": ["<p><sup>1</sup> See there.</p>", "1 See there."],
    "a quotation": ["<p>He said <q>no</q>.</p>", "He said “no”."],
    "code in lines, each in a block": ["<pre><div>a</div><div> b</div></pre>", "a\n b"],
    "code without the button beside it": ["<pre><button>Copy</button>a</pre>", "a"],
  };
  for (const [what, [html, text]] of Object.entries(TEXTS)) test(what, () => assert.equal(textOf(html), text));
});

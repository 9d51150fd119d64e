import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { markdownOf, seenIn, seenInMarkdown } from "./read-back.ts";

type Case = [what: string, html: string, markdown: string];

function check(cases: readonly Case[]): void {
  for (const [what, html, markdown] of cases) {
    test(what, () => {
      assert.equal(markdownOf(html), markdown);
      assert.equal(seenInMarkdown(markdown).text, seenIn(html).text, "it reads back as the page");
    });
  }
}

describe("characters that Markdown would take for its own", () => {
  check([
    ["a line of dashes after a line break", "<p>Total<br>---</p>", "Total  \n\\---"],
    ["a line of equals signs", "<p>Total<br>===</p>", "Total  \n\\==="],
    ["one dash under a line", "<p>Total<br>-</p>", "Total  \n\\-"],
    ["a hash after a line break", "<p>a<br># b</p>", "a  \n\\# b"],
    ["bullets after line breaks", "<p>a<br>- b<br>+ c<br>* d</p>", "a  \n\\- b  \n\\+ c  \n\\* d"],
    ["numbers after line breaks", "<p>a<br>1. b<br>22) c</p>", "a  \n1\\. b  \n22\\) c"],
    ["a quote's sign", "<p>a<br>> b</p>", "a  \n\\> b"],
    ["what looks like a table", "<p>a | b<br>--- | ---<br>|:-:|</p>", "a | b  \n\\--- | ---  \n\\|:-:|"],
    ["spaces before a line", "<p>a<br>    b</p>", "a  \nb"],
    ["a year that ends a sentence", "<p>1986. A great year.</p>", "1986\\. A great year."],
    ["a fence", "<p>~~~ b</p><p>```</p>", "\\~\\~\\~ b\n\n\\`\\`\\`"],
    [
      "references that are text",
      "<p>&amp;copy; &amp;lt; &amp;#35; AT&amp;T; R&amp;D</p>",
      "\\&copy; \\&lt; \\&#35; AT&T; R&D",
    ],
    ["a reference in pieces", "<p>&amp;<span>copy;</span></p>", "\\&copy;"],
    ["a mail address in angle brackets", "<p>&lt;=a@b.example> 1 &lt;2</p>", "\\<=a@b.example> 1 <2"],
    ["one that marks are part of", "<p>&lt;1<b>a</b>@b.example></p>", "\\<1**a**@b.example>"],
    ["tags that are text", "<p>&lt;b> 1 &lt; 2 &lt;!-- x --></p>", "\\<b> 1 < 2 \\<!-- x -->"],
    ["underscores in words and around them", "<p>snake_case __init__ _a</p>", "snake_case \\_\\_init\\_\\_ \\_a"],
    ["stars", "<p>5 * 3, *a* and **</p>", "5 * 3, \\*a\\* and \\*\\*"],
    ["tildes: two can strike out, one cannot", "<p>~a~</p><p>~5 km</p>", "\\~a\\~\n\n~5 km"],
    ["brackets: only those that could be a link", "<p>See [12] and [a](b).</p>", "See [12] and \\[a](b)."],
    ["brackets at the start of a line", "<p>[x]: y</p><ul><li>[ ] a</ul>", "\\[x]: y\n\n- \\[ ] a"],
    ["an exclamation mark before a link", "<p>Go!<a href=/x>x</a></p>", "Go\\![x](https://site.example/x)"],
    ["a backslash at the end of a line", "<p>C:\\<br>D</p>", "C:\\\\  \nD"],
    ["hashes at the end of a heading", "<h2>C #</h2><h3>F#</h3><h4>#</h4>", "## C \\#\n\n### F#\n\n#### \\#"],
    ["a number that begins a heading", "<h2>1. Start</h2>", "## 1. Start"],
    ["an address with a star", "<p>https://a.example/*b* end</p>", "https\\://a.example/\\*b\\* end"],
    ["an address that emphasis follows", "<p>www.a.example<b>b</b></p>", "www\\.a.example**b**"],
    ["an address as it is", "<p>https://a.example/b_c?d=1&e=2 end</p>", "https://a.example/b_c?d=1&e=2 end"],
    ["no-break spaces", "<p>a&nbsp;&nbsp;b&nbsp;</p>", "a b"],
  ]);
});

describe("emphasis", () => {
  check([
    ["two neighbours of a kind are one", "<p><em>a</em><em>b</em></p>", "*ab*"],
    ["two neighbours of different kinds", "<p><b>a</b><em>b</em></p>", "**a***b*"],
    ["in a word", "<p>un<em>frigging</em>believable</p>", "un*frigging*believable"],
    ["punctuation at its end, a letter after it", "<p><b>Note:</b>text</p>", "**Note**:text"],
    ["brackets in a word", "<p>f<em>(x)</em>y</p>", "f(*x*)y"],
    ["a quote in a script without spaces", "<p><b>「重要」</b>です。</p>", "**「重要**」です。"],
    ["nothing but punctuation", "<p>a<b>,</b>b</p>", "a,b"],
    ["strong in strong", "<p><b>a <strong>b</strong> c</b></p>", "**a b c**"],
    ["emphasis at the start of strong", "<p><b><i>a</i> b</b></p>", "***a* b**"],
    ["emphasis twice in strong", "<p><b><i>a</i>b<i>c</i></b></p>", "<strong>*a*b<em>c</em></strong>"],
    ["space at its edges", "<p>a<b> b </b>c</p>", "a **b** c"],
    ["around a link", "<p><em><a href=/x>x</a></em>, y</p>", "*[x](https://site.example/x)*, y"],
    ["around a link in a word", "<p>a<em><a href=/x>x</a></em>b</p>", "a<em>[x](https://site.example/x)</em>b"],
    ["around a paragraph", "<em><p>a</p><p>b</p></em>", "*a*\n\n*b*"],
    ["over two line breaks", "<p><b>a<br><br>b</b></p>", "**a**\n\n**b**"],
    ["around nothing", "<p>a <b> </b><i></i>b</p>", "a b"],
    ["struck out, with a tilde inside", "<p><del>a ~ b</del></p>", "~~a \\~ b~~"],
    ["around code", "<p><b><code>a</code></b></p>", "**`a`**"],
    [
      "twice, where another one begins at once",
      "<p><b><em>\\</em></b><em><a href=/x>\\.</a></em></p>",
      "**<em>\\\\</em>**<em>[\\\\.](https://site.example/x)</em>",
    ],
    [
      "twice, where another one begins at once, in a table",
      "<table><tr><td><b><em>\\</em></b><em><a href=/x>.</a></em></td><td>a</td></tr></table>",
      "|  |  |\n| --- | --- |\n| **<em>\\\\</em>**<em>[.](https://site.example/x)</em> | a |",
    ],
  ]);

  test("a mark that is never closed does not emphasise the rest of the page", () => {
    const long = "Words that go on and on, longer than anything that somebody would want to stress. ".repeat(5);
    assert.equal(markdownOf(`<b><p>${long}</p></b>`), long.trim());
  });
});

describe("code", () => {
  check([
    ["with backticks", "<p><code>a ` b</code> <code>`</code></p>", "``a ` b`` `` ` ``"],
    ["with space at its edges", "<p>a<code> b </code>c</p>", "a `b` c"],
    ["two neighbours are one", "<p><code>a</code><code>b</code></p>", "`ab`"],
    ["with a link in it", "<p><code>Vec&lt;<a href=/t>T</a>></code></p>", "`Vec<`[`T`](https://site.example/t)`>`"],
    [
      "what would define a link",
      "<p><a href=/t><code>a]: b</code></a></p>",
      "[<code>a&#93;: b</code>](https://site.example/t)",
    ],
    ["keys", "<p><kbd>Ctrl</kbd>+<kbd>C</kbd></p>", "`Ctrl`+`C`"],
    ["with a comment in it", '<p><code>a <span class="hljs-comment">// b</span></code></p>', "`a // b`"],
    ["lines, the first indented, after empty ones", "<pre>\n\n  \n  a\n\n b\n</pre>", "```\n  a\n\n b\n```"],
    ["lines with fences in them", "<pre>```\n~~~~</pre>", "````\n```\n~~~~\n````"],
    ["in a list item", "<ul><li>a<pre>b\n\n  c</pre></li></ul>", "- a\n\n  ```\n  b\n\n    c\n  ```"],
  ]);

  test("laid-out text with links keeps its lines and its links", () => {
    const html = '<pre>a   <a href="/x?a&amp;b">b</a>\n  &lt;c&gt;</pre>';
    const markdown = markdownOf(html);
    assert.equal(markdown, '<pre>a   <a href="https://site.example/x?a&amp;b">b</a>\n  &lt;c&gt;</pre>');
    assert.deepEqual(seenInMarkdown(markdown), seenIn(html));
  });

  test("a button in a block of code is not code", () => {
    assert.equal(markdownOf("<pre><button>Copy</button><code>a</code></pre>"), "```\na\n```");
  });

  test("links in a block of code are code", () => {
    assert.equal(markdownOf('<pre class="language-go">x <a href="/y">y</a></pre>'), "```go\nx y\n```");
    assert.equal(markdownOf('<pre><code>x <a href="/y">y</a></code></pre>'), "```\nx y\n```");
  });
});

const X = "(https://site.example/x)";

describe("links", () => {
  check([
    ["around a heading", "<a href=/x><h3>T</h3><p>More</p></a>", `### [T]${X}\n\nMore`],
    [
      "around a picture in a block",
      "<a href=/x><div><img src=/p.png alt=P></div></a>",
      `[![P](https://site.example/p.png)]${X}`,
    ],
    ["around paragraphs", "<a href=/x><p>a</p><p>b</p></a>", `[a]${X}\n\nb`],
    ["with brackets in their text", "<p><a href=/x>[1] a]</a></p>", `[\\[1\\] a\\]]${X}`],
    ["with a line break in their text", "<p><a href=/x>a<br>b</a></p>", `[a  \nb]${X}`],
    ["with space at their edges", "<p>a<a href=/x> b </a>c</p>", `a [b]${X} c`],
    ["to an address with parentheses", "<p><a href=/x_(y)>a</a></p>", "[a](https://site.example/x_(y))"],
    ["to an address with half of them", "<p><a href='/x(('>a</a></p>", "[a](https://site.example/x\\(\\()"],
    [
      "to an address with spaces and brackets",
      "<p><a href='/x y<z>'>a</a></p>",
      "[a](https://site.example/x%20y%3Cz%3E)",
    ],
    [
      "to an address with a reference in it",
      "<p><a href='/?a&amp;lt;=1'>a</a></p>",
      "[a](https://site.example/?a\\&lt;=1)",
    ],
    ["to a part of this page", "<p><a href=#b>b</a></p>", "[b](https://site.example/a/#b)"],
    ["to nothing, and to scripts", "<p><a>a</a> <a href='javascript:x'>b</a></p>", "a b"],
    ["with their titles left out", "<p><a href=/x title=Long>a</a></p>", `[a]${X}`],
    ["with a foot-note's sign", "<p><a href=/x>^1</a></p>", `[\\^1]${X}`],
  ]);

  test("a link without text has the name that the page gives it", () => {
    assert.equal(markdownOf('<p><a href=/x aria-label="Home"></a></p>'), `[Home]${X}`);
    assert.equal(markdownOf('<p><a href=/x title="Home"><svg></svg></a></p>'), `[Home]${X}`);
    assert.equal(markdownOf('<p><a href=/x><img src="data:x" alt="Home"></a></p>'), `[Home]${X}`);
    assert.equal(markdownOf('<h2>T <a href=#t aria-label="Permalink"></a></h2>'), "## T");
  });

  test("a link around a heading that shows nothing is that of the text beside it", () => {
    assert.equal(markdownOf("<a href=/x><h3><span hidden>T</span></h3><p>a</p></a>"), `[a]${X}`);
  });

  test("films and sounds are linked, advertisements in frames are not", () => {
    assert.equal(markdownOf("<video src=/x title=Launch></video>"), `[Launch]${X}`);
    assert.equal(markdownOf("<audio><source src=/x></audio>"), `[Audio]${X}`);
    const embedded = "https://www.youtube.com/embed/abc";
    assert.equal(markdownOf(`a<iframe src="${embedded}"></iframe>b`), `a  \n[Video](${embedded})  \nb`);
    assert.equal(markdownOf('<iframe src="https://ads.example/1"></iframe>'), "");
  });
});

describe("lists", () => {
  check([
    ["text beside the items", "<ul>a<li>b</li>c<li>d</ul>", "a\n\n- b\n\nc\n\n- d"],
    ["text beside the numbered items", "<ol>a<li>b</ol>", "a\n\n1. b"],
    ["text beside the terms", "<dl>a<dt>b<dd>c</dl>", "a\n\n**b**\n\nc"],
    ["two in a row", "<ul><li>a</ul><ul><li>b</ul><ol><li>c</ol><ol><li>d</ol>", "- a\n\n+ b\n\n1. c\n\n1) d"],
    ["a list in a list, without an item around it", "<ul><li>a</li><ul><li>b</ul></ul>", "- a\n  - b"],
    ["numbers from a start", "<ol start=3><li>a<li>b</ol>", "3. a\n4. b"],
    ["numbers backwards", "<ol reversed><li>a<li>b</ol>", "2. a\n\n1) b"],
    ["numbers of their own", "<ol><li>a<li value=5>b<li>c</ol>", "1. a\n\n5) b\n6) c"],
    ["numbers below zero", "<ol start=-1><li>a<li>b</ol>", "- a\n\n0. b"],
    ["a numbered list that cannot follow text", "<ul><li>a<ol start=2><li>b</ol></ul>", "- a\n\n  2. b"],
    [
      "one that cannot follow text, in a list that can",
      "<ul><li>a<ul><li><ol start=3><li>b</ol></ul></ul>",
      "- a\n\n  - 3. b",
    ],
    ["a rule in an item", "<ul><li><hr>a<li>b<hr></ul>", "- ***\n\n  a\n- b\n\n  ---"],
    ["a quote with a list", "<blockquote>a<ul><li>b</ul></blockquote>", "> a\n>\n> - b"],
    ["deep ones", "<ol><li>a<ul><li>b<ol><li>c</ol></ul></ol>", "1. a\n   - b\n     1. c"],
    ["an item that is only a list", "<ul><li><ul><li>a</ul></ul>", "- - a"],
    [
      "tasks",
      '<ul><li><input type=checkbox disabled checked> a<li class="task-list-item"><input type=checkbox>b</ul>',
      "- [x] a\n- [ ] b",
    ],
    ["boxes to tick", "<ul><li><input type=checkbox> a</ul>", "- a"],
  ]);
});

describe("other elements", () => {
  check([
    ["raised and lowered", "<p>10<sup>6</sup> H<sub>2</sub>O</p>", "10<sup>6</sup> H<sub>2</sub>O"],
    ["ordinals and foot-notes", "<p>1<sup>st</sup> A<sup>TM</sup> b<sup>[1]</sup></p>", "1st ATM b[1]"],
    ["parts that fold", "<details><summary>a</summary>b</details>", "**a**\n\nb"],
    ["a title that is a heading", "<details><summary><h3>a</h3></summary>b</details>", "### a\n\nb"],
    [
      "a figure",
      "<figure><img src=/p.png alt=''><figcaption>a</figcaption></figure>",
      "![](https://site.example/p.png)\n\na",
    ],
    ["a heading over two lines", "<h2>a<br>b</h2>", "## a b"],
    ["lines and paragraphs made of breaks", "<p>a<br>b<br><br>c</p>", "a  \nb\n\nc"],
    ["insertions and highlights", "<p><ins>a</ins> <mark>b</mark> <abbr title=x>c</abbr></p>", "a b c"],
  ]);

  test("a quotation has its quotation marks", () => {
    assert.equal(markdownOf("<p>He said <q>no</q>.</p>"), "He said “no”.");
  });
});

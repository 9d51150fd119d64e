import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { parse, type DefaultTreeAdapterTypes } from "parse5";
import type { Element } from "../../src/extract/dom/nodes.ts";
import { parseHtml } from "../../src/extract/dom/parse.ts";
import { parseXml } from "../../src/extract/dom/xml.ts";

/** A tree as one line, ours and parse5's alike. */
function own(element: Element): string {
  let out = "";
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 3) out += `"${node.data}"`;
    else {
      const list = node.attributes;
      const pairs = Array.from({ length: list.length / 2 }, (_, index) => `${list[index * 2]}=${list[index * 2 + 1]}`);
      out += `(${node.name}${pairs.length === 0 ? "" : `[${pairs.sort().join(",")}]`}${own(node)})`;
    }
  }
  return out;
}

function theirs(parent: DefaultTreeAdapterTypes.ParentNode): string {
  let out = "";
  const holder = "content" in parent ? (parent as DefaultTreeAdapterTypes.Template).content : parent;
  for (const node of holder.childNodes) {
    if (node.nodeName === "#text") out += `"${(node as DefaultTreeAdapterTypes.TextNode).value}"`;
    else if ("tagName" in node) {
      const pairs = node.attrs.map(
        (attr) => `${attr.prefix === undefined ? "" : `${attr.prefix}:`}${attr.name.toLowerCase()}=${attr.value}`,
      );
      out += `(${node.tagName.toLowerCase()}${pairs.length === 0 ? "" : `[${pairs.sort().join(",")}]`}${theirs(node)})`;
    }
  }
  return out;
}

/** White space between the parts of a page is nothing a reader sees; text around a comment is one text here. */
function withoutBlanks(tree: string): string {
  return tree.replaceAll('""', "").replace(/"\s+"/g, "");
}

const MALFORMED = [
  "<p>a<p>b",
  "<b>one<p>two</b>three",
  "<i>a<b>b</i>c</b>d",
  "<a href=1>x<a href=2>y",
  "<p><a href=1>foo</p><p>bar</a>",
  "<a href=1><div><a href=2>x</a></div>y</a>",
  "<table><tr><td>x<a href=1>y<td>z</table>",
  "<table>foo<tr><td>a</td></tr><b>q</b></table>",
  "<table><td>a<table><td>b</table></table>",
  "<table><form><tr><td><input></form></table>",
  "<ul><li>a<li>b<ul><li>c</ul></ul>",
  "<dl><dt>a<dd>b<dt>c</dl>",
  "<div title=it's href=x>y",
  "a < b && c > d",
  "<title>a &amp; b</title><body class=x><body id=y>",
  "<script><!-- <script> </script> --></script>z",
  "<textarea>\nfoo<b></textarea>x",
  "<!-->x<!--->y<!-- a --!>z",
  "<?php x ?></ x>y<!x>z",
  "</p><br/>x</br>y<div/>z",
  "<svg><title>x</title><a href=q>z</a><p>out",
  "<math><mi><b>x</b></mi></math>y",
  "<head><noscript><img></noscript><meta name=x></head>",
  "<template><tr><td>x</td></tr></template>y",
  "<p><table><tr><td></table>x",
  "<!doctype html><p><table></table>",
  "<h1>a<h2>b</h1>c",
  "<button>a<button>b",
  "<form><form><input></form>",
  "<font color=red><svg><font color=a>x",
  "caf&eacute &notit; &copy=1 &#x80; <a href='?a=1&copy=2'>x</a>",
  "<html lang=a><html lang=b id=c><body>a</body>b</html>c<p>d",
  "<head></head>\n<body>x",
  "<!doctype html></head> <head>x",
  "<head><title>t</title> \n</head> <link> <body> x",
  "<title>t</title>  x",
  "<style></style> <!-- c --> </style>y",
  "<head></head> <style></style>x",
  "<head> <meta> </head>\t<frameset></frameset>",
  "<table><colgroup> foo</colgroup></table>",
  "<p><a><plaintext>b<i>",
  "<math><annotation-xml><div>x",
  "<math><annotation-xml encoding=TEXT/html><div>x",
  "<math><annotation-xml><svg><u>x",
  "<svg><foreignObject><p><i></p>a",
  "<math><mtext><p><i></p>a",
  "<body a=b><template><div></div><body c=d><html e=f></template></body>",
  "<template><tr></tr><template></template><td></td></template>",
  "<template><thead></thead><template><tr></tr></template><tr></tr><tfoot></tfoot></template>",
  "<template><div>Foo</div><template></template><tr></tr>x",
  "<select><option>a<option>b<optgroup label=c><option>d<optgroup><option>e</select>f",
  "<select><option>a</option><hr><optgroup><hr></select>x",
  "<select><option>a<select><option>b</select>c",
  "<select><option>a<input name=b>c</select>d",
  "<p><select><option>a</select>b<p>c",
  "<table><tr><td><select><option>a</td></tr></table>b",
];

const DOCTYPES = [
  "<!doctype html>",
  "<!DOCTYPE>",
  "<!doctype>",
  "<!doctypehtml>",
  "<!doctype html SYSTEM 'about:legacy-compat'>",
  "<!doctype xhtml>",
  "<!doctype html bogus>",
  "<!doctype html public>",
  "<!doctype html public 'x>",
  "<!doctype html public 'html'>",
  `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">`,
  `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">`,
  `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">`,
  `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">`,
  `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.0 Transitional//EN" "http://www.w3.org/TR/REC-html40/loose.dtd">`,
  `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">`,
  `<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML//EN">`,
  `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">`,
  `<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN'"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">`,
  `<!DOCTYPE html SYSTEM "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd">`,
  `<!doctype html PUBLIC "-//SoftQuad//DTD HoTMetaL PRO 4.0::19971010::extensions to HTML 4.0//EN">`,
  "<!-- before --> <!doctype html>",
  "x<!doctype html>",
  "<html><!doctype html>",
  "<!doctype html><!doctype x>",
];

for (const doctype of DOCTYPES) MALFORMED.push(`${doctype}<p>a<table></table>`);

for (const html of MALFORMED) {
  test(`a browser's tree of ${html}`, () => {
    assert.equal(own(parseHtml(html).root), theirs(parse(html, { scriptingEnabled: true })).replaceAll('""', ""));
  });
}

/** What is read differently on purpose. */
const DIFFERENT: readonly [why: string, html: string, tree: string][] = [
  [
    "noscript in the body is parsed: it often holds the only copy of a picture",
    "<p>x<noscript><img src=a></noscript>",
    '(html(head)(body(p"x"(noscript(img[src=a])))))',
  ],
  [
    "select may hold anything, as browsers allow since 2025",
    "<select><div><option>a</div></select>",
    '(html(head)(body(select(div(option"a")))))',
  ],
  [
    "an end tag outside a select does not close it, as since 2025",
    "<div><select></div><option>a<b>x</b><option>b</select>c",
    '(html(head)(body(div(select(option"a"(b"x"))(option"b"))"c")))',
  ],
  ["a keygen stays in its select, as since 2025", "<select><keygen>x", '(html(head)(body(select(keygen)"x")))'],
  ["null characters vanish everywhere", "<p title='a\0b'>c\0d", '(html(head)(body(p[title=ab]"cd")))'],
  ["a frameset is a body", "<frameset><frame src=a></frameset>", "(html(head)(frameset(frame[src=a])))"],
];

for (const [why, html, tree] of DIFFERENT) {
  test(`other than in a browser: ${why}`, () => assert.equal(own(parseHtml(html).root), tree));
}

test("any jumble of tags gives the browser's tree", () => {
  const tokens = fc.constantFrom(
    ..."<p> </p> <b> </b> <i> </i> <a> </a> <div> </div> <table> </table> <tr> <td> </td> </tr> <tbody> <ul> <li> </ul> </li> x y <h1> </h1> <h2> <br> <img> <form> </form> <span> </span> <button> </button> <title>t</title> <script>s</script> <style>c</style> <dl> <dt> <dd> </dl> <pre> </pre> <caption> <col> <th> <thead> <font> </font> <!--c--> <hr> <textarea>q</textarea> <body> </body> <head> </head> <html> <address> <center> </center> <em> </em> <code> <input> <ruby> <rt> </ruby> <fieldset> </fieldset> <meta> <link> &amp; &lt".split(
      " ",
    ),
    "<a href=1>",
    "<a href=2>",
    " ",
  );
  fc.assert(
    fc.property(fc.boolean(), fc.array(tokens, { maxLength: 10 }), (doctype, list) => {
      const html = (doctype ? "<!doctype html>" : "") + list.join("");
      assert.equal(withoutBlanks(own(parseHtml(html).root)), withoutBlanks(theirs(parse(html))));
    }),
    { numRuns: 1500 },
  );
});

test("no text, however broken, makes the parsers throw, and all its letters are found", () => {
  const pieces = fc.constantFrom(
    "<",
    ">",
    "/",
    "=",
    '"',
    "'",
    "a",
    "p ",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "&",
    ";",
    "\0",
    "\r\n",
    "<svg>",
    "<table>",
    "</",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (list) => {
      own(parseHtml(list.join("")).root);
      own(parseXml(list.join("")).root);
    }),
    { numRuns: 1000 },
  );
});

test("XML keeps case, namespaces' prefixes and CDATA, and defines no entities", () => {
  const xml = `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x "boom"><!ENTITY y SYSTEM "file:///etc/passwd">]>
<Root><media:Thing a='1'>&x;&y;&amp;&#65;</media:Thing><e/><![CDATA[<b> & ]]></Root>`;
  assert.equal(own(parseXml(xml).root), '(Root(media:Thing[a=1]"&x;&y;&A")(e)"<b> & ")');
});

test("a billion laughs stay text", () => {
  const definitions = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join("");
  assert.equal(own(parseXml(`<!DOCTYPE x [<!ENTITY l0 "ha">${definitions}]><x>&l9;</x>`).root), '(x"&l9;")');
});

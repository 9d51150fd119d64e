import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeContent } from "../../src/domain/monitor/content.ts";
import { prepareText } from "../../src/domain/monitor/prepared-text.ts";
import { extractPage } from "../../src/extract/page.ts";
import { compilePlan } from "../../src/extract/plan.ts";

/** Each line of the page as it is compared, with the element that it is in. */
function linesOf(body: string, what: "text" | "markdown" | "links"): string[] {
  const plan = compilePlan({ fields: null, links: false, monitor: { what, exclude: [], only_main_content: false } });
  const { monitored } = extractPage({ body, contentType: "text/html", url: "https://a.example/" }, plan);
  const rules = { noise: new Set<never>(), ignore: [], isSet: what === "links" };
  const { lines, regions } = prepareText(decodeContent(Buffer.from(monitored!)), rules, null);
  return lines.map((line, index) => {
    const node = regions.nodeOf(index);
    return `${node < 0 ? "" : regions.nameOf(node)}: ${line}`;
  });
}

const PAGE = `<title>Shop</title><body><main id="content"><h1>Kettle</h1><p>Boils <b>water</b>.</p><pre>one
two</pre><section class="css-1x2y3z related is-open"><h2>Related</h2><ul><li><a href="/a">Lamp</a><div>€ 4</div></li><li><a href="/b">Rug</a></li></ul></section>
<h3>Partners</h3><ul><li>Acme</li></ul><table><tr><td>Weight</td><td>2 kg</td></tr></table></main></body>`;

test("every line of a page's text has the element that it is in, by a name that the next fetch has, too", () => {
  assert.deepEqual(linesOf(PAGE, "text"), [
    ": Shop",
    "main#content > h1: Kettle",
    "main#content > p: Boils water.",
    "main#content > pre: one",
    "main#content > pre: two",
    "main#content > section.related “Related” > h2: Related",
    "main#content > section.related “Related” > ul “Related” > li: Lamp",
    "main#content > section.related “Related” > ul “Related” > li > div: € 4",
    "main#content > section.related “Related” > ul “Related” > li: Rug",
    "main#content > h3: Partners",
    "main#content > ul “Partners” > li: Acme",
    "main#content > table > tbody > tr: Weight 2 kg",
  ]);
});

test("the lines of Markdown and the links have it as well", () => {
  const markdown = linesOf(PAGE, "markdown");
  for (const line of [
    "main#content > h1: # Kettle",
    "main#content > p: Boils **water**.",
    "main#content > ul “Partners” > li: - Acme",
  ])
    assert.ok(markdown.includes(line), `${line} is not among:\n${markdown.join("\n")}`);
  assert.deepEqual(
    linesOf(PAGE, "links").map((line) => line.replace(/.*(?=li)/, "")),
    ["li > a: https://a.example/a", "li > a: https://a.example/b"],
  );
});

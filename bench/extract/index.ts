/** Title, three fields and all links of one 30 KB page: our parse and rules against cheerio's. */
import { compilePlan } from "../../src/extract/plan.ts";
import { extractPage } from "../../src/extract/page.ts";
import { print, race, verdict } from "../support/measure.ts";
import { loadPeer } from "../support/peers.ts";
import { shopPage } from "./page.ts";

interface Cheerio {
  load(html: string): (selector: string | object, context?: object) => Selection;
}
interface Selection {
  first(): Selection;
  text(): string;
  attr(name: string): string | undefined;
  toArray(): object[];
}

interface Answer {
  title: string;
  name: string;
  price: string;
  sku: string;
  links: { url: string; text: string }[];
}

const URL_OF_PAGE = "https://shop.example/books/";
const PAGES_PER_ROUND = 150;
const body = Buffer.from(shopPage());
const plan = compilePlan({
  fields: { name: { css: "h1" }, price: { css: ".price_color" }, sku: { css: ".sku", attr: "data-sku" } },
});

function own(): Answer {
  const { title, records, links } = extractPage(
    { body, contentType: "text/html; charset=utf-8", url: URL_OF_PAGE },
    plan,
  );
  const { name, price, sku } = records[0] as Record<string, string>;
  return { title, name, price, sku, links: links.map(({ url, text }) => ({ url, text })) } as Answer;
}

/** What a user of cheerio writes for the same result. */
function withCheerio(cheerio: Cheerio): Answer {
  const $ = cheerio.load(body.toString("utf8"));
  return {
    title: $("title").first().text().trim(),
    name: $("h1").first().text().trim(),
    price: $(".price_color").first().text().trim(),
    sku: $(".sku").first().attr("data-sku") ?? "",
    links: $("a[href]")
      .toArray()
      .map((element) => ({
        url: new URL($(element).attr("href") ?? "", URL_OF_PAGE).href,
        text: $(element).text().replace(/\s+/g, " ").trim() || ($("img", element).attr("alt") ?? ""),
      })),
  };
}

async function perPage(work: () => unknown): Promise<number> {
  const begun = performance.now();
  for (let index = 0; index < PAGES_PER_ROUND; index += 1) work();
  return (performance.now() - begun) / PAGES_PER_ROUND;
}

export async function run(rounds: number): Promise<boolean> {
  const cheerio = await loadPeer<Cheerio>("cheerio");
  print(
    `\ntitle, 3 fields and ${own().links.length} links of a ${Math.round(body.length / 1024)} KB page, median of ${rounds} rounds`,
  );
  if (cheerio === null) {
    print("  cheerio cannot be installed here");
    return false;
  }
  const [ours, theirs] = [JSON.stringify(own()), JSON.stringify(withCheerio(cheerio))];
  if (ours !== theirs) {
    print(`  the answers differ:\n  ${ours.slice(0, 300)}\n  ${theirs.slice(0, 300)}`);
    return false;
  }
  // Warm up both: a crawl reads thousands of pages.
  await perPage(own);
  await perPage(() => withCheerio(cheerio));
  const times = await race(
    { orbweaver: () => perPage(own), cheerio: () => perPage(() => withCheerio(cheerio)) },
    rounds,
  );
  print(`  orbweaver  ${times.orbweaver.toFixed(3)} ms a page`);
  print(`  cheerio    ${times.cheerio.toFixed(3)} ms a page, the same answers`);
  return verdict("against cheerio.load", times.cheerio / times.orbweaver, 4);
}

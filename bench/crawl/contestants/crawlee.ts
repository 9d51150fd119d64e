/** Crawlee's CheerioCrawler, as in its guide. On disk, and restarted in the same folder, it continues. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { requirePeer } from "../../support/peers.ts";

interface Selection {
  text(): string;
  attr(name: string): string | undefined;
}
interface HandlerContext {
  request: { loadedUrl: string };
  $: (css: string) => Selection;
  body: string | Buffer;
  enqueueLinks(): Promise<unknown>;
  pushData(record: object): Promise<void>;
}
interface Crawlee {
  CheerioCrawler: new (
    options: object,
    config: unknown,
  ) => { run(urls: string[]): Promise<unknown>; getData(): Promise<{ items: object[] }> };
  Configuration: new (options: object) => unknown;
}
interface Readability {
  Readability: new (document: unknown) => { parse(): { title: string; textContent: string; content: string } | null };
}

const [origin = "", dir = "", storage = "memory", what = "fields", concurrency = "32"] = process.argv.slice(2);
const { CheerioCrawler, Configuration } = await requirePeer<Crawlee>("@crawlee/cheerio");

type Extract = (context: HandlerContext) => object;

const fields: Extract = ({ $ }) => ({
  title: $("title").text(),
  author: $(".byline .author").text(),
  published: $("time.published").attr("datetime"),
  price: $(".offer .price").text(),
});

/** linkedom replaces jsdom, which most use with Readability and which is several times slower. */
async function articles(): Promise<Extract> {
  const { parseHTML } = await requirePeer<{ parseHTML(html: string): { document: unknown } }>("linkedom");
  const { Readability } = await requirePeer<Readability>("@mozilla/readability");
  const turndown = await requirePeer<{ default: new () => { turndown(html: string): string } }>("turndown");
  const markdown = new turndown.default();
  return ({ body }) => {
    const { document } = parseHTML(body.toString());
    const article = new Readability(document).parse();
    if (article === null) return {};
    return { title: article.title, text: article.textContent, markdown: markdown.turndown(article.content) };
  };
}

const extract = what === "article" ? await articles() : fields;
const config = new Configuration({
  persistStorage: storage === "disk",
  purgeOnStart: false,
  storageClientOptions: { localDataDirectory: join(dir, "storage") },
  logLevel: "OFF",
});
let begun = 0;
let ended = 0;
const crawler = new CheerioCrawler(
  {
    minConcurrency: Number(concurrency),
    maxConcurrency: Number(concurrency),
    autoscaledPoolOptions: { desiredConcurrency: Number(concurrency) },
    preNavigationHooks: [
      () => {
        begun ||= performance.now();
      },
    ],
    requestHandler: async (context: HandlerContext) => {
      await context.enqueueLinks();
      await context.pushData({ url: context.request.loadedUrl, ...extract(context) });
      ended = performance.now();
    },
  },
  config,
);
await crawler.run([`${origin}/`]);
process.stdout.write(`${JSON.stringify({ seconds: (ended - begun) / 1000 })}\n`);
if (storage === "memory") {
  const { items } = await crawler.getData();
  writeFileSync(join(dir, "records.jsonl"), items.map((item) => `${JSON.stringify(item)}\n`).join(""));
}

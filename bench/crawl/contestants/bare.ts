/**
 * The minimal durable single-threaded crawler: fetch, one pass over the HTML, rows in SQLite fifty pages at a time. No
 * robots.txt, no limits, no retries, no guard. Restarted on the same file, it continues.
 */
import { DatabaseSync } from "node:sqlite";
import { Agent, request } from "undici";
import { requirePeer } from "../../support/peers.ts";

type Attributes = Record<string, string>;
interface HtmlParser2 {
  Parser: new (handler: {
    onopentag(name: string, attributes: Attributes): void;
    ontext(text: string): void;
    onclosetag(): void;
  }) => { write(html: string): void; end(): void };
}

const [origin = "", file = "", concurrency = "32"] = process.argv.slice(2);
const { Parser } = await requirePeer<HtmlParser2>("htmlparser2");

interface Page {
  title: string;
  author: string;
  published: string;
  price: string;
}

function read(html: string, base: string): { page: Page; links: string[] } {
  const page: Page = { title: "", author: "", published: "", price: "" };
  const links: string[] = [];
  let into: "title" | "author" | "price" | null = null;
  const parser = new Parser({
    onopentag(name, attributes) {
      into = null;
      if (name === "a" && attributes["href"] !== undefined) {
        const url = new URL(attributes["href"], base);
        url.hash = "";
        if (url.origin === origin) links.push(url.href);
      } else if (name === "title") into = "title";
      else if (name === "time" && attributes["class"] === "published") page.published = attributes["datetime"] ?? "";
      else if (attributes["class"] === "author") into = "author";
      else if (attributes["class"] === "price") into = "price";
    },
    ontext(text) {
      if (into !== null) page[into] += text;
    },
    onclosetag() {
      into = null;
    },
  });
  parser.write(html);
  parser.end();
  return { page, links };
}

const db = new DatabaseSync(file);
db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS pages (url TEXT PRIMARY KEY, result TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS frontier (n INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, done INTEGER NOT NULL DEFAULT 0)`);
const addPage = db.prepare("INSERT OR REPLACE INTO pages (url, result) VALUES (?, ?)");
const addUrl = db.prepare("INSERT OR IGNORE INTO frontier (url) VALUES (?)");
const markDone = db.prepare("UPDATE frontier SET done = 1 WHERE url = ?");

addUrl.run(`${origin}/`);
const seen = new Set<string>();
const queue: string[] = [];
for (const { url, done } of db.prepare("SELECT url, done FROM frontier ORDER BY n").all()) {
  seen.add(url as string);
  if (done === 0) queue.push(url as string);
}

let batch: { url: string; page: Page; found: string[] }[] = [];
function commit(): void {
  db.exec("BEGIN");
  for (const { url, page, found } of batch) {
    addPage.run(url, JSON.stringify(page));
    for (const link of found) addUrl.run(link);
    markDone.run(url);
  }
  db.exec("COMMIT");
  batch = [];
}

const dispatcher = new Agent({ connections: Number(concurrency), pipelining: 1 });
const begun = performance.now();
await new Promise<void>((resolve, reject) => {
  let next = 0;
  let running = 0;
  const visit = async (url: string) => {
    const { body } = await request(url, { dispatcher });
    const { page, links } = read(await body.text(), url);
    const found: string[] = [];
    for (const link of links) {
      if (seen.has(link)) continue;
      seen.add(link);
      queue.push(link);
      found.push(link);
    }
    batch.push({ url, page, found });
    if (batch.length >= 50) commit();
    running -= 1;
    go();
  };
  const go = () => {
    while (running < Number(concurrency) && next < queue.length) {
      running += 1;
      visit(queue[next++]!).catch(reject);
    }
    if (running === 0) resolve();
  };
  go();
});
commit();
process.stdout.write(`${JSON.stringify({ seconds: (performance.now() - begun) / 1000 })}\n`);
await dispatcher.close();
db.close();

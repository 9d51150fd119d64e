/**
 * Many sites in one process, each on its own port: `node site.ts SITES PAGES_PER_SITE`. A page has 2 KB and 20 links to
 * pages of its site. Reports how many pages it has delivered, several times a second.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type SiteMessage = { ports: number[] } | { delivered: number; distinct: number; at: number };

const [sites = 1, pages = 1] = process.argv.slice(2).map(Number);
const LINKS = 20;
const REPORT_MS = 50;
const TEXT = "A page of a site that is there to be crawled, with as many letters as such pages have. ".repeat(8);

/** Without digits: trap detection groups numbered pages. */
const nameOf = (page: number) => page.toString(2).replaceAll("0", "la").replaceAll("1", "mi");
const numberOf = (name: string) => Number.parseInt(name.replaceAll("la", "0").replaceAll("mi", "1"), 2);

/** Each page is linked from several; the first ones lead to all others. */
function linksOf(page: number): string {
  const targets = Array.from({ length: LINKS }, (_, index) =>
    index < LINKS - 5 ? page * (LINKS - 5) + index + 1 : (page * 7 + index * 31) % pages,
  );
  return targets
    .map((target) => `<li><a href="/${nameOf(target % pages)}">Page ${nameOf(target % pages)}</a></li>`)
    .join("");
}

function htmlOf(port: number, page: number): string {
  const title = `Page ${nameOf(page)} of ${port}`;
  return `<!doctype html><html lang="en"><head><title>${title}</title></head><body><h1>${title}</h1><p>${TEXT}</p><ul>${linksOf(page)}</ul></body></html>`;
}

let delivered = 0;
let distinct = 0;
const seen = Array.from({ length: sites }, () => new Uint8Array(pages));

async function listen(site: number): Promise<number> {
  let port = 0;
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    const page = path === "/" ? 0 : numberOf(path.slice(1));
    if (!(page < pages)) return void response.writeHead(404).end();
    delivered += 1;
    distinct += 1 - seen[site]![page]!;
    seen[site]![page] = 1;
    const body = htmlOf(port, page);
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-length": Buffer.byteLength(body) });
    response.end(body);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  return port;
}

const report = (message: SiteMessage) => process.send?.(message);
const ports: number[] = [];
for (let site = 0; site < sites; site += 1) ports.push(await listen(site));
report({ ports });
let reported = 0;
setInterval(() => {
  if (delivered === reported) return;
  reported = delivered;
  report({ delivered, distinct, at: performance.timeOrigin + performance.now() });
}, REPORT_MS);
process.on("disconnect", () => process.exit());

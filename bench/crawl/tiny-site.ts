/**
 * Tiny pages generated on request, in a separate process. `tree`: every page links to ten of its own and to three
 * others. `hubs`: the start links to hubs of 5,000 leaves each. Reports every STEP delivered pages and, on request, the
 * very next page.
 */
import { createServer } from "node:http";

const [shape = "tree", total = "1000", step = "100"] = process.argv.slice(2);
const pages = Number(total);
const LEAVES_PER_HUB = 5000;

const SYLLABLES =
  "ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so".split(" ");

/** A name without digits for every number: trap detection groups numbered pages. */
function nameOf(page: number): string {
  let name = "";
  for (let left = page; name === "" || left > 0; left = Math.floor(left / SYLLABLES.length))
    name += SYLLABLES[left % SYLLABLES.length];
  return name;
}

const numbers = new Map(SYLLABLES.map((syllable, index) => [syllable, index]));
function numberOf(name: string): number {
  let number = 0;
  for (let end = name.length; end > 0; end -= 2)
    number = number * SYLLABLES.length + (numbers.get(name.slice(end - 2, end)) ?? Number.NaN);
  return number;
}

const pathOf = (page: number) => (page === 0 ? "/" : `/${nameOf(page)}`);
const link = (path: string) => `<li><a href="${path}">${path.slice(1)}</a></li>`;

function treeLinks(page: number): string[] {
  const links: string[] = [];
  for (let child = page * 10 + 1; child <= page * 10 + 10 && child < pages; child += 1) links.push(link(pathOf(child)));
  for (let other = 1; other <= 3; other += 1) links.push(link(pathOf((page * 7919 + other * 104_729) % pages)));
  return links;
}

/** Hubs are page 1 to the number of hubs; leaves are below a hub. */
function hubLinks(path: string): string[] {
  const hubs = Math.ceil(pages / LEAVES_PER_HUB);
  if (path === "/") return Array.from({ length: hubs }, (_, hub) => link(`/hubs/${nameOf(hub)}`));
  if (!path.startsWith("/hubs/")) return [];
  const first = numberOf(path.slice(6)) * LEAVES_PER_HUB;
  return Array.from({ length: Math.min(LEAVES_PER_HUB, pages - first) }, (_, leaf) =>
    link(`/leaves/${nameOf(first + leaf)}`),
  );
}

function htmlOf(path: string): string {
  const links = shape === "tree" ? treeLinks(path === "/" ? 0 : numberOf(path.slice(1))) : hubLinks(path);
  return `<!doctype html><html lang="en"><head><title>${path}</title></head><body><h1>${path}</h1>
<p class="byline">By <span class="author">Ada Lund</span>, <time class="published" datetime="2026-01-01T00:00:00Z">1 January</time></p>
<p class="offer"><span class="price">€${path.length}.00</span></p><ul>${links.join("")}</ul></body></html>`;
}

let given = 0;
let tellNext = false;
const server = createServer((request, response) => {
  const path = request.url ?? "/";
  if (path === "/robots.txt" || path.includes(".xml")) {
    response.writeHead(404).end();
    return;
  }
  given += 1;
  if (tellNext || given % Number(step) === 0) process.send?.({ given, at: performance.timeOrigin + performance.now() });
  tellNext = false;
  const body = htmlOf(path);
  response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-length": Buffer.byteLength(body) });
  response.end(body);
});
server.keepAliveTimeout = 60_000;
process.on("message", () => (tellNext = true));
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as { port: number }).port }));
process.on("disconnect", () => process.exit());

/**
 * The demo site: a small bookshop on the loopback interface. It has no files besides its modules: pages, scripts and
 * images are generated on request.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, sleep } from "../base/clock.ts";
import { BOOKS, CATEGORIES, pathOfBook } from "./books.ts";
import {
  type Answer,
  apiArrivals,
  apiBooks,
  BACK_ROOM,
  backRoom,
  busyPage,
  cornersPage,
  RequestLimiter,
  FaultyPages,
  SCRIPTS,
  shellPage,
  SIGNINGS,
} from "./corners.ts";
import { PICTURES, ROOMS } from "./gallery.ts";
import { frame, type Layout, LAYOUT_PATH } from "./layout.ts";
import { paintCover } from "./pictures.ts";
import { bookPage, frontPage, galleryPage, galleryRoom, listPage, pagesOf, pathOfList } from "./shop-pages.ts";
import { STYLE } from "./style.ts";

export interface DemoSite extends AsyncDisposable {
  /** `http://127.0.0.1:41233` */
  readonly origin: string;
  readonly port: number;
  /** How many requests got 429. */
  readonly refusals: number;
  close(): Promise<void>;
}

/** Typical latency of a site in the same country. */
const PAGE_MS = 150;

export async function startDemoSite(clock: Clock, { pageMs = PAGE_MS } = {}): Promise<DemoSite> {
  const limiter = new RequestLimiter(clock);
  const faultyPages = new FaultyPages();
  const closing = new AbortController();
  let refusals = 0;
  let layout: Layout = "first";
  const answer = (url: URL, cookies: string): Answer => {
    const { pathname: path } = url;
    if (path === BACK_ROOM) return backRoom(cookies);
    if (path.startsWith("/busy/")) {
      const nth = path === "/busy/" ? null : Number(path.slice("/busy/".length));
      if (nth !== null && !(Number.isInteger(nth) && nth >= 1 && nth <= SIGNINGS)) return NOT_FOUND;
      const refused = limiter.ask();
      if (refused !== null) refusals += 1;
      return refused ?? { body: busyPage(nth) };
    }
    if (path.startsWith("/broken/")) return faultyPages.answer(path) ?? NOT_FOUND;
    return staticAnswer(url, origin(), layout) ?? NOT_FOUND;
  };
  const server = createServer((request, response) => {
    response.on("error", () => {});
    if (request.method === "POST" && request.url === LAYOUT_PATH) {
      layout = layout === "first" ? "second" : "first";
      request.resume();
      response.writeHead(303, { location: ownPath(request.headers.referer, origin()) }).end();
      return;
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end();
      return;
    }
    const url = URL.parse(request.url ?? "", origin());
    const page = url === null ? NOT_FOUND : answer(url, request.headers.cookie ?? "");
    const isPage = page.type === undefined;
    void sleep(clock, (isPage ? pageMs : 0) + (page.afterMs ?? 0), closing.signal).then(() => send(response, page));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const origin = () => `http://127.0.0.1:${port}`;
  const close = () =>
    new Promise<void>((resolve) => {
      closing.abort();
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    origin: origin(),
    port,
    get refusals() {
      return refusals;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The page that a form was sent from; the front page if that is unknown. */
function ownPath(referer: string | undefined, origin: string): string {
  const page = URL.parse(referer ?? "");
  return page?.origin === origin ? page.pathname + page.search : "/";
}

const NOT_FOUND: Answer = {
  status: 404,
  body: frame({ title: "Not found", body: '<h1>Not on any shelf</h1><p><a href="/">Back to the shop</a></p>' }),
};

function send(response: ServerResponse, { status = 200, headers = {}, type = HTML, body, cut }: Answer): void {
  const bytes = Buffer.from(body as string);
  response.writeHead(status, { "content-type": type, "content-length": bytes.length, ...headers });
  if (cut !== true) return void response.end(bytes);
  response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
}

const HTML = "text/html; charset=utf-8";

/** Pages that depend on nothing but the layout; null: not found. */
function staticAnswer({ pathname: path, searchParams: query }: URL, origin: string, layout: Layout): Answer | null {
  const [, section = "", name = "", rest = ""] = path.split("/");
  const json = (value: unknown): Answer => ({ type: "application/json", body: JSON.stringify(value) });
  const page = (html: string | null): Answer | null => (html === null ? null : { body: html });
  switch (section) {
    case "":
      return page(frontPage(layout));
    case "category": {
      const category = CATEGORIES.find(({ slug }) => slug === name);
      return category === undefined ? null : page(listPage(category, Number(query.get("page") ?? 1), layout));
    }
    case "book": {
      const book = BOOKS.find((candidate) => pathOfBook(candidate) === path);
      return book === undefined ? null : page(bookPage(book, layout));
    }
    case "covers": {
      const book = BOOKS.find(({ id }) => `${id}.png` === name);
      return book === undefined ? null : png(paintCover(book.category.hue, book.id, 240, 360));
    }
    case "gallery": {
      if (name === "img") {
        const picture = PICTURES.find((candidate) => candidate.path === path);
        return picture === undefined ? null : png(picture.bytes());
      }
      return rest !== "" ? null : page(name === "" ? galleryPage() : galleryRoom(name));
    }
    case "corners":
      return page(cornersPage());
    case "cellar":
      return page(frame({ title: "The cellar", body: "<h1>The cellar</h1><p>robots.txt asked you not to come.</p>" }));
    case "arrivals":
      return page(shellPage("New arrivals", "/scripts/arrivals.js"));
    case "finder":
      return page(shellPage("Book finder", "/scripts/finder.js"));
    case "scripts":
      return SCRIPTS[path] === undefined ? null : { type: "text/javascript", body: wrapAsync(SCRIPTS[path]) };
    case "api":
      if (name === "arrivals") return json(apiArrivals());
      return name === "books" ? json(apiBooks(Math.max(1, Math.trunc(Number(query.get("page") ?? 1)) || 1))) : null;
    case "style.css":
      return { type: "text/css", body: STYLE };
    case "favicon.svg":
      return { type: "image/svg+xml", body: FAVICON };
    case "robots.txt":
      return { type: "text/plain", body: `User-agent: *\nDisallow: /cellar/\n\nSitemap: ${origin}/sitemap.xml\n` };
    case "sitemap.xml":
      return { type: "application/xml", body: sitemap(origin) };
    default:
      return null;
  }
}

/** Wraps a script with top-level await for use as a classic script. */
const wrapAsync = (script: string) => `(async () => {${script}})();\n`;

const png = (bytes: Buffer): Answer => ({ type: "image/png", body: bytes });

const FAVICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#8a3b1f"/><path d="M8 7h12a4 4 0 0 1 4 4v14H12a4 4 0 0 1-4-4z" fill="#faf6ee"/><path d="M12 12h8M12 16h8M12 20h5" stroke="#8a3b1f" stroke-width="1.6" stroke-linecap="round"/></svg>';

function sitemap(origin: string): string {
  const paths = [
    "/",
    ...CATEGORIES.flatMap((category) =>
      Array.from({ length: pagesOf(category) }, (_, at) => pathOfList(category, at + 1)),
    ),
    ...BOOKS.map(pathOfBook),
    "/gallery/",
    ...ROOMS.map(({ motif }) => `/gallery/${motif}`),
  ];
  const entries = paths.map((path) => `<url><loc>${origin}${path}</loc></url>`).join("\n");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${entries}\n</urlset>\n`;
}

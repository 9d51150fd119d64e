/** The sites that the examples of README and docs/ fetch from, as servers on this machine. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { seededRandom } from "../../src/base/random.ts";
import { encoder, photo } from "../support/pictures.ts";
import { startProxies } from "../support/proxies.ts";

interface Page {
  type?: string;
  status?: number;
  headers?: Record<string, string>;
  body: string | Buffer;
}

type Site = (request: IncomingMessage) => Page | Promise<Page>;

const html = (title: string, body: string): Page => ({
  body: `<!doctype html><html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`,
});
const json = (value: unknown): Page => ({ type: "application/json", body: JSON.stringify(value) });
const missing: Page = { status: 404, body: "there is no such page" };

const EXAMPLE: Record<string, Page> = {
  "/": html(
    "Example Domain",
    `<div><h1>Example Domain</h1>
<p>This domain is for use in documentation examples without needing permission. Avoid use in operations.</p>
<p><a href="https://iana.org/domains/example">Learn more</a></p></div>`,
  ),
  "/paper-4": { body: "<p>Spiders and their webs, for those in a hurry</p>\n".padEnd(61, " ") },
  "/missing": missing,
};

const example: Site = ({ url = "" }) => EXAMPLE[url] ?? { body: `this is ${url}` };
const editor: Site = () => ({ type: "text/plain", body: "Robots Exclusion Protocol\n".padEnd(28_049, ".") });

const BOOKS = [
  { title: "The Silk Road", price: "£12.50", stock: "in stock" },
  { title: "Webs and Weavers", price: "£8.99", stock: "in stock" },
  { title: "Eight Legs", price: "£21.00", stock: "out of stock" },
  { title: "A Field Guide to Orbs", price: "on request", stock: "in stock" },
];
const THINGS = ["Lamp", "Loom", "Ladder", "Kettle", "Shuttle"].map((name, index) => ({ name, price: 5 + index * 3 }));
const SENTENCE = "An orb weaver builds its web in the evening, waits in the middle of it, and eats it in the morning.";

/** A bookshop with a list, details, articles, a gallery, an API, a corner for members, and a price that falls. */
function shop(): Site {
  let looks = 0;
  const fixed: Record<string, () => Page | Promise<Page>> = {
    "/robots.txt": () => ({ type: "text/plain", body: "User-agent: *\nAllow: /\n" }),
    "/books": () =>
      html(
        "All books",
        `<h1>All books</h1>${BOOKS.map(
          ({ title, price }, index) =>
            `<article class="book"><h3><a href="/books/${index + 1}">${title}</a></h3><p class="price">${price}</p></article>`,
        ).join("")}`,
      ),
    "/deals/1": () =>
      html("A deal", `<h1>Webs and Weavers</h1><p class="price">£${(looks += 1) > 1 ? "6.49" : "8.99"}</p>`),
    "/blog": () => html("Blog", `<h1>Blog</h1>${[1, 2, 3].map((n) => `<a href="/blog/${n}">Part ${n}</a>`).join(" ")}`),
    "/gallery": () =>
      html("Gallery", `<h1>Gallery</h1>${[1, 2, 3, 4].map((n) => `<img src="/pictures/${n}.jpg" alt="">`).join("")}`),
    "/login": () =>
      html("Sign in", `<h1>Sign in</h1><form><input name="name"><input type="password" name="password"></form>`),
  };
  return async (request) => {
    const address = new URL(request.url ?? "/", "http://shop.example");
    const [, folder, name = ""] = address.pathname.split("/");
    const number = Number.parseInt(name, 10);
    const book = folder === "books" ? BOOKS[number - 1] : undefined;
    if (book !== undefined)
      return html(
        book.title,
        `<h1>${book.title}</h1><p class="price">${book.price}</p><p class="stock">${book.stock}</p><a href="/books">all books</a>`,
      );
    if (folder === "blog" && number <= 3)
      return html(
        `Part ${number}`,
        `<article><h1>Part ${number}</h1>${`<p>${SENTENCE} Part ${number} says so.</p>`.repeat(6)}</article>`,
      );
    // The last picture is the first one once more.
    if (folder === "pictures")
      return {
        type: "image/jpeg",
        body: await encoder(await photo(seededRandom(number === 4 ? 1 : number), 160, 120))
          .jpeg()
          .toBuffer(),
      };
    if (address.pathname === "/api/things") {
      const page = Number(address.searchParams.get("page") ?? "1");
      return json({ data: THINGS.slice((page - 1) * 2, page * 2) });
    }
    if (address.pathname === "/account/orders")
      return (request.headers.cookie ?? "").includes("sid=let-me-in")
        ? html("Your orders", `<h1>Your orders</h1><ul><li>The Silk Road</li><li>Eight Legs</li></ul>`)
        : { status: 302, headers: { location: "/login" }, body: "" };
    return (await fixed[address.pathname]?.()) ?? missing;
  };
}

/** What was posted is taken. */
const hooks: Site = () => ({ type: "application/json", body: `{"ok":true}` });

/** By name, in the order in which lists have them. */
const SITES: Record<string, () => Site> = {
  "example.com": () => example,
  "hooks.example": () => hooks,
  "shop.example": shop,
  "www.rfc-editor.org": () => editor,
};

export interface Sites extends AsyncDisposable {
  /** A text of a page, with the addresses of the servers here; and the other way round. */
  toHere(text: string): string;
  toPage(text: string): string;
}

export async function openSites(): Promise<Sites> {
  const names = Object.keys(SITES);
  const listening = await Promise.all(
    names.map(async () => {
      const site: { answer: Site } = { answer: example };
      const server = createServer((request, response) => void answer(site.answer, request, response));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return { site, server, here: `127.0.0.1:${(server.address() as AddressInfo).port}` };
    }),
  );
  // Lists are in order of site: the servers take the names so that theirs is the same as on the page.
  const servers = listening.toSorted((a, b) => (a.here < b.here ? -1 : 1));
  for (const [index, { site }] of servers.entries()) site.answer = SITES[names[index] ?? ""]!();
  const proxies = await startProxies([{ kind: "connect" }]);
  const free = await freePort();
  const pairs = [
    ...servers.flatMap(({ here }, index): [string, string][] => [
      [`https://${names[index]}`, `http://${here}`],
      [names[index] ?? "", here],
    ]),
    ["proxy.example:3128", new URL(proxies.all[0]!.url).host] as [string, string],
    // Where a receiver of the reader's own listens.
    ["9009", String(free)] as [string, string],
  ];
  return {
    toHere: (text) => pairs.reduce((all, [page, here]) => all.replaceAll(whole(page), here), text),
    toPage: (text) => pairs.reduce((all, [page, here]) => all.replaceAll(whole(here), page), text),
    [Symbol.asyncDispose]: async () => {
      await proxies[Symbol.asyncDispose]();
      for (const { server } of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

/** Not within a longer number: a server's port may be 39009. */
function whole(text: string): RegExp {
  return new RegExp(`(?<!\\d)${text.replace(/[.\\]/g, "\\$&")}(?!\\d)`, "g");
}

async function answer(site: Site, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { type = "text/html", status = 200, headers = {}, body } = await site(request);
  response.writeHead(status, { "content-type": type, ...headers });
  response.end(body);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const page = (title: string, body: string, head = "") =>
  `<!doctype html><html lang="en"><head><title>${title}</title>${head}</head><body>${body}</body></html>`;

const words = (n: number) =>
  `<article><h1>Page ${n}</h1><p>${`All about the number ${n}, as far as it is known. `.repeat(6)}</p></article>`;

/** A site with as many pages as are asked for, a blog, a shop, a page that is gone, one that never answers, and one behind robots.txt. */
export class Site implements AsyncDisposable {
  readonly asked: string[] = [];
  readonly #server: Server;
  readonly #pages: number;
  /** Pages wait here until they may be answered. */
  gate: Promise<void> | null = null;

  private constructor(server: Server, pages: number) {
    this.#server = server;
    this.#pages = pages;
  }

  static async open(pages = 20): Promise<Site> {
    const server = createServer();
    const site = new Site(server, pages);
    server.on("request", (request, response) => void site.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return site;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "/";
    this.asked.push(path);
    const number = /^\/pages\/(\d+)$/.exec(path)?.[1];
    if (number !== undefined) {
      await this.gate;
      return html(
        response,
        page(`Page ${number}`, words(Number(number)), `<meta name="description" content="Number ${number}">`),
      );
    }
    const answer = ROUTES[path];
    if (answer !== undefined) return answer(request, response);
    if (path === "/") {
      const links = Array.from({ length: this.#pages }, (_, n) => `<a href="/pages/${n + 1}">Number ${n + 1}</a>`);
      return html(
        response,
        page(
          "Start",
          `<p>Here it begins.</p>${links.join(" ")}<a href="/gone">gone</a> <a href="/private/a">private</a>`,
        ),
      );
    }
    if (path === "/sitemap.xml") {
      const entries = ["/blog/from-sitemap", "/pages/1"].map((one) => `<url><loc>${this.url}${one}</loc></url>`);
      response.writeHead(200, { "content-type": "application/xml" });
      return void response.end(
        `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join("")}</urlset>`,
      );
    }
    response.writeHead(404, { "content-type": "text/html" }).end(page("Gone", "<p>Gone.</p>"));
    return undefined;
  }
}

function html(response: ServerResponse, body: string): void {
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(body);
}

const ROUTES: Readonly<Record<string, Answer>> = {
  "/robots.txt": (_request, response) => response.end("User-agent: *\nDisallow: /private/\n"),
  "/never": () => {},
  "/paper.pdf": (_request, response) => {
    response
      .writeHead(200, { "content-type": "application/pdf" })
      .end("%PDF-1.4\n%\u00e2\u00e3\n1 0 obj\n<<>>\nendobj\n%%EOF\n");
  },
  "/broken": (_request, response) => void response.writeHead(500).end("broken"),
  "/tricky": (_request, response) =>
    html(
      response,
      page(
        "Tricky",
        words(8),
        `<meta name="error" content="no error of ours"><meta name="status_code" content="666"><meta property="og:image" content="/og.png"><link rel="shortcut icon" href="icons/a.png"><script type="application/ld+json">{"@type":"Product","name":"Plot","fields":{"north":1},"sku":"F-1"}</script>`,
      ),
    ),
  "/header": (request, response) =>
    html(response, page("Header", `<p>You say ${String(request.headers["x-wish"])}, which is nice of you to say.</p>`)),
  "/form": (_request, response) =>
    html(
      response,
      page(
        "Form",
        `<h1>Who are you?</h1><form id="form"><input id="name"></form><div id="out"></div><p id="window"></p><script>
          document.getElementById("window").textContent = innerWidth < 600 ? "small window" : "large window";
          document.getElementById("form").addEventListener("submit", (event) => {
            event.preventDefault();
            const said = "You are " + document.getElementById("name").value;
            document.getElementById("out").innerHTML = "<p id=said>" + said + "</p>";
          });
        </script>`,
        `<meta name="viewport" content="width=device-width">`,
      ),
    ),
  "/blog": (_request, response) =>
    html(
      response,
      page("Blog", `<p>Posts.</p><a href="/blog/one">One</a> <a href="/blog/two">Two</a> <a href="/pages/1">out</a>`),
    ),
  "/blog/one": (_request, response) => html(response, page("One", words(1))),
  "/blog/two": (_request, response) => html(response, page("Two", words(2))),
  "/blog/from-sitemap": (_request, response) => html(response, page("Mapped", words(3))),
  "/shop": (_request, response) =>
    html(
      response,
      page(
        "A kettle",
        `<nav><a href="/">home</a></nav><main><h1>A kettle</h1><p>${"It boils water well, and says so. ".repeat(8)}</p><img src="/kettle.png" alt="kettle"><a href="/blog">Read on</a></main><script>evil()</script><footer class="foot">imprint</footer>`,
        `<meta name="description" content="Boils water"><meta property="og:title" content="Kettle"><script type="application/ld+json">{"@type":"Product","name":"A kettle","sku":"K-7","offers":{"price":"19.90","priceCurrency":"EUR"}}</script>`,
      ),
    ),
};

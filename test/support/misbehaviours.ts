/** What a path of a `MisbehavingSite` can do, from good pages to endless ones. */
import { gzipSync } from "node:zlib";
import { drip, head, rawThenClose, reset, silence } from "./hostile-site.ts";
import { onTheWire, type Route, type Visit } from "./misbehaving-site.ts";

const HTML = { "content-type": "text/html; charset=utf-8" };

export function html(text: string, status = 200, headers: Record<string, string> = {}): Route {
  return (_visit, response) => void response.writeHead(status, { ...HTML, ...headers }).end(text);
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Route {
  return (_visit, response) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

/** A page that says what it is called. */
export function page(title: string, text = "A few words that stand here for everybody."): Route {
  return html(`<!doctype html><title>${title}</title><h1>${title}</h1><p>${text}</p>`);
}

export function article(title: string, paragraphs = 6): Route {
  const body = Array.from(
    { length: paragraphs },
    (_, index) =>
      `<p>Paragraph ${index + 1} of the article tells at some length how the orb weaver mends its web at night,
       thread by thread, and why the result is never quite the same as it was the day before.</p>`,
  );
  return html(
    `<!doctype html><html lang="en"><head><title>${title}</title>
     <meta name="author" content="A. Weaver"><meta name="description" content="About webs.">
     <meta property="article:published_time" content="2026-03-01T08:00:00Z"></head>
     <body><nav><a href="/">Home</a></nav><article><h1>${title}</h1>${body.join("\n")}</article></body></html>`,
  );
}

/** A product as shops describe it to search engines. */
export function product(name: string, price: string, currency = "EUR"): Route {
  const offer = { "@type": "Offer", price, priceCurrency: currency, availability: "https://schema.org/InStock" };
  const data = { "@context": "https://schema.org", "@type": "Product", name, sku: "SKU-1", offers: offer };
  return html(
    `<!doctype html><title>${name} - Shop</title><script type="application/ld+json">${JSON.stringify(data)}</script>
     <h1>${name}</h1><p class="price">${price} ${currency}</p>`,
  );
}

/** `?page=N` gives a piece of the list and says where the next one is. */
export function pagedApi(items: readonly unknown[], perPage: number): Route {
  return (visit, response, site) => {
    const at = Number(visit.query.get("page") ?? "1");
    const piece = items.slice((at - 1) * perPage, at * perPage);
    const next = at * perPage < items.length ? site.url(`${visit.path}?page=${at + 1}`) : null;
    json({ items: piece, next, total: items.length })(visit, response, site);
  };
}

const shell = (title: string, script: string) =>
  html(`<!doctype html><html><head><title>${title}</title></head><body><div id="root"></div>
     <script>const root = document.getElementById("root"); ${script}</script></body></html>`);

/** Empty until its script has run. */
export function rendered(title: string): Route {
  return shell(title, `root.innerHTML = "<h1>${title}</h1><p>Put together by a script.</p>";`);
}

/** Empty until its script has asked for each of these, one after the other. */
export function renderedAfter(title: string, ...paths: string[]): Route {
  return shell(
    title,
    `(async () => {
       const parts = [];
       for (const path of ${JSON.stringify(paths)}) parts.push(JSON.stringify(await (await fetch(path)).json()));
       root.innerHTML = "<h1>${title}</h1>" + parts.map((part) => "<p class=part>" + part + "</p>").join("");
     })();`,
  );
}

/** An application whose script never fills it. */
export const emptyApplication: Route = html(
  `<!doctype html><title>App</title><body><div id="root"></div><script src="/app.js"></script></body>`,
);

export function status(code: number, headers: Record<string, string> = {}): Route {
  return html(`<title>${code}</title><p>This is ${code}.</p>`, code, headers);
}

/** `retryAfter` in seconds or as a date; without it the site does not say for how long. */
export function tooMany(retryAfter?: string): Route {
  return status(429, retryAfter === undefined ? {} : { "retry-after": retryAfter });
}

export function firstTimes(times: number, first: Route, then: Route): Route {
  return (visit, response, site) => (visit.nth <= times ? first : then)(visit, response, site);
}

export function onlyForBrowsers(forBrowsers: Route, forOthers: Route = status(403)): Route {
  return (visit, response, site) => (visit.byBrowser ? forBrowsers : forOthers)(visit, response, site);
}

/** Answers when the test lets it. */
export function held(until: Promise<unknown>, then: Route): Route {
  return async (visit, response, site) => {
    await until;
    if (!response.destroyed) await then(visit, response, site);
  };
}

export function slow(ms: number, then: Route): Route {
  return (visit, response, site) =>
    site.after(ms, () => {
      if (!response.destroyed) void then(visit, response, site);
    });
}

/** Takes the request and never says a word. */
export const hang = onTheWire(silence);
/** Goes on for ever, a little at a time. */
export const dripping = onTheWire(drip(head(200, HTML), "<p>still here</p>\n", 20));
export const resetAtOnce = onTheWire(reset());
export const resetInTheMiddle = onTheWire(reset(`${head(200, { ...HTML, "content-length": 1000 })}<p>so far`));
/** Promises more than it sends. */
export const shortBody = onTheWire(rawThenClose(`${head(200, { ...HTML, "content-length": 1000 })}<p>short`));
export const notHttp = onTheWire(rawThenClose("SSH-2.0-OpenSSH_9.6\r\n"));

/** Says that it is larger than anybody wants. */
export function largerThan(bytes: number): Route {
  return html(`<title>Large</title><p>${"x".repeat(bytes)}</p>`);
}

/** Small on the wire, large when it is unpacked. */
export function gzipBomb(bytes: number): Route {
  const packed = gzipSync(Buffer.alloc(bytes, "<p>boom</p>"));
  return (_visit, response) => void response.writeHead(200, { ...HTML, "content-encoding": "gzip" }).end(packed);
}

/** Says UTF-8 and sends Latin-1; its own <meta> tells the truth. */
export const lyingCharset: Route = (_visit, response) => {
  const text = `<!doctype html><meta charset="iso-8859-1"><title>Caf\u00e9 cr\u00e8me</title><p>d\u00e9j\u00e0 vu</p>`;
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(Buffer.from(text, "latin1"));
};

export function sendTo(location: string, code = 302): Route {
  return (_visit, response) => void response.writeHead(code, { location }).end();
}

/** `?left=N` sends N times on before it shows the page. */
export function hops(then: Route): Route {
  return (visit, response, site) => {
    const left = Number(visit.query.get("left") ?? "0");
    return (left <= 0 ? then : sendTo(`${visit.path}?left=${left - 1}`))(visit, response, site);
  };
}

export function cookiesOf(visit: Visit): Map<string, string> {
  const pairs = (visit.headers.cookie ?? "").split(/;\s*/).filter((pair) => pair.includes("="));
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}

/** What a bot protection shows first: its script sets a cookie after a while and loads the page again. */
export function challenge(afterMs: number, behind: Route): Route {
  const wall = html(
    `<!doctype html><title>Just a moment...</title>
     <div class="cf-browser-verification"><h1>Checking your browser before accessing this site.</h1></div>
     <script>setTimeout(() => { document.cookie = "passed=1; path=/"; location.reload(); }, ${afterMs});</script>`,
    503,
  );
  return (visit, response, site) => (cookiesOf(visit).get("passed") === "1" ? behind : wall)(visit, response, site);
}

/** A wall that only whoever has solved it elsewhere gets past: by this cookie. */
export function captchaWall(cookie: { name: string; value: string }, behind: Route): Route {
  const wall = html(
    `<!doctype html><title>Verify you are human</title>
     <p>To continue, please verify that you are not a robot.</p><form method="post"><button>I am a person</button></form>`,
    403,
  );
  return (visit, response, site) =>
    (cookiesOf(visit).get(cookie.name) === cookie.value ? behind : wall)(visit, response, site);
}

/** The sign-in of a site: `/login` takes the form and gives a cookie, `members` shows a page to whoever has it. */
export function signIn(user: { name: string; password: string }, cookie: { name: string; value: string }) {
  const form = html(
    `<!doctype html><title>Sign in</title><form method="post"><input name="name"><input name="password" type="password">
     <button>Sign in</button></form>`,
  );
  const login: Route = (visit, response, site) => {
    if (visit.method !== "POST") return form(visit, response, site);
    const given = new URLSearchParams(visit.body);
    if (given.get("name") !== user.name || given.get("password") !== user.password)
      return status(401)(visit, response, site);
    response.writeHead(303, { location: "/", "set-cookie": `${cookie.name}=${cookie.value}; Path=/; HttpOnly` }).end();
  };
  const members =
    (behind: Route, refusal: Route = status(401)): Route =>
    (visit, response, site) =>
      (cookiesOf(visit).get(cookie.name) === cookie.value ? behind : refusal)(visit, response, site);
  return { login, members };
}

export function basicAuth(user: { username: string; password: string }, behind: Route): Route {
  const right = `Basic ${Buffer.from(`${user.username}:${user.password}`).toString("base64")}`;
  const refusal = status(401, { "www-authenticate": 'Basic realm="members"' });
  return (visit, response, site) => (visit.headers.authorization === right ? behind : refusal)(visit, response, site);
}

export function headerAuth(name: string, value: string, behind: Route): Route {
  return (visit, response, site) =>
    (visit.headers[name.toLowerCase()] === value ? behind : status(401))(visit, response, site);
}

/** Shows itself to whoever has this in the local storage of the browser. */
export function storageAuth(key: string, value: string, title: string): Route {
  return shell(
    "Members",
    `if (localStorage.getItem(${JSON.stringify(key)}) === ${JSON.stringify(value)})
       root.innerHTML = "<h1>${title}</h1><p>Welcome back.</p>";
     else root.innerHTML = "<h1>Please sign in</h1><p>Members only.</p>";`,
  );
}

export function robots(text: string): Route {
  return (_visit, response) => void response.writeHead(200, { "content-type": "text/plain" }).end(text);
}

/** A page whose script never ends. */
export const endlessScript: Route = html(
  `<!doctype html><title>Endless</title><h1>Before</h1><script>for (;;) ;</script><p>Never shown</p>`,
);

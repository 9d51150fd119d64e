// A server with real work for screenshots: a few small web sites in this process, with crawls, scrapes and items on
// them.
import { mkdtempSync, rmSync } from "node:fs";
import { promises as dns } from "node:dns";
import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import os, { tmpdir } from "node:os";
import { join } from "node:path";
import { makeChanged } from "./changes.mjs";
import { runFlows } from "./flows.mjs";
import { addPlaces } from "./places.mjs";
import { makeDegraded } from "./quality.mjs";
import { makeWalled, startWalledSite } from "./walled.mjs";

/** Each site has its own name and address, all in this process. */
const SITES = {
  magazine: { host: "127.0.0.2", pages: 4000, delay: 25 },
  shop: { host: "127.0.0.3", pages: 900, delay: 40, fails: (number) => number % 9 === 4 },
  archive: { host: "127.0.0.4", pages: 120, delay: 15 },
  flaky: { host: "127.0.0.5", pages: 60, delay: 30, fails: (number) => number > 0 && number % 3 !== 0 },
  atlas: { host: "127.0.0.7", pages: 300, delay: 20 },
  // Fetched with a browser, so that failures have screenshots.
  gallery: {
    host: "127.0.0.8",
    pages: 24,
    delay: 20,
    fails: (number) => number % 7 === 3,
    failsWith: 503,
    gone: (number) => number % 11 === 5,
  },
  // Rate limits after its first pages.
  library: { host: "127.0.0.6", pages: 500, delay: 30, most: 12 },
};
const MARKET_HOST = "127.0.0.10";
const PROXY_HOST = "127.0.0.9";
const WALLED_HOST = "127.0.0.12";
const PROXY_PORT = 8080;
const nameOf = (site) => `${site}.example`;

const TOPICS = [
  "Tide tables",
  "Night trains",
  "Glass making",
  "City maps",
  "Honey",
  "Slow radio",
  "Paper birds",
  "Winter light",
];

function pageOf(site, number, { pages }) {
  const title = `${TOPICS[number % TOPICS.length]} no. ${number}`;
  const next = [1, 2, 3, 4, 5].map((step) => number * 5 + step).filter((other) => other < pages);
  const links = next.map((other) => `<li><a href="/${other}">${TOPICS[other % TOPICS.length]} no. ${other}</a></li>`);
  return `<!doctype html><html lang="en"><head><title>${title}</title>
<meta name="author" content="The ${site} desk"><meta name="description" content="All about ${title.toLowerCase()}.">
</head><body><article><h1>${title}</h1>
<p class="price">€ ${(number * 1.37 + 4).toFixed(2)}</p>
<p>${"A paragraph that says something about the subject of this page, at some length. ".repeat(6)}</p>
<ul>${links.join("")}</ul></article></body></html>`;
}

const OUT_OF_ORDER = `<!doctype html><html lang="en"><head><title>Out of order</title></head>
<body style="margin:0;font:16px system-ui,sans-serif;background:#f4f1ea;color:#2b2b2b"><div style="max-width:560px;margin:120px auto;padding:40px;background:#fff;border-radius:12px">
<h1 style="margin:0 0 12px;font-size:30px">Out of order</h1><p>This room of the gallery is closed for the moment. Please come back in an hour.</p>
<p style="color:#777">Reference: 8f3a-17</p></div></body></html>`;

const NOT_FOUND = `<!doctype html><html lang="en"><head><title>Not found</title></head>
<body style="margin:0;font:16px system-ui,sans-serif;background:#eef2f1;color:#23302d">
<header style="display:flex;gap:28px;align-items:center;padding:20px 48px;background:#23302d;color:#fff"><strong style="font-size:20px">The Gallery</strong>
<span>Rooms</span><span>Artists</span><span>Visit</span></header>
<main style="max-width:720px;margin:96px auto;padding:0 32px"><p style="margin:0;font-size:120px;font-weight:700;line-height:1;color:#3c7a6b">404</p>
<h1 style="margin:16px 0;font-size:36px">This room is no longer on view</h1>
<p style="font-size:18px;line-height:1.6">The page you asked for was taken down, or its address has changed. The plan of the house lists all rooms that are open today.</p>
<p><span style="display:inline-block;padding:12px 22px;border-radius:8px;background:#3c7a6b;color:#fff">To the plan of the house</span></p></main></body></html>`;

/** Seeded, so that screenshots look alike. */
function chance(seed) {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** On the default port, so that URLs have none; on any other if that is taken or not permitted. */
function listen(server, port, host) {
  return new Promise((resolve) => {
    server.once("error", () => server.listen(0, host, resolve));
    server.listen(port, host, resolve);
  });
}

async function startSite(name, options) {
  const random = chance(name.length);
  let served = 0;
  const server = createServer((request, response) => {
    const [, text = "0"] = (request.url ?? "").split("/");
    const number = Number.parseInt(text === "" ? "0" : text, 10);
    setTimeout(
      () => {
        const isTired = options.most !== undefined && ++served > options.most;
        if (request.url === "/robots.txt")
          response.writeHead(200, { "content-type": "text/plain" }).end("User-agent: *\nAllow: /\n");
        else if (isTired) response.writeHead(429, { "retry-after": "1500" }).end("later, please");
        else if (Number.isNaN(number) || number >= options.pages || options.gone?.(number))
          response.writeHead(404, { "content-type": "text/html; charset=utf-8" }).end(NOT_FOUND);
        else if (options.fails?.(number))
          response.writeHead(options.failsWith ?? 500, { "content-type": "text/html" }).end(OUT_OF_ORDER);
        else response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(pageOf(name, number, options));
      },
      options.delay * (0.6 + random()),
    );
  });
  await listen(server, 80, options.host);
  const { port } = server.address();
  return {
    url: `http://${nameOf(name)}${port === 80 ? "" : `:${port}`}/`,
    close: () => server.closeAllConnections() || server.close(),
  };
}

/** Resolves the fictional names to this process. */
function answerForNames() {
  const known = new Map(Object.entries(SITES).map(([name, { host }]) => [nameOf(name), host]));
  known.set(nameOf("museum"), WALLED_HOST);
  known.set(nameOf("market"), MARKET_HOST);
  for (const name of ["north", "west"]) known.set(`${name}.proxies.example`, PROXY_HOST);
  const before = dns.lookup;
  dns.lookup = async (hostname, options) => {
    const address = known.get(hostname);
    if (address !== undefined) return [{ address, family: 4 }];
    if (hostname.endsWith(".example")) throw new Error(`there is no ${hostname}`);
    return before(hostname, options);
  };
  return () => {
    dns.lookup = before;
  };
}

/** Screenshots must not show the name of the machine. */
function nameMachine() {
  const before = os.hostname;
  const call = (hostname) => {
    os.hostname = hostname;
    syncBuiltinESMExports();
  };
  call(() => "orb-1");
  return () => call(before);
}

/** A proxy that accepts connections. */
async function startProxy() {
  const server = createServer((_request, response) => response.writeHead(204).end());
  server.on("connect", (_request, socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"));
  await listen(server, PROXY_PORT, PROXY_HOST);
  return { port: server.address().port, close: () => server.closeAllConnections() || server.close() };
}

/**
 * `empty`: a fresh installation. `busy`: ended, failed and running work. `degraded`: a job whose rules broke. `changed`: a
 * monitor. `walled`: a run that waits for a person.
 */
export async function startWork(kind) {
  const { loadConfig } = await import("../../src/config/load.ts");
  const { silentLog } = await import("../../src/base/log.ts");
  const { startServer } = await import("../../src/app/server.ts");
  const folder = mkdtempSync(join(tmpdir(), "orb-pictures-"));
  const sites = {};
  let server = null;
  const forget = answerForNames();
  const unname = nameMachine();
  const proxy = await startProxy();
  const stop = async () => {
    await server?.stop();
    forget();
    unname();
    proxy.close();
    for (const site of Object.values(sites)) site.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const hosts = [...Object.values(SITES).map(({ host }) => host), MARKET_HOST, PROXY_HOST, WALLED_HOST].map(
      (host) => `${host}/32`,
    );
    const { config, sources } = loadConfig({
      env: {
        APP_PORT: String(await usualPort()),
        APP_ALLOW_PRIVATE_NETWORKS: hosts.join(","),
        APP_RETRY_BASE_SECONDS: "0.3",
        APP_RETRY_MAX_SECONDS: "2",
        APP_BREAKER_FAILURES: "8",
        APP_MAX_MEMORY_MB: "2048",
        ...(process.env.ORB_TEST_CHROMIUM ? { APP_BROWSER_PATH: process.env.ORB_TEST_CHROMIUM } : {}),
      },
      cwd: folder,
    });
    server = await startServer(config, silentLog, { version: "0.1.0", worker: true, sources });
    const { url } = server;
    const call = async (method, path, body) => {
      const answer = await fetch(url + path, {
        method,
        headers: { accept: "application/json", ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return text === "" ? null : JSON.parse(text);
    };
    const work = { url, call, sites, proxyPort: proxy.port, runs: {}, stop };
    if (kind === "busy") await makeBusy(work);
    if (kind === "degraded") await makeDegraded(work, ended);
    if (kind === "walled") {
      const { port, close } = await startWalledSite(listen, WALLED_HOST);
      sites.walled = { url: `http://${nameOf("museum")}${port === 80 ? "" : `:${port}`}/`, close };
      await makeWalled(work);
    }
    if (kind === "changed") await makeChanged(work, { ended, listen, host: MARKET_HOST });
    return work;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Commands in screenshots contain the server's URL: use the default port if it is free. */
async function usualPort() {
  const server = createServer();
  await listen(server, 8000, "127.0.0.1");
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port === 8000 ? 8000 : 0;
}

async function makeBusy(work) {
  const { call, sites, runs } = work;
  for (const [name, options] of Object.entries(SITES)) sites[name] = await startSite(name, options);
  const crawl = async (name, more = {}) => {
    const { task_id } = await call("POST", "/scraping/async-scrape", { url: sites[name].url, max_depth: 12, ...more });
    runs[name] = task_id;
  };
  const limit = (name, limits) => call("PATCH", `/sites/${encodeURIComponent(new URL(sites[name].url).host)}`, limits);
  // Slow enough to be seen running.
  await limit("magazine", { max_concurrency: 4, min_delay_ms: 200 });
  await limit("shop", { max_concurrency: 3, min_delay_ms: 700 });
  await limit("atlas", { max_concurrency: 1, min_delay_ms: 5000 });
  await crawl("archive", { max_pages: 120 });
  await ended(call, runs.archive);
  await crawl("gallery", { max_pages: 24, retry_attempts: 0, strategy: "browser" });
  await ended(call, runs.gallery);
  const page = await call("POST", "/runs", {
    name: "A room of the gallery",
    target_url: `${sites.gallery.url}1`,
    strategy: "browser",
    fields: { title: "h1", price: ".price", rooms: { css: "li", all: true } },
    document: { formats: ["markdown", "html", "links", "screenshot"] },
  });
  runs.page = page.id;
  await ended(call, runs.page);
  await crawl("flaky", { max_pages: 60, retry_attempts: 1 });
  await crawl("shop", { max_pages: 900, retry_attempts: 1 });
  await crawl("magazine", { max_pages: 4000 });
  await crawl("library", { max_pages: 200 });
  await addPlaces(work);
  await runFlows({ ...work, ended: (id) => ended(call, id) });
  // Charts have steps of ten seconds, sparklines of a minute.
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.ORB_SCREENSHOTS_WORK_MS ?? 130_000)));
}

async function ended(call, id) {
  for (;;) {
    const { status } = await call("GET", `/jobs/runs/${id}`);
    if (["completed", "partial", "failed", "cancelled"].includes(status)) return;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

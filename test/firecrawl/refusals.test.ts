import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import type { Firecrawl } from "@mendable/firecrawl-js";
import { WebSocket } from "ws";
import { TestServer } from "../jobs/kit.ts";
import { clientOf, refused } from "./kit.ts";
import { Site } from "./site.ts";

const TOKEN = "a-token-of-good-length-4711";

let server: TestServer;
let site: Site;
let app: Firecrawl;

before(async () => {
  [server, site] = await Promise.all([
    TestServer.open({ APP_API_TOKEN: TOKEN, APP_BROWSER_NAV_TIMEOUT_MS: "15000" }),
    Site.open(2),
  ]);
  app = clientOf(server.api.url, TOKEN);
});

after(async () => {
  await server[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

test("whoever has another key is refused, on every address and over a WebSocket", async () => {
  const stranger = clientOf(server.api.url, "another-key");
  for (const call of [
    stranger.scrape(site.url),
    stranger.startCrawl(site.url),
    stranger.map(site.url),
    stranger.getQueueStatus(),
    stranger.search("news"),
  ]) {
    const { status, code, message } = await refused(call);
    assert.deepEqual([status, code], [401, "UNAUTHORIZED"]);
    assert.match(message, /token/);
  }
  const { id } = await app.startCrawl(site.url, { limit: 1 });
  assert.equal(await upgraded(id, "another-key"), 401);
  assert.equal(await upgraded(id, TOKEN), 101);
  assert.equal(await upgraded(id, TOKEN, { origin: "https://evil.example" }), 403, "no page of another site");
  assert.equal(await upgraded(id, TOKEN, { host: "evil.example" }), 400, "no host that is not ours");
  assert.equal(await upgraded("00000000-0000-4000-8000-000000000000", TOKEN), 404);
  await server.ended(id).catch(() => {});
});

/** What a request for a WebSocket is answered with. */
function upgraded(id: string, key: string, headers: Record<string, string> = {}): Promise<number> {
  const ws = new WebSocket(`${server.api.url.replace("http", "ws")}/v2/crawl/${id}`, key, { headers });
  return new Promise((resolve, reject) => {
    ws.once("open", () => {
      ws.close();
      resolve(101);
    });
    ws.once("unexpected-response", (_request, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    ws.once("error", reject);
  });
}

/** Asks for a WebSocket by hand; keeps its own side open, whatever is answered. */
async function askByHand(url: string, id: string, key: string): Promise<{ socket: Socket; status: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on("error", () => {});
  socket.write(
    [
      `GET /v2/crawl/${id} HTTP/1.1`,
      `host: ${hostname}:${port}`,
      "connection: Upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 13",
      "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
      `sec-websocket-protocol: ${key}`,
      "\r\n",
    ].join("\r\n"),
  );
  const answer = await new Promise<string>((resolve) => socket.once("data", (bytes) => resolve(String(bytes))));
  return { socket, status: answer.slice(9, 12) };
}

test("the connection of whoever may not watch is closed, although they keep it open", async () => {
  const { socket, status } = await askByHand(server.api.url, "00000000-0000-4000-8000-000000000000", "another-key");
  assert.equal(status, "401");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.resume();
  // What is sent to a connection that is gone is refused; one that is half open would take it.
  const knock = setInterval(() => socket.write("x"), 50);
  await closed;
  clearInterval(knock);
});

test("a server stops soon, although somebody watches and never says goodbye", async () => {
  const other = await TestServer.open({ APP_API_TOKEN: TOKEN }, { worker: false });
  const { id } = await clientOf(other.api.url, TOKEN).startCrawl(site.url);
  const { socket, status } = await askByHand(other.api.url, id, TOKEN);
  assert.equal(status, "101");
  socket.pause();
  const begun = performance.now();
  await other.stop();
  assert.ok(performance.now() - begun < 28_000, "a WebSocket would be waited for 30 seconds");
  await other[Symbol.asyncDispose]();
  socket.destroy();
});

test("whoever offers to speak another protocol is answered all the same", async () => {
  const body = JSON.stringify({ url: `${site.url}/pages/1`, limit: 1, sitemap: "skip" });
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const offer = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABkAARAAAAAAAIAAAAA" };
  const status = await new Promise<number>((resolve, reject) => {
    const sent = request(
      `${server.api.url}/v2/crawl`,
      { method: "POST", headers: { ...headers, ...offer } },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
  assert.equal(status, 200);
});

test("what is not there is told in the shape that the client reads", async () => {
  const missing = "00000000-0000-4000-8000-000000000000";
  for (const call of [
    app.getCrawlStatus(missing),
    app.getBatchScrapeStatus(missing),
    app.cancelCrawl(missing),
    app.getCrawlErrors(missing),
  ]) {
    const { status, code } = await refused(call);
    assert.deepEqual([status, code], [404, "NOT_FOUND"]);
  }
  assert.equal((await refused(app.v1.checkCrawlStatus(missing))).statusCode, 500, "as the first version has it");
});

test("what has no equivalent says what to do instead", async () => {
  for (const [call, words] of [
    [app.search("news"), /Web search/],
    [app.startAgent({ prompt: "find it" }), /Agents/],
    [app.startExtract({ urls: [site.url], prompt: "all" }), /json format/],
    [app.crawlParamsPreview(site.url, "the blog"), /includePaths/],
    [app.v1.search("news", {}), /Web search/],
  ] as const) {
    const { message } = await refused(call);
    assert.match(message, words);
  }
});

test("options that would change what one gets are refused by their names, harmless ones are taken", async () => {
  for (const [options, words] of [
    [{ formats: ["summary"] }, /formats\[0\]: .*language model/],
    [{ formats: [{ type: "json", prompt: "the price" }] }, /formats\[0\]: .*APP_LLM_URL/],
    [{ location: { country: "DE" } }, /location: /],
    [{ skipTlsVerification: true }, /skipTlsVerification: certificates/],
    [{ proxy: "stealth" }, /proxy: /],
    [{ actions: [{ type: "executeJavascript", script: "1" }] }, /actions\[0\]\.type: is not supported: scripts/],
    [{ actions: [{ type: "click" }] }, /actions\[0\]\.selector: is required/],
    [{ onlyMainContnt: true }, /onlyMainContnt: unknown key, did you mean "onlyMainContent"/],
    [{ timeout: 0.5 }, /timeout: expected a whole number/],
  ] as [object, RegExp][]) {
    const { status, code, message, details } = await refused(app.scrape(site.url, options));
    assert.deepEqual([status, code], [400, "BAD_REQUEST"], message);
    assert.match(message, words);
    assert.ok(Array.isArray(details));
  }
  const crawl = await refused(
    app.startCrawl(site.url, { includePaths: ["(?=a)"], prompt: "the blog", webhook: { url: "ftp://x" } }),
  );
  assert.match(crawl.message, /prompt: .*; webhook\.url: expected an http or https URL|webhook\.url.*prompt/);
  assert.match(
    (await refused(app.startCrawl(site.url, { includePaths: ["(?=a)"] }))).message,
    /includePaths\[0\]: .*lookaround/,
  );
  assert.match((await refused(app.scrape("ftp://example.com/"))).message, /url: expected an http or https URL/);
  const hidden = await refused(app.startCrawl(site.url, { webhook: "http://169.254.169.254/latest" }));
  assert.match(hidden.message, /webhook\.url|not allowed|may not/);
  const document = await app.scrape(`${site.url}/shop`, {
    blockAds: true,
    fastMode: true,
    proxy: "auto",
    skipTlsVerification: false,
    removeBase64Images: true,
    integration: "test",
    maxAge: 0,
  });
  assert.match(document.markdown ?? "", /boils water/);
});

test("a page that cannot be had is an error with its reason", async () => {
  const gone = await refused(app.scrape(`${site.url}/gone`));
  assert.deepEqual([gone.status, gone.code], [500, "SCRAPE_SITE_ERROR"]);
  assert.equal((gone.details as { http_status: number }).http_status, 404);
  const broken = await refused(app.scrape(`${site.url}/broken`));
  assert.equal((broken.details as { http_status: number }).http_status, 500);
  assert.equal(site.asked.filter((path) => path === "/broken").length, 1, "it is not tried again while one waits");
  const file = await refused(app.scrape(`${site.url}/paper.pdf`));
  assert.equal((file.details as { failure_reason: string }).failure_reason, "document_damaged");
  const late = await refused(app.scrape(`${site.url}/never`, { timeout: 300 }));
  assert.deepEqual([late.status, late.code], [408, "SCRAPE_TIMEOUT"]);
  const old = await refused(app.v1.scrapeUrl(`${site.url}/never`, { timeout: 300 }));
  assert.equal(old.statusCode, 408);
  const secret = await refused(app.scrape("http://169.254.169.254/latest"));
  assert.ok([400, 403].includes(secret.status ?? 0), secret.message);
});

test("a page of a site that wants to be left alone is refused at once, with the time", async () => {
  const busy = createServer((_request, response) => response.writeHead(429, { "retry-after": "3000" }).end());
  await new Promise<void>((resolve) => busy.listen(0, "127.0.0.2", resolve));
  try {
    const url = `http://127.0.0.2:${(busy.address() as AddressInfo).port}/`;
    const { status, code, message, details } = await refused(app.scrape(url, { timeout: 300_000 }));
    assert.deepEqual([status, code], [500, "SCRAPE_SITE_HELD"], message);
    const { waiting_for: waiting } = details as { waiting_for: { reason: string; until: string } };
    assert.equal(waiting.reason, "rate_limited");
    assert.ok(Date.parse(waiting.until) > Date.now() + 300_000);
    assert.ok(message.includes(waiting.until), message);
  } finally {
    busy.closeAllConnections();
    await new Promise((resolve) => busy.close(resolve));
  }
});

test("waits that cannot end in time, and headers that are not the caller's, are refused by their names", async () => {
  const wait = { waitFor: 30_000 };
  assert.match((await refused(app.scrape(site.url, { ...wait, timeout: 20_000 }))).message, /waitFor: .*timeout/);
  assert.match(
    (await refused(app.startCrawl(site.url, { scrapeOptions: wait }))).message,
    /scrapeOptions\.waitFor: .*APP_BROWSER_NAV_TIMEOUT_MS/,
  );
  assert.match((await refused(app.startBatchScrape([site.url], { options: wait }))).message, /: waitFor: /);
  for (const [name, value] of [
    ["Host", "other.example"],
    ["content-length", "5"],
    ["Transfer-Encoding", "chunked"],
    ["x-note", "a\u0007b"],
    ["x-note", "€"],
  ] as const) {
    const webhook = { url: "https://example.com/", headers: { [name]: value } };
    assert.match(
      (await refused(app.startCrawl(site.url, { webhook }))).message,
      new RegExp(`webhook.headers.${name}:`),
    );
  }
});

test("how busy it is and what is left is told without invention", async () => {
  const queue = await app.getQueueStatus();
  assert.equal(queue.success, true);
  assert.ok(queue.maxConcurrency > 0);
  const { maxConcurrency } = await app.getConcurrency();
  assert.equal(maxConcurrency, queue.maxConcurrency);
  assert.equal((await app.getCreditUsage()).remainingCredits, Number.MAX_SAFE_INTEGER);
  assert.equal((await app.getTokenUsage()).billingPeriodEnd, null);
  assert.deepEqual((await app.getCreditUsageHistorical()).periods, []);
  const old = await app.v1.getCreditUsage();
  assert.ok(old.success);
});

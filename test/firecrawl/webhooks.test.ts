import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import type { Firecrawl } from "@mendable/firecrawl-js";
import { TestServer } from "../jobs/kit.ts";
import { clientOf, Receiver } from "./kit.ts";
import { Site } from "./site.ts";

const SECRET = "receiver-secret-0123456789";

let server: TestServer;
let site: Site;
let app: Firecrawl;

before(async () => {
  [server, site] = await Promise.all([TestServer.open({ APP_WEBHOOK_SECRET: SECRET }), Site.open(20)]);
  app = clientOf(server.api.url);
});

after(async () => {
  await server[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

test("a program is told of a crawl: its beginning, every page, good or bad, and its end, signed", async () => {
  await using receiver = await Receiver.open();
  receiver.answers.push(503);
  const webhook = {
    url: receiver.url,
    headers: { authorization: "Bearer 4711", "Content-Type": "text/plain" },
    metadata: { order: "7" },
  };
  const { id } = await app.startCrawl(site.url, { sitemap: "skip", webhook });
  await receiver.until(() => receiver.types.includes("crawl.completed"));
  const { types, heard } = receiver;
  assert.equal(types[0], "crawl.started", "also when it was refused at first");
  assert.equal(types.at(-1), "crawl.completed");
  const pages = heard.filter(({ body }) => body.type === "crawl.page");
  assert.equal(pages.length, 23);
  assert.equal(new Set(pages.map(({ body }) => body.data[0]?.metadata["sourceURL"])).size, 23);
  const bad = pages
    .filter(({ body }) => !body.success)
    .map(({ body }) => new URL(String(body.data[0]?.metadata["sourceURL"])).pathname);
  assert.deepEqual(bad.toSorted(), ["/gone", "/private/a"]);
  assert.equal(new Set(heard.map(({ body }) => body.webhookId)).size, heard.length);
  for (const { headers, text, body } of heard) {
    const signature = `sha256=${createHmac("sha256", SECRET).update(text).digest("hex")}`;
    assert.equal(headers["x-firecrawl-signature"], signature);
    assert.deepEqual([headers.authorization, headers["content-type"]], ["Bearer 4711", "application/json"]);
    assert.deepEqual([body.id, body.metadata], [id, { order: "7" }]);
  }
  assert.match(
    pages.find(({ body }) => body.data[0]?.metadata["title"] === "Page 7")?.body.data[0]?.markdown ?? "",
    /number 7/,
  );
  const kept = server.stored().filter(({ bytes }) => bytes.includes(receiver.url) || bytes.includes("Bearer 4711"));
  assert.deepEqual(
    kept.map(({ path }) => path),
    [],
    "the address and its headers are sealed",
  );
});

test("only what was asked for is told, and a batch says so in its own words", async () => {
  await using receiver = await Receiver.open();
  const { id } = await app.startBatchScrape([`${site.url}/pages/1`, `${site.url}/gone`], {
    webhook: { url: receiver.url, events: ["page", "completed"] },
  });
  await receiver.until(() => receiver.types.includes("batch_scrape.completed"));
  assert.deepEqual(receiver.types.toSorted(), ["batch_scrape.completed", "batch_scrape.page", "batch_scrape.page"]);
  assert.ok(receiver.heard.every(({ body }) => body.id === id));
});

test("a cancelled crawl is told as such", async () => {
  await using receiver = await Receiver.open();
  const { id } = await app.startCrawl(site.url, { delay: 30, webhook: receiver.url });
  await receiver.until(() => receiver.types.includes("crawl.started"));
  await app.cancelCrawl(id);
  await receiver.until(() => receiver.types.includes("crawl.cancelled"));
  const last = receiver.heard.at(-1)?.body;
  assert.deepEqual([last?.success, last?.error], [false, "cancelled"]);
});

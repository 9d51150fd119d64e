import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Firecrawl } from "@mendable/firecrawl-js";
import { request } from "undici";
import { TestServer } from "../jobs/kit.ts";
import { browserGate } from "../support/browser-kit.ts";
import { clientOf, Receiver, refused } from "./kit.ts";
import { Site } from "./site.ts";

let server: TestServer;
let site: Site;
let app: Firecrawl;

before(async () => {
  [server, site] = await Promise.all([TestServer.open(), Site.open(1)]);
  app = clientOf(server.api.url);
});

after(async () => {
  await server[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

async function picture(url: unknown): Promise<void> {
  const { statusCode, body } = await request(String(url));
  assert.equal(statusCode, 200);
  assert.deepEqual(Buffer.from(await body.arrayBuffer()).subarray(0, 4), PNG);
}

test("a page is shown as a picture, after something was done on it", browserGate, async () => {
  const page = await app.scrape(`${site.url}/form`, {
    formats: ["markdown", { type: "screenshot", fullPage: true }],
    onlyMainContent: false,
    waitFor: 10,
    actions: [
      { type: "click", selector: "#name" },
      { type: "write", text: "Ariadne" },
      { type: "press", key: "Enter" },
      { type: "wait", selector: "#said" },
      { type: "screenshot" },
      { type: "scrape" },
      { type: "scroll", direction: "down" },
    ],
  });
  assert.match(page.markdown ?? "", /You are Ariadne/);
  await picture(page.screenshot);
  const { screenshots, scrapes } = page.actions as { screenshots: string[]; scrapes: { url: string; html: string }[] };
  assert.deepEqual([screenshots.length, scrapes.length], [1, 1]);
  await picture(screenshots[0]);
  assert.match(scrapes[0]?.html ?? "", /You are Ariadne/);
});

test("a page is seen as a phone shows it, and an action that finds nothing is named", browserGate, async () => {
  const phone = await app.scrape(`${site.url}/form`, { mobile: true, onlyMainContent: false });
  assert.match(phone.markdown ?? "", /small window/);
  const missing = await refused(
    app.scrape(`${site.url}/form`, { actions: [{ type: "click", selector: "#nowhere" }], timeout: 60_000 }),
  );
  assert.deepEqual([missing.status, missing.code], [400, "SCRAPE_ACTION_ERROR"]);
  assert.match(missing.message, /actions\[0\].*#nowhere/);
});

test("a webhook names files where whoever asked for them has found the server", browserGate, async () => {
  await using receiver = await Receiver.open();
  await app.startBatchScrape([`${site.url}/pages/1`], {
    options: { formats: ["screenshot"] },
    webhook: { url: receiver.url, events: ["page"] },
  });
  await receiver.until(() => receiver.types.length === 1);
  const [page] = (receiver.heard[0]?.body.data ?? []) as { screenshot?: string }[];
  assert.ok(page?.screenshot?.startsWith(`${server.api.url}/artifacts/`), page?.screenshot);
  await picture(page?.screenshot);
});

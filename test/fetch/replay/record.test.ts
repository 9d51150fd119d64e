import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chromium, type Page } from "playwright-core";
import { systemClock } from "../../../src/base/clock.ts";
import { extractPage } from "../../../src/extract/page.ts";
import { compilePlan, planForReplay } from "../../../src/extract/plan.ts";
import { writeJob } from "../../../src/fetch/replay/job.ts";
import { rankExchanges } from "../../../src/fetch/replay/rank.ts";
import { recordExchanges, visibleText } from "../../../src/fetch/replay/record.ts";
import { createReplayStrategy } from "../../../src/fetch/replay/strategy.ts";
import { gate } from "../../support/gate.ts";
import { testClient } from "../../support/net.ts";
import { type Respond, sendText, startApi } from "./api.ts";

const executablePath = process.env["ORB_TEST_CHROMIUM"] ?? "";
const needsBrowser = gate("recording in a browser", executablePath !== "", "ORB_TEST_CHROMIUM names no Chromium");

const NAMES = ["Walnut table", "Linen curtain", "Copper kettle", "Woollen blanket", "Oak bench"];
/** A shop as a page of scripts: the list comes from its API, two things at a time, after a first call for the user. */
const SHOP = `<!doctype html><title>Shop</title><h1>Our things</h1><ul></ul><script type="module">
  const me = await (await fetch("/api/me", { headers: { "x-csrf-token": "t0k3n" } })).json();
  navigator.sendBeacon("/collect", "x");
  fetch("/broken").catch(() => {});
  const list = await (await fetch("/api/things?page=1&color=any")).json();
  document.querySelector("ul").innerHTML = list.data.map((thing) => "<li>" + thing.name + " " + thing.price + "</li>").join("");
</script>`;

const shop: Respond = (_call, url, response) => {
  const page = Number(url.searchParams.get("page"));
  const things = NAMES.map((name, index) => ({ id: index, name, price: 10.5 + index }));
  if (url.pathname === "/") return void sendText(response, 200, "text/html", SHOP);
  if (url.pathname === "/api/me") return { user: null };
  if (url.pathname === "/api/things") return { data: things.slice((page - 1) * 2, page * 2), total: NAMES.length };
  if (url.pathname === "/broken") return void response.destroy();
  return void sendText(response, 404, "text/plain", "no");
};

async function withPage<T>(work: (page: Page) => Promise<T>): Promise<T> {
  // As root Chromium refuses to start with its sandbox.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath, args });
  try {
    return await work(await browser.newPage());
  } finally {
    await browser.close();
  }
}

describe("a page that is recorded in a browser", needsBrowser, () => {
  it("becomes a job that brings all items, not only those that the page showed", async () => {
    await using site = await startApi(shop);
    const { ranked, recording } = await withPage(async (page) => {
      const recording = recordExchanges(page, { clock: systemClock });
      await page.goto(site.url("/"));
      assert.equal(await recording.settled(20_000), true);
      recording.stop();
      return { recording, ranked: rankExchanges(recording.exchanges, await visibleText(page)) };
    });
    assert.deepEqual(
      recording.exchanges.map(({ request }) => request.url.slice(site.origin.length)),
      ["/api/me", "/api/things?page=1&color=any"],
    );
    assert.equal(recording.exchanges[0]?.request.headers["x-csrf-token"], "t0k3n");
    const [first] = ranked;
    assert.ok(first !== undefined);
    const { job } = writeJob(first);
    assert.deepEqual(job.fields, {
      id: { jsonpath: "$.id" },
      name: { jsonpath: "$.name" },
      price: { jsonpath: "$.price" },
    });

    await using client = testClient();
    const strategy = createReplayStrategy({ client, clock: systemClock, limits: {}, pause: async () => {} });
    const answer = await strategy.fetch({
      url: job.target_url,
      credentials: null,
      timeoutMs: 20_000,
      maxBodyBytes: 1_000_000,
      replay: job.replay,
    });
    const { body, contentType, finalUrl: url } = answer;
    const { records } = extractPage({ body, contentType, url }, compilePlan(planForReplay({ fields: job.fields })));
    assert.deepEqual(
      records.map((record) => record["name"]),
      NAMES,
    );
  });

  it("is kept within bounds: what is too large or too much is counted, not kept", async () => {
    const html = `<script type="module">
      for (const path of ["/a", "/large", "/b", "/c"]) await (await fetch(path)).text();
    </script>`;
    await using site = await startApi((_call, url, response) => {
      if (url.pathname === "/") return void sendText(response, 200, "text/html", html);
      return { path: url.pathname, text: "x".repeat(url.pathname === "/large" ? 5_000 : 10) };
    });
    await withPage(async (page) => {
      const recording = recordExchanges(page, { clock: systemClock, maxBodyBytes: 1_000, maxExchanges: 2 });
      await page.goto(site.url("/"));
      assert.equal(await recording.settled(20_000), true);
      const paths = recording.exchanges.map(({ request }) => new URL(request.url).pathname);
      assert.deepEqual([paths, recording.dropped], [["/a", "/b"], 2]);
    });
  });

  it("that never settles ends with its time", async () => {
    const html = `<script>fetch("/silent")</script>`;
    await using site = await startApi((_call, url, response) =>
      url.pathname === "/" ? void sendText(response, 200, "text/html", html) : undefined,
    );
    await withPage(async (page) => {
      const recording = recordExchanges(page, { clock: systemClock, quietMs: 1 });
      const asked = page.waitForRequest("**/silent");
      await page.goto(site.url("/"));
      await asked;
      assert.equal(await recording.settled(100), false);
      assert.deepEqual(recording.exchanges, []);
    });
  });
});

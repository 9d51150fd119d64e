import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Firecrawl } from "@mendable/firecrawl-js";
import { TestServer } from "../jobs/kit.ts";
import { LlmServer, says } from "../support/llm-server.ts";
import { clientOf } from "./kit.ts";
import { Site } from "./site.ts";

describe("pages of Firecrawl's client", () => {
  let server: TestServer;
  let site: Site;
  let app: Firecrawl;

  before(async () => {
    [server, site] = await Promise.all([TestServer.open(), Site.open(3)]);
    app = clientOf(server.api.url);
  });

  after(async () => {
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  test("a page comes in every form that is asked for, and in no other", async () => {
    const page = await app.scrape(`${site.url}/shop`, { formats: ["markdown", "html", "rawHtml", "links", "images"] });
    assert.match(page.markdown ?? "", /A kettle[\s\S]*boils water/);
    assert.doesNotMatch(page.markdown ?? "", /imprint|home/, "the main content alone");
    assert.match(page.html ?? "", /<h1>A kettle<\/h1>/);
    assert.doesNotMatch(page.html ?? "", /<script|imprint/);
    assert.match(page.rawHtml ?? "", /<script>evil\(\)<\/script>/);
    assert.deepEqual(page.links, [`${site.url}/`, `${site.url}/blog`]);
    assert.deepEqual(page.images, [`${site.url}/kettle.png`]);
    const { title, description, language, ogTitle, sourceURL, url, statusCode, contentType, cacheState } =
      page.metadata ?? {};
    assert.deepEqual(
      { title, description, language, ogTitle, sourceURL, url, statusCode, cacheState },
      {
        title: "A kettle",
        description: "Boils water",
        language: "en",
        ogTitle: "Kettle",
        sourceURL: `${site.url}/shop`,
        url: `${site.url}/shop`,
        statusCode: 200,
        cacheState: "miss",
      },
    );
    assert.match(contentType ?? "", /^text\/html/);
    const plain = await app.scrape(`${site.url}/shop`);
    assert.deepEqual(Object.keys(plain).toSorted(), ["markdown", "metadata"]);
    const old = await app.v1.scrapeUrl(`${site.url}/shop`, { formats: ["markdown", "links"] });
    assert.ok(old.success);
    assert.match(old.markdown ?? "", /boils water/);
    assert.equal(old.links?.length, 2);
  });

  test("parts of a page are chosen and left out by selectors", async () => {
    const whole = await app.scrape(`${site.url}/shop`, { onlyMainContent: false });
    assert.match(whole.markdown ?? "", /imprint/);
    const chosen = await app.scrape(`${site.url}/shop`, {
      formats: ["html"],
      onlyMainContent: false,
      includeTags: ["h1", ".foot"],
      excludeTags: [".foot"],
    });
    assert.match(chosen.html ?? "", /A kettle/);
    assert.doesNotMatch(chosen.html ?? "", /boils|imprint/);
  });

  test("headers go to the page, and are in nothing that is kept", async () => {
    const page = await app.scrape(`${site.url}/header`, { headers: { "x-wish": "wish-4711-secret" } });
    assert.match(page.markdown ?? "", /You say wish-4711-secret/);
    const crawl = await app.crawl(`${site.url}/header`, {
      sitemap: "skip",
      pollInterval: 1,
      scrapeOptions: { headers: { "x-wish": "wish-4712-other" } },
    });
    assert.match(crawl.data[0]?.markdown ?? "", /You say wish-4712-other/);
  });

  test("json is filled from what the page says of itself, by the names of a schema", async () => {
    const text = { type: "string" };
    const schema = {
      type: "object",
      properties: {
        title: text,
        price: { type: "number" },
        sku: text,
        currency: text,
        weight: { type: ["number", "null"] },
      },
    };
    const page = await app.scrape(`${site.url}/shop`, { formats: ["markdown", { type: "json", schema }] });
    assert.deepEqual(page.json, { title: "A kettle", price: 19.9, sku: "K-7", currency: "EUR", weight: null });
    assert.match(page.warning ?? "", /does not contain weight/);
    assert.match(page.markdown ?? "", /boils water/);
    const alone = await app.scrape(`${site.url}/shop`, { formats: [{ type: "json", schema }] });
    assert.deepEqual([alone.json, alone.markdown], [page.json, undefined]);
    const crawl = await app.crawl(`${site.url}/shop`, {
      limit: 1,
      sitemap: "skip",
      pollInterval: 1,
      scrapeOptions: { formats: [{ type: "json", schema }] },
    });
    assert.deepEqual(crawl.data[0]?.json, page.json);
    const old = await app.v1.scrapeUrl(`${site.url}/shop`, {
      formats: ["json"],
      jsonOptions: { schema: schema as never },
    });
    assert.ok(old.success);
    assert.deepEqual(old.json, page.json);
  });

  test("a page cannot say what only we say, its addresses are whole, and a schema may name anything", async () => {
    const schema = { type: "object", properties: { fields: { type: "object" }, sku: { type: "string" } } };
    const page = await app.scrape(`${site.url}/tricky`, { formats: [{ type: "json", schema }] });
    const { error, statusCode, ogImage, favicon } = page.metadata ?? {};
    assert.deepEqual(
      { error, statusCode, ogImage, favicon },
      { error: undefined, statusCode: 200, ogImage: `${site.url}/og.png`, favicon: `${site.url}/icons/a.png` },
    );
    assert.deepEqual(page.json, { fields: { north: 1 }, sku: "F-1" });
    const old = await app.v1.scrapeUrl(`${site.url}/tricky`, {
      formats: ["extract"],
      extract: { schema: schema as never },
    });
    assert.ok(old.success);
    assert.deepEqual([old.extract, old.json], [page.json, undefined], "under the name by which it was asked for");
  });

  test("whoever hangs up does not leave a run behind", async () => {
    const hangUp = new AbortController();
    const call = fetch(`${server.api.url}/v2/scrape`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ url: `${site.url}/never` }),
      signal: hangUp.signal,
    });
    while (!site.asked.includes("/never")) await sleep(20);
    hangUp.abort();
    await assert.rejects(call, { name: "AbortError" });
    const [run] = (await server.api.get("/runs?kind=page&limit=1")).json<{ id: string }[]>();
    assert.equal((await server.ended(run?.id ?? "")).status, "cancelled");
  });

  test("a page that was got not long ago is answered from the store, if it was asked for in the same way", async () => {
    const asked = () => site.asked.filter((path) => path === "/blog/two").length;
    const first = await app.scrape(`${site.url}/blog/two`, { maxAge: 60_000 });
    assert.equal(first.metadata?.cacheState, "miss");
    const again = await app.scrape(`${site.url}/blog/two#part`, { maxAge: 60_000 });
    assert.deepEqual([again.metadata?.cacheState, again.markdown, asked()], ["hit", first.markdown, 1]);
    assert.ok(Date.parse(again.metadata?.cachedAt ?? "") <= Date.now());
    const other = await app.scrape(`${site.url}/blog/two`, { maxAge: 60_000, formats: ["html"] });
    assert.deepEqual([other.metadata?.cacheState, asked()], ["miss", 2]);
    assert.equal(
      (await app.scrape(`${site.url}/blog/two`)).metadata?.cacheState,
      "miss",
      "unless told, a page is fetched",
    );
    assert.equal(asked(), 3);
    await app.crawl(`${site.url}/blog/one`, { sitemap: "skip", pollInterval: 1 });
    const crawled = await app.scrape(`${site.url}/blog/one`, { maxAge: 60_000 });
    assert.equal(crawled.metadata?.cacheState, "hit", "pages of crawls serve, too");
  });

  test("a scrape is an ordinary run that is temporary", async () => {
    const page = await app.scrape(`${site.url}/pages/1`);
    const runs = (await server.api.get("/runs?kind=page&limit=1")).json<
      { id: string; status: string; expires_at: string | null }[]
    >();
    assert.equal(runs[0]?.status, "completed");
    assert.ok(typeof runs[0]?.expires_at === "string", "it is temporary");
    assert.equal((await server.results(runs[0]?.id ?? ""))[0]?.task_id, page.metadata?.scrapeId);
  });

  test("with a model configured, json is what the model reads [slow]", async () => {
    await using llm = await LlmServer.start();
    await using other = await TestServer.open(llm.env);
    llm.on("/shop", says({ verdict: "boils" }));
    const schema = { type: "object", properties: { verdict: { type: "string" } }, required: ["verdict"] };
    const client = clientOf(other.api.url);
    const page = await client.scrape(`${site.url}/shop`, {
      formats: ["markdown", { type: "json", prompt: "Is it good?", schema }],
    });
    assert.deepEqual(page.json, { verdict: "boils" });
    assert.match(page.markdown ?? "", /boils water/);
  });
});

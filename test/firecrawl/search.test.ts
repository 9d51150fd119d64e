import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Firecrawl } from "@mendable/firecrawl-js";
import { TestServer } from "../jobs/kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, status } from "../support/misbehaviours.ts";
import { searxng } from "../support/searxng.ts";
import { clientOf } from "./kit.ts";

const LONG = "<p>Words enough for a page that somebody wrote about kettles.</p>".repeat(5);
const PAGES = {
  "/one": html(`<title>One</title><article><h1>One kettle</h1>${LONG}</article>`),
  "/two": html(`<title>Two</title><article><h1>Two kettles</h1>${LONG}</article>`),
  "/broken": status(404),
};

const FOUND = ["/one", "/broken", "/two"];

describe("search by Firecrawl's client", () => {
  let server: TestServer;
  let site: MisbehavingSite;
  let engine: MisbehavingSite;
  let app: Firecrawl;

  before(async () => {
    site = await MisbehavingSite.start(PAGES);
    engine = await MisbehavingSite.start({ "/search": searxng(() => site.origin, FOUND) });
    server = await TestServer.open({ APP_SEARCH_URL: engine.origin });
    app = clientOf(server.api.url);
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await engine[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  test("finds pages, news and images, with the options that the search server knows", async () => {
    const found = await app.search("kettles", { sources: ["web", "news", "images"], limit: 2, tbs: "qdr:w" });
    assert.deepEqual(found.web, [
      { url: site.url("/one"), title: "Title of /one", description: "About kettles", position: 1 },
      { url: site.url("/broken"), title: "Title of /broken", description: "About kettles", position: 2 },
    ]);
    assert.deepEqual(found.news?.[0], {
      url: site.url("/one"),
      title: "Title of /one",
      snippet: "About kettles",
      date: "2026-01-02T03:04:05",
      position: 1,
    });
    const [image] = found.images as { imageUrl?: string; imageWidth?: number; imageHeight?: number }[];
    assert.deepEqual([image?.imageUrl, image?.imageWidth, image?.imageHeight], [site.url("/one.png"), 1200, 800]);
    const asked = engine.visits.map(({ query }) => [
      query.get("categories"),
      query.get("time_range"),
      query.get("format"),
    ]);
    assert.deepEqual(asked, [
      ["general", "week", "json"],
      ["news", "week", "json"],
      ["images", "week", "json"],
    ]);
  });

  test("reads the pages it found, and a broken one has its error", async () => {
    const { web } = await app.search("kettles", { scrapeOptions: { formats: ["markdown"] } });
    const pages = web as { url?: string; markdown?: string; metadata?: { statusCode?: number; error?: string } }[];
    assert.equal(pages.length, 3);
    assert.match(pages[0]?.markdown ?? "", /One kettle/, JSON.stringify(pages[0]));
    assert.match(pages[2]?.markdown ?? "", /Two kettles/);
    assert.equal(pages[1]?.markdown, undefined);
    assert.match(pages[1]?.metadata?.error ?? "", /404/);
    const runs = (await server.api.get("/runs?limit=10")).json<{ status: string }[]>();
    assert.deepEqual(
      runs.map(({ status: end }) => end).toSorted(),
      ["completed", "completed", "failed"],
      "durable runs",
    );
    await server.audit();
  });

  test("the own route finds the same, and says what did not answer", async () => {
    const answer = await server.api.post("/search", { query: "kettles", include_domains: ["127.0.0.1"] });
    const { web, warnings } = answer.json<{ web: { url: string }[]; warnings: string[] }>();
    assert.deepEqual(
      web.map(({ url }) => new URL(url).pathname),
      ["/one", "/broken", "/two"],
    );
    assert.deepEqual(warnings, ["a search engine did not answer: other: timeout"]);
    assert.match(engine.visits.at(-1)?.query.get("q") ?? "", /^kettles site:127\.0\.0\.1$/);
  });

  test("what was found stays when a later page or source fails, and a domain is the name of a host", async () => {
    engine.on("/search", (visit, response, at) => {
      if (visit.query.get("categories") === "news") return void response.writeHead(500).end("{}");
      return searxng(() => site.origin, FOUND)(visit, response, at);
    });
    const answer = await server.api.post("/search", { query: "kettles", sources: ["web", "news"] });
    const { web, news, warnings } = answer.json<{ web: unknown[]; news: unknown[]; warnings: string[] }>();
    assert.deepEqual([answer.status, web.length, news.length], [200, 3, 0], answer.text);
    assert.match(warnings.join(), /page 1 of news is missing: .*500/);
    engine.on(
      "/search",
      searxng(() => site.origin, FOUND),
    );
    const wrong = await server.api.post("/search", { query: "kettles", include_domains: ["a.example OR b"] });
    assert.equal(wrong.status, 422, wrong.text);
    assert.match(wrong.text, /include_domains\[0\]: expected the name of a host/);
    await server.api.post("/search", { query: "kettles", exclude_domains: ["bücher.example"] });
    assert.match(engine.visits.at(-1)?.query.get("q") ?? "", /-site:xn--bcher-kva\.example$/);
  });

  test("wrong options are refused by name", async () => {
    await assert.rejects(app.search("x", { tbs: "cdr:1" }), /tbs: expected qdr:d/);
    await assert.rejects(
      app.search("x", { sources: ["maps" as "web"] }),
      /sources: expected a list of web, news, images/,
    );
    await assert.rejects(app.search("x", { limit: 1000 }), /limit: expected a whole number/);
  });

  test("a search server that refuses JSON, is no SearXNG or is missing says what to do", async () => {
    engine.on("/search", status(403));
    await assert.rejects(app.search("x"), /403: allow JSON in its settings\.yml \(search: formats: \[html, json\]\)/);
    engine.on("/search", html("<title>Hello</title>"));
    await assert.rejects(app.search("x"), /did not answer with JSON: set it to the address of a SearXNG/);
    const own = await server.api.post("/search", { query: "x" });
    assert.deepEqual([own.status, own.json<{ code: string }>().code], [502, "search_unavailable"]);
    await using other = await TestServer.open();
    await assert.rejects(clientOf(other.api.url).search("x"), /set APP_SEARCH_URL to the address of your SearXNG/);
  });
});

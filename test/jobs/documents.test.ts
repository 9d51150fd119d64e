import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { JobInput } from "../../src/orchestrator/jobs/input.ts";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, json } from "../support/misbehaviours.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";

const WORDS = "Enough words, commas and patience to be what this page is about, for everybody who reads. ".repeat(4);
const page = (title: string, ...links: string[]) =>
  html(
    `<html lang=en><title>${title}</title><nav>Menu</nav><main><h1>${title}</h1><p>${WORDS}</p><p>About ${title}.</p>` +
      `${links.map((link) => `<a href="${link}">go on</a>`).join("")}</main><script>1</script></html>`,
  );

interface Problem {
  errors: { path: string; message: string }[];
}

type Document = Record<string, unknown> & { metadata: Record<string, unknown> };
const documentOf = (data: object) => (data as { document: Document }).document;

describe("a page that is asked for as a document", () => {
  let server: TestServer;
  let site: MisbehavingSite;
  let crawler: Crawler;
  before(async () => {
    server = await TestServer.open();
    crawler = new Crawler(server);
    site = await MisbehavingSite.start({
      "/": page("Start", "/a", "https://other.example/x"),
      "/a": page("A", "/"),
      "/moved": (_visit, response) => void response.writeHead(302, { location: "/a" }).end(),
      "/data": json({ a: 1 }),
    });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const wrong = async (path: string, body: object) => {
    const answer = await server.api.post(path, body);
    assert.equal(answer.status, 422, answer.text);
    return answer.json<Problem>().errors.map((error) => error.path);
  };

  test("has it beside its fields, with what came with the page", async () => {
    const job = await server.job({
      target_url: site.url("/moved"),
      fields: { heading: "h1" },
      document: { formats: ["markdown", "html", "raw_html", "links"] },
    });
    assert.deepEqual(job.document, {
      formats: ["markdown", "html", "raw_html", "links"],
      only_main_content: true,
      include_tags: [],
      exclude_tags: [],
    });
    const run = await server.run(job.id);
    assert.deepEqual([run.status, run.resolved_strategy], ["completed", "http"], run.error_message ?? "");
    const [result, ...more] = await server.results(run.id);
    assert.deepEqual([Object.keys(result!.data), more.length], [["heading", "document"], 0]);
    const { markdown, html: clean, raw_html: raw, links, metadata, ...rest } = documentOf(result!.data);
    assert.match(String(markdown), /^# A\n\nEnough/);
    assert.match(String(clean), /^<main><h1>A<\/h1>/);
    assert.match(String(raw), /<script>1<\/script>/);
    assert.deepEqual(links, [site.url("/")]);
    assert.deepEqual(rest, {});
    assert.deepEqual(metadata, {
      title: "A",
      description: null,
      language: "en",
      keywords: null,
      robots: null,
      source_url: site.url("/moved"),
      url: site.url("/a"),
      status_code: 200,
      content_type: "text/html; charset=utf-8",
    });
  });

  test("stands in the first of many records, alone where there is none, and beside the usual fields", async () => {
    const ask = async (more: JobInput) =>
      (await server.results((await server.run({ target_url: site.url("/"), document: {}, ...more })).id)).map(
        ({ data }) => Object.keys(data),
      );
    const items = { items: "p", fields: { text: { css: ":scope" } } };
    assert.deepEqual(await ask(items), [["text", "document"], ["text"]]);
    assert.deepEqual(await ask({ ...items, items: ".none" }), [["document"]]);
    assert.deepEqual(await ask({}), [["title", "description", "author", "published_at", "document"]]);
    const data = await server.run({ target_url: site.url("/data"), document: {} });
    assert.equal(documentOf((await server.results(data.id))[0]!.data)["markdown"], '```json\n{"a":1}\n```');
  });

  test("a crawl has one for each of its pages, and not its text twice", async () => {
    const document = { formats: ["markdown"], exclude_tags: ["h1"] };
    const { items, view } = await crawler.crawl({ url: site.url("/"), document });
    assert.equal(view.status, "completed");
    assert.deepEqual(items.map(({ url }) => url).toSorted(), [site.url("/"), site.url("/a")]);
    for (const item of items) {
      assert.deepEqual(Object.keys(item).toSorted(), [
        "author",
        "content_hash",
        "depth",
        "document",
        "language",
        "published_at",
        "title",
        "url",
        "word_count",
      ]);
      assert.match(String(documentOf(item)["markdown"]), /^Enough words/);
      assert.equal(documentOf(item).metadata["source_url"], item.url);
    }
    const full = await crawler.crawl({ url: site.url("/a"), max_depth: 0, document, article: true });
    assert.match(full.items[0]!.text, /Enough words/);
  });

  test("mistakes are named by their field, in jobs and in crawls", async () => {
    const document = { formats: ["pdf"], include_tags: ["p["] };
    assert.deepEqual(await wrong("/jobs", { target_url: site.url("/"), document }), ["document.formats[0]"]);
    const one = { target_url: site.url("/"), document: { include_tags: ["p["] } };
    assert.deepEqual(await wrong("/jobs", one), ["document.include_tags[0]"]);
    assert.deepEqual(await wrong("/runs", one), ["document.include_tags[0]"]);
    const crawl = { url: site.url("/"), document: one.document };
    assert.deepEqual(await wrong("/scraping/async-scrape", crawl), ["document.include_tags[0]"]);
    assert.deepEqual(await wrong("/jobs", { kind: "crawl", crawl }), ["crawl.document.include_tags[0]"]);
    assert.deepEqual(await wrong("/jobs", { kind: "crawl", crawl: { url: site.url("/") }, document: {} }), [
      "document",
    ]);
    const replay = { request: { url: site.url("/data") } };
    assert.deepEqual(await wrong("/jobs", { strategy: "api_replay", replay, document: {} }), ["document"]);
  });

  test("what is wrong with actions is named by the action", async () => {
    const actions = [
      { type: "wait" },
      { type: "wait", milliseconds: 1, selector: "p" },
      { type: "click" },
      { type: "write", text: "x", key: "Enter" },
      { type: "scroll" },
      { type: "click", selector: "a >> b" },
    ];
    assert.deepEqual(await wrong("/jobs", { target_url: site.url("/"), browser: { actions } }), [
      "browser.actions[0]",
      "browser.actions[1]",
      "browser.actions[2].selector",
      "browser.actions[3].key",
      "browser.actions[4].direction",
      "browser.actions[5].selector",
    ]);
    const many = {
      target_url: site.url("/"),
      browser: { actions: Array.from({ length: 51 }, () => ({ type: "scrape" })) },
    };
    assert.deepEqual(await wrong("/jobs", many), ["browser.actions"]);
    const late = { target_url: site.url("/"), timeout_seconds: 2, browser: { wait_ms: 2000 } };
    assert.deepEqual(await wrong("/jobs", late), ["browser.wait_ms"]);
    assert.deepEqual(
      await wrong("/scraping/async-scrape", { url: site.url("/"), browser: { actions: [{ type: "press" }] } }),
      ["browser.actions[0].key"],
    );
  });

  const SECRET = "for-the-start-alone-7731";

  test("headers of a crawl go to the origin of its start alone, and are nowhere to be read", async () => {
    await using other = await MisbehavingSite.start({ "/": page("Other") }, "127.0.0.2");
    site.on("/away", page("Away", "/a", other.url("/")));
    const before = site.visits.length;
    const headers = { "X-Key": SECRET };
    const { id, items } = await crawler.crawl({ url: site.url("/away"), max_depth: 1, same_site: false, headers });
    assert.equal(items.length, 3);
    const asked = site.visits.slice(before).filter(({ path }) => path !== "/robots.txt");
    assert.deepEqual([...new Set(asked.map((visit) => visit.headers["x-key"]))], [SECRET]);
    assert.ok(!JSON.stringify(other.visits).includes(SECRET));
    const { recipe, header_names: names } = (await server.api.get(`/jobs/runs/${id}/recipe`)).json<{
      recipe: JobInput;
      header_names: string[];
    }>();
    assert.deepEqual([names, recipe.crawl?.headers], [["x-key"], undefined]);
    assert.ok(!server.api.answered.some((text) => text.includes(SECRET)), "no answer shows it");
    for (const { path, bytes } of server.stored()) assert.ok(!bytes.includes(SECRET), `${path} has it in clear`);
  });

  test("headers of a saved crawl stay when it is changed, and are forgotten when it turns elsewhere", async () => {
    const crawl = { url: site.url("/a"), max_depth: 0, headers: { "X-Key": SECRET } };
    const job = await server.job({ kind: "crawl", crawl });
    assert.deepEqual(job.crawl?.header_names, ["x-key"]);
    const change = async (body: object) => {
      const answer = await server.api.call("PATCH", `/jobs/${job.id}`, body);
      assert.equal(answer.status, 200, answer.text);
      return answer.json<JobView>().crawl?.header_names;
    };
    assert.deepEqual(await change({ name: "renamed", crawl: { document: {} } }), ["x-key"]);
    const before = site.visits.length;
    await server.run(job.id);
    assert.equal(site.visits.slice(before).find(({ path }) => path === "/a")?.headers["x-key"], SECRET);
    assert.deepEqual(await change({ crawl: { headers: { "X-Other": "1" } } }), ["x-other"]);
    assert.deepEqual(await change({ crawl: { url: "https://elsewhere.example/" } }), []);
    assert.deepEqual(
      await wrong("/scraping/async-scrape", { url: [site.url("/"), "https://b.example/"], headers: { "X-Key": "1" } }),
      ["headers"],
    );
    assert.deepEqual(await wrong("/scraping/async-scrape", { url: site.url("/"), headers: { Host: "x" } }), [
      "headers.Host",
    ]);
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { TestServer } from "../jobs/kit.ts";
import { docx } from "../support/document-files.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { html, status } from "../support/misbehaviours.ts";
import { column, pdf } from "../support/pdf-files.ts";
import { searxng } from "../support/searxng.ts";
import { comeOverHttp, type Told } from "./kit.ts";

interface Found {
  source: string;
  title: string;
  url: string;
  description: string | null;
}

const foundIn = ({ data }: Told) => data["results"] as Found[];

test("an agent searches the web within the length of an answer, and is told what is missing", async () => {
  const many = Array.from({ length: 60 }, (_, n) => `/a-page-with-a-long-name-about-kettles/${n}`);
  await using engine = await MisbehavingSite.start({ "/search": searxng(() => "https://kettles.example", many) });
  await using server = await TestServer.open({ APP_SEARCH_URL: engine.origin }, { worker: false });
  await using agent = await comeOverHttp(server.api.url, { modern: true });

  const told = await agent.ok("search", { query: "kettles", limit: 2, time_range: "week", language: "de" });
  assert.deepEqual(foundIn(told)[1], {
    source: "web",
    title: `Title of ${many[1]}`,
    url: `https://kettles.example${many[1]}`,
    description: "About kettles",
    published: null,
    image: null,
  });
  assert.equal(foundIn(told).length, 2);
  assert.deepEqual(told.data["warnings"], ["a search engine did not answer: other: timeout"]);
  assert.ok(told.text.includes(`url: https://kettles.example${many[0]}`), told.text);
  const asked = engine.visits.at(-1)?.query;
  assert.deepEqual([asked?.get("q"), asked?.get("time_range"), asked?.get("language")], ["kettles", "week", "de"]);

  const both = await agent.ok("search", { query: "kettles", sources: ["news", "images"], limit: 1 });
  assert.deepEqual(
    foundIn(both).map(({ source }) => source),
    ["news", "images"],
  );
  const short = await agent.ok("search", { query: "kettles", limit: 50, max_chars: 4000 });
  const shown = foundIn(short).length;
  assert.ok(shown > 5 && shown < 50, String(shown));
  assert.deepEqual(short.data["notes"], [`the first ${shown} of 50 results are shown; raise max_chars for more`]);
  const none = await agent.ok("search", { query: "kettles", include_domains: ["other.example"] });
  assert.match(String(none.data["notes"]), /nothing found/);

  assert.match(await agent.refused("search", { query: "", depth: 1 }), /depth/);
  assert.match(await agent.refused("search", { query: "x", include_domains: ["a b"] }), /include_domains\[0\]/);
  engine.on("/search", status(403));
  assert.match(await agent.refused("search", { query: "x" }), /allow JSON in its settings.*Only the operator/);
});

test("an agent finds documents by search and reads them, one by one and all together [slow]", async () => {
  const file =
    (contentType: string, bytes: Buffer): Route =>
    (_visit, response) =>
      void response.writeHead(200, { "content-type": contentType }).end(bytes);
  const study = pdf([{ texts: [{ text: "A Study", x: 72, y: 780, size: 20 }, ...column(["A line of the study."])] }]);
  await using site = await MisbehavingSite.start({
    "/study.pdf": file("application/pdf", study),
    "/report.docx": file("application/octet-stream", docx()),
    "/prices.csv": file("text/csv", Buffer.from("name,price\nKettle,20\n")),
    "/page": html("<title>A page</title><main><h1>A page</h1><p>With some words about kettles.</p></main>"),
  });
  const paths = ["/study.pdf", "/report.docx", "/prices.csv", "/page"];
  await using engine = await MisbehavingSite.start({ "/search": searxng(() => site.origin, paths) });
  await using server = await TestServer.open({ APP_SEARCH_URL: engine.origin });
  await using agent = await comeOverHttp(server.api.url, { modern: true });

  const urls = foundIn(await agent.ok("search", { query: "kettles" })).map(({ url }) => url);
  assert.equal(urls.length, paths.length);
  const [record] = (await agent.ok("scrape", { url: urls[0], wait_seconds: 100 })).data["records"] as {
    title: string;
    markdown: string;
  }[];
  assert.equal(record?.title, "A Study");
  assert.match(record?.markdown ?? "", /A line of the study\./);
  const preview = await agent.ok("extract_preview", {
    url: urls[2],
    items: "tr:has(td)",
    fields: { name: "td:nth-child(1)", price: { css: "td:nth-child(2)", type: "number" } },
  });
  assert.deepEqual(preview.data["records"], [{ name: "Kettle", price: 20 }]);

  const { run_id } = (await agent.ok("crawl_start", { url: urls, max_depth: 0 })).data;
  await server.ended(String(run_id));
  const all = await agent.ok("crawl_results", { run_id, only: ["title"] });
  assert.deepEqual((all.data["records"] as { title: string | null }[]).map(({ title }) => title ?? "").toSorted(), [
    "",
    "A Study",
    "A page",
    "Annual Report",
  ]);
});

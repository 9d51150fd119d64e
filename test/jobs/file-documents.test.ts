import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, describe, test } from "node:test";
import { clientOf as firecrawl } from "../firecrawl/kit.ts";
import { comeOverHttp } from "../mcp/kit.ts";
import { docx, xlsx } from "../support/document-files.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { odp, ods } from "../support/odf-files.ts";
import { column, pdf } from "../support/pdf-files.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";

const PDF = pdf(
  [
    {
      texts: [
        { text: "A Study of Tests", x: 72, y: 780, size: 20 },
        ...column(["The first page has a line of text that is long enough."]),
      ],
    },
    {
      texts: column(["The second page has another line, and a link to the site."]),
      links: [{ x: 200, y: 755, width: 200, height: 14, url: "https://example.com/x" }],
    },
  ],
  { info: { Author: "Ada Writer", CreationDate: "D:20250301100000Z" } },
);
/** One of its pages is a picture. */
const PARTLY = pdf([
  ...Array.from({ length: 4 }, () => ({
    texts: column(["A page with a line of text that is long enough to be one."]),
  })),
  { isPicture: true },
]);
const WORDS = "Enough words, commas and patience to be what this page is about, for everybody who reads. ".repeat(4);

const file = (bytes: Buffer, type: string) => (_visit: unknown, response: ServerResponse) =>
  void response.writeHead(200, { "content-type": type }).end(bytes);

describe("documents that a site has", () => {
  let server: TestServer;
  let site: MisbehavingSite;
  let crawler: Crawler;
  before(async () => {
    server = await TestServer.open();
    crawler = new Crawler(server);
    site = await MisbehavingSite.start({
      "/": html(
        `<html lang=en><title>Start</title><main><h1>Start</h1><p>${WORDS}</p><a href="/study.pdf">study</a> <a href="/report.docx">report</a> ` +
          `<a href="/data.csv">data</a> <a href="/scan.pdf">scan</a> <a href="/photo.jpg">photo</a></main></html>`,
      ),
      "/short": html(`<title>Short</title><h1>Short</h1><a href="/large.pdf">large</a>`),
      "/large.pdf": file(Buffer.concat([PDF, Buffer.alloc(10_000, " ")]), "application/pdf"),
      "/study.pdf": file(PDF, "application/pdf"),
      "/unnamed": file(PDF, "application/octet-stream"),
      "/report.docx": file(docx(), "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
      "/sales.xlsx": file(xlsx(), "application/octet-stream"),
      "/data.csv": file(Buffer.from("name,price\nkettle,12\nspoon,3\n"), "text/csv"),
      "/notes.txt": file(Buffer.from(`Notes\n\n${WORDS}`), "text/plain; charset=utf-8"),
      "/scan.pdf": file(pdf([{}, {}]), "application/pdf"),
      "/partly.pdf": file(PARTLY, "application/pdf"),
      "/sales.ods": file(
        ods([
          {
            name: "Sales",
            rows: [
              ["Region", "Sum"],
              ["North", "7"],
              ["South", "8"],
            ].map((cells) => ({ cells })),
          },
        ]),
        "application/vnd.oasis.opendocument.spreadsheet",
      ),
      "/slides.odp": file(
        odp([{ title: "Annual Report", items: ["Grow"] }, { title: "Numbers" }]),
        "application/vnd.oasis.opendocument.presentation",
      ),
      "/broken.pdf": file(Buffer.from("%PDF-1.7 broken"), "application/pdf"),
    });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const scraped = async (path: string, more: object = {}) => {
    const job = await server.job({ target_url: site.url(path), ...more });
    const run = await server.run(job.id);
    return { run, data: (await server.results(run.id)).map(({ data }) => data as Record<string, unknown>) };
  };

  test("a user scrapes a PDF like a page: rules, Markdown, links and metadata", async () => {
    const { run, data } = await scraped("/study.pdf", {
      fields: { heading: "h1", second: "[data-page='2'] p" },
      document: { formats: ["markdown", "html", "links"] },
    });
    assert.equal(run.status, "completed", run.error_message ?? "");
    assert.deepEqual(
      [run.stats["document_type"], run.stats["content_type"], run.stats["content_length"]],
      ["pdf", "application/pdf", PDF.length],
    );
    const [record] = data;
    assert.equal(record?.["heading"], "A Study of Tests");
    assert.match(String(record?.["second"]), /^The second page/);
    const document = record?.["document"] as Record<string, unknown> & { metadata: Record<string, unknown> };
    assert.match(String(document["markdown"]), /^# A Study of Tests\n\nThe first page/);
    assert.deepEqual(document["links"], ["https://example.com/x"]);
    const { document_type, page_count, title, author, content_type } = document.metadata;
    assert.deepEqual(
      { document_type, page_count, title, author, content_type },
      {
        document_type: "pdf",
        page_count: "2",
        title: "A Study of Tests",
        author: "Ada Writer",
        content_type: "application/pdf",
      },
    );
  });

  test("a document is known by its bytes, whatever the server calls it", async () => {
    const { run } = await scraped("/unnamed");
    assert.deepEqual([run.status, run.stats["document_type"]], ["completed", "pdf"]);
    const sheet = await scraped("/sales.xlsx", { fields: ["tables"] });
    assert.deepEqual((sheet.data[0]!["tables"] as string[][][])[0]?.[0], ["Region", "Since", "Share"]);
  });

  test("a user reads the rows of a CSV file as records", async () => {
    const { data } = await scraped("/data.csv", {
      items: "tr:has(td)",
      fields: { name: "td:nth-child(1)", price: { css: "td:nth-child(2)", type: "number" } },
    });
    assert.deepEqual(data, [
      { name: "kettle", price: 12 },
      { name: "spoon", price: 3 },
    ]);
  });

  test("a document that cannot be read fails once, with its reason", async () => {
    const scan = await scraped("/scan.pdf");
    assert.deepEqual([scan.run.status, scan.run.failure_reason, scan.run.attempt], ["failed", "needs_ocr", 1]);
    assert.match(scan.run.error_message ?? "", /pictures without text/);
    const broken = await scraped("/broken.pdf");
    assert.equal(broken.run.failure_reason, "document_damaged");
  });

  test("a user tries rules on a file before there is a job", async () => {
    const preview = async (body: object) => {
      const answer = await server.api.post("/extract/preview", body);
      assert.equal(answer.status, 200, answer.text);
      return answer.json<Record<string, unknown>>();
    };
    const rules = { fields: { heading: "h1" } };
    const sent = await preview({ file: PDF.toString("base64"), file_name: "study.pdf", ...rules });
    assert.deepEqual([sent["document_type"], sent["records"]], ["pdf", [{ heading: "A Study of Tests" }]]);
    const fetched = await preview({ url: site.url("/study.pdf"), include_html: true, ...rules });
    assert.deepEqual([fetched["document_type"], fetched["content_type"]], ["pdf", "application/pdf"]);
    assert.match(String(fetched["html"]), /data-page="2"/);
    const scan = await preview({ file: pdf([{}]).toString("base64"), ...rules });
    assert.equal(scan["failure_reason"], "needs_ocr");
    const wrong = await server.api.post("/extract/preview", { file: "no base64!", ...rules });
    assert.equal(wrong.status, 422);
  });

  test("a user sends a file that is no Base64, or whose name is no text, and is told so at once", async () => {
    const rules = { fields: { heading: "h1" } };
    const begun = performance.now();
    const spaces = await server.api.post("/extract/preview", { file: `A${" ".repeat(400_000)}!`, ...rules });
    assert.equal(spaces.status, 422, spaces.text);
    assert.ok(performance.now() - begun < 20_000, "the check takes as long as the text is");
    const wrapped = PDF.toString("base64").replace(/.{76}/g, "$&\r\n");
    assert.equal((await server.api.post("/extract/preview", { file: wrapped, ...rules })).status, 200);
    const name = await server.api.post("/extract/preview", { file: "QQ==", file_name: "a\ud800.pdf", ...rules });
    assert.equal(name.status, 422, name.text);
    assert.deepEqual(
      name.json<{ errors: { path: string }[] }>().errors.map(({ path }) => path),
      ["file_name"],
    );
  });

  test("a crawl reads the documents that its pages link to, and says what they are", async () => {
    const { items, errors, view } = await crawler.crawl({ url: site.url("/"), max_depth: 1 });
    assert.equal(view.status, "completed", "a scan is a file that is not read, no page that failed");
    const types = Object.fromEntries(
      items.map((item) => [new URL(item.url).pathname, (item as { document_type?: string }).document_type ?? null]),
    );
    assert.deepEqual(types, { "/": null, "/study.pdf": "pdf", "/report.docx": "docx", "/data.csv": "csv" });
    const study = items.find(({ url }) => url.endsWith("/study.pdf"))!;
    assert.equal(study.title, "A Study of Tests");
    assert.match(study.text ?? "", /first page[^]*second page/);
    assert.deepEqual(
      errors.map(({ url }) => new URL(url ?? "").pathname),
      ["/scan.pdf"],
    );
  });

  test("a crawl without documents skips them", async () => {
    const { items } = await crawler.crawl({ url: site.url("/"), max_depth: 1, documents: false });
    assert.deepEqual(
      items.map(({ url }) => new URL(url).pathname),
      ["/"],
    );
  });

  test("a linked file that is too large makes no crawl partial", async () => {
    await using small = await TestServer.open({ APP_MAX_BODY_BYTES: "2000" });
    const { view, errors } = await new Crawler(small).crawl({ url: site.url("/short"), max_depth: 1 });
    assert.deepEqual(
      errors.map(({ failure_reason }) => failure_reason),
      ["document_too_large"],
    );
    assert.equal(view.status, "completed");
  });

  test("a crawl with rules for pages reads documents only if it is asked to", async () => {
    const rules = { url: site.url("/"), max_depth: 1, fields: { heading: { css: "h1", required: true } } };
    const pathsOf = (items: readonly { url: string }[]) => items.map(({ url }) => new URL(url).pathname).toSorted();
    assert.deepEqual(pathsOf((await crawler.crawl(rules)).items), ["/"]);
    const asked = await crawler.crawl({ ...rules, documents: true });
    assert.deepEqual(pathsOf(asked.items), ["/", "/report.docx", "/study.pdf"]);
  });

  test("a job that wants pages alone refuses a document, and a crawl is told where the setting belongs", async () => {
    const { run } = await scraped("/study.pdf", { documents: false });
    assert.deepEqual([run.status, run.failure_reason], ["failed", "not_html"]);
    const job = await server.job({ target_url: site.url("/study.pdf"), documents: false });
    assert.equal(job.documents, false);
    const other = await server.job({ target_url: site.url("/study.pdf") });
    assert.equal(other.documents, true);
    const changed = await server.api.call("PATCH", `/jobs/${job.id}`, { documents: true });
    assert.equal(changed.json<{ documents: boolean }>().documents, true);
    assert.equal((await server.run(job.id)).status, "completed");
    const crawl = await server.api.post("/jobs", { kind: "crawl", target_url: site.url("/"), documents: false });
    assert.match(crawl.text, /crawl\.documents/);
  });

  test("records of a document that was read in part say so: on the run, on items of a crawl, and in a preview", async () => {
    const why = "the PDF file was not read completely: 1 of 5 pages are pictures without text";
    const { run, data } = await scraped("/partly.pdf", {
      fields: { first: "p" },
      document: { formats: ["markdown"] },
    });
    assert.equal(run.status, "completed");
    assert.deepEqual(run.warnings, [{ code: "document_incomplete", message: why }]);
    const document = data[0]?.["document"] as Record<string, unknown>;
    assert.deepEqual([document["truncated"], document["warning"]], [["markdown"], why]);
    const { items } = await crawler.crawl({ url: site.url("/partly.pdf"), max_depth: 0 });
    assert.equal((items[0] as { document_warning?: string }).document_warning, why);
    const preview = await server.api.post("/extract/preview", { url: site.url("/partly.pdf"), fields: ["title"] });
    assert.deepEqual(
      preview.json<{ warnings: { rule: string; message: string }[] }>().warnings.map(({ message }) => message),
      [why],
    );
    const whole = await scraped("/study.pdf");
    assert.deepEqual(whole.run.warnings, []);
  });

  test("an agent scrapes a document by MCP, as text and by fields", async () => {
    await using agent = await comeOverHttp(server.api.url, { modern: true });
    const text = await agent.ok("scrape", { url: site.url("/study.pdf") });
    assert.match(text.text, /The first page has a line[^]*The second page/);
    const table = await agent.ok("scrape", {
      url: site.url("/sales.ods"),
      items: "tr:has(td)",
      fields: { region: "td:nth-child(1)", sum: { css: "td:nth-child(2)", type: "number" } },
    });
    assert.deepEqual(
      (table.data["records"] as { region: string; sum: number }[]).map(({ region, sum }) => ({ region, sum })),
      [
        { region: "North", sum: 7 },
        { region: "South", sum: 8 },
      ],
    );
    assert.match(await agent.refused("scrape", { url: site.url("/scan.pdf") }), /needs_ocr/);
  });

  test("a step of a workflow reads documents, and only pages if it is told to", async () => {
    const read = (more: object) => ({
      name: "read",
      task_type: "scrape",
      params: { url: site.url("/slides.odp"), ...more },
    });
    const run = async (step: object) => {
      const answer = await server.api.post("/workflows", { definition: { name: "Documents", steps: [step] } });
      assert.equal(answer.status, 201, answer.text);
      const { id } = answer.json<{ id: string }>();
      await server.ended(id);
      const { status } = (await server.api.get(`/workflows/${id}/tasks/read`)).json<{ status: string }>();
      return { status, items: (await server.api.get(`/workflows/${id}/tasks/read/items`)).text };
    };
    const done = await run(read({ fields: { slides: { css: "section h2", all: true } } }));
    assert.equal(done.status, "completed");
    assert.match(done.items, /"Annual Report",\s*"Numbers"/);
    const refused = await run(read({ documents: false }));
    assert.equal(refused.status, "failed");
  });

  test("Firecrawl's client scrapes documents, and is warned about the one that was read in part", async () => {
    const app = firecrawl(server.api.url);
    const study = await app.scrape(site.url("/study.pdf"), { formats: ["markdown", "html", "links"] });
    assert.match(study.markdown ?? "", /^# A Study of Tests\n\nThe first page/);
    assert.match(study.html ?? "", /data-page="2"/);
    assert.deepEqual(study.links, ["https://example.com/x"]);
    const { numPages, document_type, contentType, statusCode } = study.metadata as Record<string, unknown>;
    assert.deepEqual([numPages, document_type, contentType, statusCode], [2, "pdf", "application/pdf", 200]);
    assert.equal(study.warning, undefined);
    const sheet = await app.scrape(site.url("/sales.ods"), { formats: ["markdown"] });
    assert.match(sheet.markdown ?? "", /\| Region \| Sum \|\n[^]*\| North \| 7 \|/);
    const partly = await app.scrape(site.url("/partly.pdf"), { formats: ["markdown"] });
    assert.equal(partly.warning, "The PDF file was not read completely: 1 of 5 pages are pictures without text.");
  });

  test("a text file is its own article", async () => {
    const { items } = await crawler.crawl({ url: site.url("/notes.txt"), max_depth: 0 });
    assert.match(items[0]?.text ?? "", /^Notes\n\nEnough words/);
  });
});

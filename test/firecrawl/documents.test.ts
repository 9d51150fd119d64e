import assert from "node:assert/strict";
import { test } from "node:test";
import type { Document } from "@mendable/firecrawl-js";
import { TestServer } from "../jobs/kit.ts";
import { docx, xlsx } from "../support/document-files.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { html, status } from "../support/misbehaviours.ts";
import { column, pdf } from "../support/pdf-files.ts";
import { clientOf } from "./kit.ts";

const STUDY = pdf([
  { texts: [{ text: "A Study", x: 72, y: 780, size: 20 }, ...column(["The first page has a line of text."])] },
  { texts: column(["The second page has another line."]) },
]);

const file =
  (contentType: string, bytes: Buffer): Route =>
  (_visit, response) =>
    void response.writeHead(200, { "content-type": contentType }).end(bytes);

const pathOf = ({ metadata }: Document) => new URL(metadata?.sourceURL ?? "").pathname;

test("documents of a site come by scrape, batch and crawl of Firecrawl's client, and are compared [slow]", async () => {
  await using site = await MisbehavingSite.start({
    "/": html('<title>Files</title><main><a href="/study.pdf">Study</a> <a href="/report.docx">Report</a></main>'),
    "/study.pdf": file("application/pdf", STUDY),
    "/report.docx": file("application/octet-stream", docx()),
    "/sales.xlsx": file("application/octet-stream", xlsx()),
    "/broken.pdf": file("application/pdf", STUDY.subarray(0, 400)),
    "/gone.pdf": status(404),
  });
  await using server = await TestServer.open();
  const app = clientOf(server.api.url);

  const study = await app.scrape(site.url("/study.pdf"), { formats: ["markdown", "html", "links"], parsers: ["pdf"] });
  assert.match(study.markdown ?? "", /^# A Study\n\nThe first page has a line of text\.\n\nThe second page/);
  assert.match(study.html ?? "", /data-page="2"/);
  const { title, numPages, document_type: type, statusCode } = study.metadata as Record<string, unknown>;
  assert.deepEqual([title, numPages, type, statusCode], ["A Study", 2, "pdf", 200]);
  await assert.rejects(app.scrape(site.url("/broken.pdf")), /damaged|incomplete|not valid/i);

  const paths = ["/report.docx", "/sales.xlsx", "/gone.pdf"];
  const batch = await app.batchScrape(
    paths.map((path) => site.url(path)),
    { options: { formats: ["markdown"] }, pollInterval: 1 },
  );
  const read = Object.fromEntries(batch.data.map((one) => [pathOf(one), one.markdown ?? ""]));
  assert.match(read["/report.docx"] ?? "", /# Annual Report[^]*\| Region \|/);
  assert.match(read["/sales.xlsx"] ?? "", /Sales & more[^]*\| 0\.3 \|/);
  assert.ok(!(read["/gone.pdf"] ?? "").includes("|"));

  const formats = ["markdown", { type: "changeTracking", modes: ["git-diff"] }] as never;
  const crawl = async () => {
    const { data } = await app.crawl(site.url("/"), { limit: 10, scrapeOptions: { formats }, pollInterval: 1 });
    return Object.fromEntries(
      data.map((one) => [pathOf(one), (one.changeTracking as { changeStatus?: string } | undefined)?.changeStatus]),
    );
  };
  assert.deepEqual(await crawl(), { "/": "new", "/study.pdf": "new", "/report.docx": "new" });
  site.on("/study.pdf", file("application/pdf", pdf([{ texts: column(["All of it is new."]) }])));
  assert.deepEqual(await crawl(), { "/": "same", "/study.pdf": "changed", "/report.docx": "same" });
  await server.audit();
});

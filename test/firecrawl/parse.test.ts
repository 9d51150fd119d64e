import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Firecrawl } from "@mendable/firecrawl-js";
import { TestServer } from "../jobs/kit.ts";
import { docx } from "../support/document-files.ts";
import { column, pdf } from "../support/pdf-files.ts";
import { clientOf } from "./kit.ts";

const REPORT = pdf([
  { texts: [{ text: "A Study", x: 72, y: 780, size: 20 }, ...column(["The first page has a line of text."])] },
  { texts: column(["The second page has another line."]) },
]);

describe("files that Firecrawl's client uploads", () => {
  let server: TestServer;
  let app: Firecrawl;
  before(async () => {
    server = await TestServer.open({}, { worker: false });
    app = clientOf(server.api.url);
  });
  after(() => server[Symbol.asyncDispose]());

  test("a PDF and a Word file come back as Markdown and HTML, with metadata", async () => {
    const study = await app.parse(
      { data: REPORT, filename: "study.pdf", contentType: "application/pdf" },
      { formats: ["markdown", "html"] },
    );
    assert.match(study.markdown ?? "", /^# A Study\n\nThe first page has a line of text\.\n\nThe second page/);
    assert.match(study.html ?? "", /data-page="2"/);
    const { title, numPages, document_type, sourceURL } = study.metadata as Record<string, unknown>;
    assert.deepEqual(
      { title, numPages, document_type, sourceURL },
      { title: "A Study", numPages: 2, document_type: "pdf", sourceURL: "study.pdf" },
    );
    const report = await app.parse({ data: docx(), filename: "report.docx" });
    assert.match(report.markdown ?? "", /# Annual Report[^]*\| Region \|/);
  });

  test("a page and a text are read, too", async () => {
    const page = await app.parse({
      data: "<html><title>T</title><h1>Hello</h1><p>World</p></html>",
      filename: "a.html",
      contentType: "text/html",
    });
    assert.match(page.markdown ?? "", /Hello/);
    const table = await app.parse({ data: "a;b\n1;2\n", filename: "a.csv" });
    assert.match(table.markdown ?? "", /\| a \| b \|/);
  });

  test("a file that cannot be read says why, and what a file cannot have is refused", async () => {
    await assert.rejects(app.parse({ data: pdf([{}]), filename: "scan.pdf" }), /needs optical character recognition/);
    await assert.rejects(
      app.parse({ data: Buffer.from("\x89PNG\r\n\x1a\n\0"), filename: "a.png", contentType: "image/png" }),
      /not a readable page/,
    );
    const answer = await fetch(`${server.api.url}/v2/parse`, {
      method: "POST",
      body: new FormData(),
      headers: { authorization: "Bearer x" },
    });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /file: is required/);
  });
});

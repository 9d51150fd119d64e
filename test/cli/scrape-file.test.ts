import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Orb } from "../chaos/orb.ts";
import { docx } from "../support/document-files.ts";
import { column, pdf } from "../support/pdf-files.ts";

describe("orb scrape with a file", () => {
  test("prints a document of this machine as Markdown, with its tables", async () => {
    await using orb = new Orb();
    const path = join(orb.dir, "report.docx");
    writeFileSync(path, docx());
    const { code, stdout, stderr } = await orb.run(["scrape", path, "--format", "markdown"]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /\n# Annual Report\n[^]*\| Region \|/);
  });

  test("notes what is missing of a document that was read in part", async () => {
    await using orb = new Orb();
    const path = join(orb.dir, "partly.pdf");
    const text = column(["A page with a line of text that is long enough to be one."]);
    writeFileSync(path, pdf([...Array.from({ length: 4 }, () => ({ texts: text })), { isPicture: true }]));
    const { code, stdout, stderr } = await orb.run(["scrape", path, "--format", "markdown"]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /A page with a line/);
    assert.match(stderr, /note: the PDF file was not read completely: 1 of 5 pages are pictures without text/);
  });

  test("says why a file cannot be read, and which options need a URL", async () => {
    await using orb = new Orb();
    const path = join(orb.dir, "scan.pdf");
    writeFileSync(path, pdf([{}]));
    const scan = await orb.run(["scrape", path]);
    assert.notEqual(scan.code, 0);
    assert.match(scan.stderr, /optical character recognition/);
    const saved = await orb.run(["scrape", path, "--save"]);
    assert.match(saved.stderr, /--save cannot be used with a file/);
    const missing = await orb.run(["scrape", "./nothing.pdf"]);
    assert.match(missing.stderr, /there is no file \.\/nothing\.pdf/);
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { docx, epub, odt, pptx, RTF, xlsx, zipOf } from "../support/document-files.ts";
import { read, readPage } from "./kit.ts";

describe("a document gives what a page gives", () => {
  test("a Word file: headings, lists, links and tables with merged cells", async () => {
    const page = await readPage(docx());
    assert.deepEqual([page.title, page.language], ["Annual Report", "en-GB"]);
    assert.deepEqual(page.metadata["author"], ["Ada Writer", "Bo Editor"]);
    assert.match(page.published_at ?? "", /^2025-03-01T10:00/);
    assert.deepEqual(page.headings, [
      { level: 1, text: "Annual Report" },
      { level: 2, text: "Results" },
      { level: 2, text: "Next steps" },
    ]);
    assert.deepEqual(page.tables, [
      [
        ["Region", "Numbers", "Numbers"],
        ["North", "1,200", "5 %"],
        ["North", "800", "12 %"],
      ],
    ]);
    assert.deepEqual(page.links, ["https://example.com/regions"]);
    assert.match(page.markdown, /Growth in \[all regions\]\(https:\/\/example\.com\/regions\) \*\*& beyond\*\*/);
    assert.match(page.markdown, /- Open an office\n\s+- in Lyon\n- Hire\n/);
    assert.match(page.markdown, /1\. First\n2\. Second/);
    assert.doesNotMatch(page.text, /gone/, "deleted text is not read");
    assert.equal(page.metadata["document_type"], "docx");
  });

  test("an Excel file: a table per visible sheet, with dates and percentages as they are shown", async () => {
    const page = await readPage(xlsx());
    assert.deepEqual(page.headings, [{ level: 2, text: "Sales & more" }]);
    assert.deepEqual(page.tables, [
      [
        ["Region", "Since", "Share"],
        ["North", "2025-03-01", "12.50%"],
        ["0.3", "0.3", "TRUE"],
      ],
    ]);
    assert.deepEqual(page.links, ["https://example.com/north"]);
    assert.doesNotMatch(page.text, /hidden/);
  });

  test("a PowerPoint file: slides in their order, with titles, bullets, tables and notes", async () => {
    const page = await readPage(pptx());
    assert.deepEqual(
      page.headings.map(({ text }) => text),
      ["Annual Report", "Numbers"],
    );
    assert.match(page.markdown, /- Grow\n\s+- in Lyon\n- Save/);
    assert.deepEqual(page.tables, [
      [
        ["Region", "Revenue"],
        ["North", "1,200"],
      ],
    ]);
    assert.match(page.markdown, /> Speak slowly/);
    assert.equal(page.metadata["page_count"], "2");
    assert.match((await read(pptx())).html, /<section data-page="2">\s*<h2>Numbers/);
  });

  test("an OpenDocument text", async () => {
    const page = await readPage(odt());
    assert.deepEqual([page.title, page.author], ["Annual Report", "Ada Writer"]);
    assert.match(page.markdown, /1\. First\n2\. Second/);
    assert.deepEqual(page.tables, [
      [
        ["Region", "Numbers", "Numbers"],
        ["North", "7", "7"],
      ],
    ]);
    assert.deepEqual(page.links, ["https://example.com/regions"]);
    assert.doesNotMatch(page.text, /comment/);
  });

  test("an EPUB book: its chapters in order, without links into the book", async () => {
    const page = await readPage(epub());
    assert.deepEqual([page.title, page.author, page.language], ["A Book", "Ada Writer", "fr"]);
    assert.deepEqual(
      page.headings.map(({ text }) => text),
      ["One", "Two"],
    );
    assert.deepEqual(page.links, ["https://example.com/out"]);
    assert.doesNotMatch(page.text, /bad/);
  });

  test("an RTF file: characters of both kinds, a link, a list and a table", async () => {
    const page = await readPage(Buffer.from(RTF, "latin1"));
    assert.deepEqual([page.title, page.author], ["Annual Report", "Ada Writer"]);
    assert.deepEqual(page.headings, [{ level: 1, text: "Annual Report" }]);
    assert.match(page.text, /Café €uro in all regions now/);
    assert.deepEqual(page.links, ["https://example.com/regions"]);
    assert.match(page.markdown, /1\. First\n2\. Second/);
    assert.deepEqual(page.tables, [
      [
        ["Region", "Revenue"],
        ["North", "1,200"],
      ],
    ]);
    assert.match(page.text, /The end\./);
  });

  test("a CSV file: whatever separates its values, and with quotes", async () => {
    const rows = [
      ["name", "said"],
      ["Ada", 'a "b", c'],
      ["Bo", "two lines"],
    ];
    const comma = Buffer.from('name,said\r\nAda,"a ""b"", c"\r\nBo,"two\nlines"\r\n');
    assert.deepEqual((await readPage(comma, "a.csv")).tables, [rows]);
    const semicolon = Buffer.from('\uFEFFname;said\nAda;"a ""b"", c"\nBo;two lines');
    assert.deepEqual((await readPage(semicolon, "a.csv")).tables, [rows]);
    const tab = Buffer.from("name\tsaid\nCaf\xe9\t1,5\n", "latin1");
    assert.deepEqual((await readPage(tab, "a.tsv")).tables, [
      [
        ["name", "said"],
        ["Café", "1,5"],
      ],
    ]);
  });

  test("the first row of a Word table is its heading, unless the table says otherwise", async () => {
    const row = (...cells: string[]) =>
      `<w:tr>${cells.map((cell) => `<w:tc><w:p><w:r><w:t>${cell}</w:t></w:r></w:p></w:tc>`).join("")}</w:tr>`;
    const table = (look: string) =>
      docx(`<w:tbl><w:tblPr>${look}</w:tblPr>${row("Name", "Price")}${row("Tea", "2")}</w:tbl>`);
    assert.match((await readPage(table(""))).markdown, /^\| Name \| Price \|\n\| --- \| --- \|\n\| Tea/);
    assert.match((await read(table('<w:tblLook w:firstRow="0"/>'))).html, /<tr><td>Name/);
  });

  test("a title that is only a file name gives way to the first heading", async () => {
    const files = {
      "[Content_Types].xml": "<Types/>",
      "docProps/core.xml": "<c><dc:title>Microsoft Word - draft.docx</dc:title></c>",
    };
    const body =
      '<w:document><w:body><w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>The real title</w:t></w:r></w:p></w:body></w:document>';
    const page = await readPage(zipOf({ ...files, "word/document.xml": body }));
    assert.equal(page.title, "The real title");
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { zipOf } from "../support/document-files.ts";
import { ods } from "../support/odf-files.ts";
import { read, readPage } from "./kit.ts";

const relation = (id: string, type: string, target: string) =>
  `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`;

/** An Excel file with one sheet, in parts that are not named as usual. */
function book(rows: string, more = ""): Buffer {
  return zipOf({
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": `<Relationships>${relation("r1", "officeDocument", "/xl/book.xml")}</Relationships>`,
    "xl/book.xml": `<workbook><sheets><sheet name="Data" sheetId="4" r:id="x9"/></sheets></workbook>`,
    "xl/_rels/book.xml.rels": `<Relationships>${relation("x9", "worksheet", "data/first.xml")}${relation("x7", "sharedStrings", "texts/all.xml")}${relation("x3", "styles", "Look.xml")}</Relationships>`,
    "xl/texts/all.xml": "<sst><si><t>Region</t></si><si><t>North</t></si></sst>",
    "xl/look.xml": `<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
    "xl/data/first.xml": `<worksheet><sheetData>${rows}</sheetData>${more}</worksheet>`,
    // Of another program; nothing refers to it.
    "xl/sharedStrings.xml": "<sst><si><t>wrong</t></si><si><t>wrong</t></si></sst>",
    "xl/worksheets/sheet1.xml": `<worksheet><sheetData><row><c t="str"><v>wrong</v></c></row></sheetData></worksheet>`,
  });
}

describe("the rows and columns of a sheet are where they are", () => {
  test("texts, styles and sheets of an Excel file are found by its relationships, in any case", async () => {
    const page = await readPage(
      book('<row><c t="s"><v>0</v></c></row><row><c t="s"><v>1</v></c><c s="1"><v>45717</v></c></row>'),
    );
    assert.deepEqual(page.tables, [
      [
        ["Region", ""],
        ["North", "2025-03-01"],
      ],
    ]);
  });

  test("merged cells of an Excel file: over columns, over rows, wider than the sheet, and without a first row", async () => {
    const rows = `
<row r="1"><c r="A1" t="str"><v>All of it</v></c></row>
<row r="2"><c r="A2" t="str"><v>Area</v></c><c r="B2" t="str"><v>Year</v></c><c r="C2" t="str"><v>Sum</v></c></row>
<row r="3"><c r="A3" t="str"><v>North</v></c><c r="B3"><v>2024</v></c><c r="C3"><v>1</v></c></row>
<row r="5"><c r="B5"><v>2025</v></c><c r="C5"><v>2</v></c></row>
<row r="7"><c r="B7"><v>2024</v></c><c r="C7"><v>3</v></c></row>`;
    const merges = `<mergeCells><mergeCell ref="A1:XFD1"/><mergeCell ref="A5:A3"/><mergeCell ref="A6:A7"/></mergeCells>`;
    const { html } = await read(book(rows, merges));
    assert.match(html, /<th colspan="3">All of it<\/th><\/tr>/);
    assert.deepEqual((await readPage(book(rows, merges))).tables, [
      [
        ["All of it", "All of it", "All of it"],
        ["Area", "Year", "Sum"],
        ["North", "2024", "1"],
        ["North", "2025", "2"],
        ["", "2024", "3"],
      ],
    ]);
  });

  test("thousands of large merged cells over each other take no time", { timeout: 60_000 }, async () => {
    const rows = Array.from(
      { length: 200 },
      (_, row) => `<row r="${row + 1}"><c r="D${row + 1}"><v>${row}</v></c></row>`,
    );
    const merges = Array.from({ length: 9000 }, (_, index) => `<mergeCell ref="A${(index % 200) + 1}:XFD1048576"/>`);
    const { html } = await read(book(rows.join(""), `<mergeCells>${merges.join("")}</mergeCells>`));
    assert.ok(html.length < 20_000, String(html.length));
  });

  test("repeated, covered and empty cells of an OpenDocument sheet", async () => {
    const page = await readPage(
      ods([
        {
          name: "Sales &amp; more",
          rows: [
            { cells: [{ repeat: 1024 }], repeat: 3 },
            { cells: [{ repeat: 300 }, "Area", { text: "Numbers", columns: 2 }, { isCovered: true, text: "covered" }] },
            { cells: [{ repeat: 300 }, { text: "North", rows: 2 }, { text: "7", repeat: 2 }, { repeat: 721 }] },
            {
              cells: [
                { repeat: 300 },
                { isCovered: true },
                { value: 'office:value-type="percentage" office:value="0.285"' },
                "8",
              ],
            },
            {
              cells: [{ repeat: 300 }, "South", { repeat: 1 }, { text: "two\nlines", href: "https://example.com/s" }],
              repeat: 2,
            },
            { cells: [{ repeat: 1024 }], repeat: 1_048_000 },
          ],
        },
        { name: "Secret", isHidden: true, rows: [{ cells: ["hidden"] }] },
        { name: "Wide", rows: [{ cells: [{ text: "x", repeat: 250 }] }] },
      ]),
    );
    assert.deepEqual(
      page.headings.map(({ text }) => text),
      ["Sales & more", "Wide"],
    );
    assert.deepEqual(page.tables[0], [
      ["Area", "Numbers", "Numbers"],
      ["North", "7", "7"],
      ["North", "28.5%", "8"],
      ["South", "", "two lines"],
      ["South", "", "two lines"],
    ]);
    assert.equal(page.tables[1]?.[0]?.length, 250);
    assert.deepEqual(page.links, ["https://example.com/s"]);
    assert.doesNotMatch(page.text, /hidden|covered/);
  });

  test("dates of an OpenDocument sheet, whatever format their cells have", async () => {
    const date = (value: string, text: string) => ({
      text,
      value: `office:value-type="date" office:date-value="${value}"`,
    });
    const page = await readPage(
      ods([
        {
          name: "Dates",
          rows: [
            { cells: ["what", "when"] },
            { cells: ["x", date("2025-03-01", "03/01/25")] },
            { cells: ["x", date("2025-03-01T00:00:00", "01.03.25 12:00 AM")] },
            { cells: ["x", date("2025-03-01T18:05:00", "6 PM")] },
            { cells: ["x", date("2025-03-01T18:05:09.5", "6 PM")] },
          ],
        },
      ]),
    );
    assert.deepEqual(
      page.tables[0]?.map(([, when]) => when),
      ["when", "2025-03-01", "2025-03-01", "2025-03-01 18:05", "2025-03-01 18:05:09"],
    );
  });

  test("an OpenDocument sheet that repeats a row for ever is cut off, and says so", async () => {
    const endless = ods([{ name: "Data", rows: [{ cells: [{ text: "again", repeat: 16_000 }], repeat: 1_000_000 }] }]);
    const cut = await read(endless, "", { htmlLength: 200_000 });
    assert.match(cut.truncated ?? "", /longer than 200,000 characters/);
    assert.ok(cut.html.length < 201_000);
    assert.match(cut.html, /<title>Annual Report<\/title>/);
  });
});

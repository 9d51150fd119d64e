import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { markOf } from "../../src/documents/pdf/list-marks.ts";
import { createDocumentReader } from "../../src/documents/reader.ts";
import { column, drawnHebrew, pdf, type PdfText } from "../support/pdf-files.ts";
import { read, readPage } from "./kit.ts";

const LEFT = [
  "The first column starts with this line of text",
  "and goes on with a second line that is as long",
  "as the first, so that nobody takes it for a row",
  "of a table. It ends with the word before the gut-",
  "ter, which is divided at the end of its line.",
];
const RIGHT = [
  "The second column is read after the first one,",
  "although its lines stand on the same height. In",
  "a well-known order, readers finish the left side",
  "before they begin with the right side of a page,",
  "and nothing of it is mixed with the left side.",
];

describe("a PDF", () => {
  test("two columns are read one after the other, below a title over both", async () => {
    const title: PdfText = { text: "A title that goes over both of the columns of this page", x: 72, y: 790, size: 18 };
    const page = await readPage(pdf([{ texts: [title, ...column(LEFT, { x: 72 }), ...column(RIGHT, { x: 320 })] }]));
    assert.deepEqual(page.headings, [{ level: 1, text: title.text }]);
    assert.equal(
      page.text.replace(/\s+/g, " ").trim().replace(`${title.text} `, ""),
      `${LEFT.join(" ").replace("gut- ter", "gutter")} ${RIGHT.join(" ")}`,
    );
  });

  test("columns in a part of the page, between paragraphs and a list over its whole width", async () => {
    const across = (words: string, top: number) =>
      column(
        [`${words} that goes over the whole width of the page, from its left side to its right one,`, "and ends here."],
        {
          top,
        },
      );
    const heading: PdfText = { text: "Points", x: 72, y: 650, size: 14 };
    const list = ["one", "two", "three", "four", "five", "six", "seven", "eight"].map((word) => `Item ${word}`);
    const texts = [
      ...across("A paragraph", 760),
      ...column(LEFT, { top: 730 }),
      ...column(RIGHT, { x: 320, top: 730 }),
      heading,
      ...across("Another one", 620),
      ...column(list, { top: 580, pitch: 20 }),
    ];
    const { text, tables } = await readPage(pdf([{ texts }]));
    assert.match(
      text,
      /to its right one, and ends here\.[^]*gutter, which[^]*The second column[^]*Points[^]*Another one/,
    );
    assert.match(text, /Another one[^]*to its right one, and ends here\.[^]*Item one[^]*Item eight/);
    assert.deepEqual(tables, []);
  });

  test("bullets that are drawn, as browsers print them, are those of a list", async () => {
    const lines = [
      { text: "An entry of the list that goes on", x: 100, y: 700 },
      { text: "in its second line", x: 100, y: 688 },
      { text: "A part of it", x: 130, y: 676 },
      { text: "Another entry", x: 100, y: 664 },
      { text: "After the list.", x: 70, y: 630 },
    ];
    const squares = [
      { x: 88, y: 702, size: 3.5 },
      { x: 118, y: 678, size: 3.5 },
      { x: 88, y: 666, size: 3.5 },
      // These are none: not painted, too large, not beside a line, and behind one.
      { x: 60, y: 632, size: 3.5, isClip: true },
      { x: 40, y: 630, size: 20 },
      { x: 88, y: 500, size: 3.5 },
      { x: 300, y: 632, size: 3.5 },
    ];
    const page = { texts: lines, squares };
    const { markdown } = await readPage(pdf([page], { info: { Producer: "Skia/PDF m156" } }));
    const items = "- An entry of the list that goes on in its second line\n  - A part of it\n- Another entry";
    assert.equal(markdown.trim(), `${items}\n\nAfter the list.`);
  });

  test("columns whose lines stand on different heights, with a footnote over both", async () => {
    const foot = column(["A note at the bottom that goes over both columns, from the left side to the right side."], {
      top: 600,
    });
    const page = await readPage(pdf([{ texts: [...column(LEFT), ...column(RIGHT, { x: 320, top: 755 }), ...foot] }]));
    const order = ["first column", "divided at", "second column", "nothing of it", "A note"].map((words) =>
      page.text.indexOf(words),
    );
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
    assert.ok(!order.includes(-1), page.text);
  });

  test("a word with a hyphen of its own keeps it at the end of a line", async () => {
    const lines = ["This is a well-known fact, and it is so well-", "known that it is written twice."];
    assert.match((await readPage(pdf([{ texts: column(lines) }]))).text, /so well-known that/);
  });

  test("cells that are aligned are a table, with cells of several lines and empty ones", async () => {
    const rows = [
      ["Region", "Revenue", "Growth"],
      ["North", "1,200", "5 %"],
      ["South", "", "12 %"],
      ["East", "650", "-3 %"],
    ];
    const texts = rows.flatMap((cells, row) =>
      cells.flatMap((text, index) => (text === "" ? [] : [{ text, x: 72 + 130 * index, y: 700 - 20 * row }])),
    );
    const page = await readPage(
      pdf([
        {
          texts: [
            ...column(["Before the table there is a line of text."]),
            ...texts,
            ...column(["And one after it."], { top: 580 }),
          ],
        },
      ]),
    );
    assert.deepEqual(page.tables, [rows]);
    assert.match(page.markdown, /^Before the table[^]*\| Region \| Revenue \| Growth \|[^]*And one after it\.$/);
  });

  test("headings by size and weight, lists by their marks", async () => {
    const body = (text: string, y: number): PdfText => ({ text, x: 72, y });
    const page = await readPage(
      pdf([
        {
          texts: [
            { text: "Annual Report", x: 72, y: 790, size: 24 },
            body("Some words of an introduction that is longer than the headings of the page are.", 760),
            { text: "Results", x: 72, y: 730, size: 16 },
            body("More words, again in the size of the text that most of the page has.", 710),
            { text: "Small but bold", x: 72, y: 680, isBold: true },
            { text: "\x95", x: 80, y: 660 },
            { text: "First point", x: 92, y: 660 },
            { text: "\x95", x: 80, y: 646 },
            { text: "Second point", x: 92, y: 646 },
            body("1. One", 620),
            body("2. Two", 606),
            body("A last paragraph after the lists, which is long enough to be one.", 570),
          ],
        },
      ]),
    );
    assert.deepEqual(page.headings, [
      { level: 1, text: "Annual Report" },
      { level: 2, text: "Results" },
      { level: 3, text: "Small but bold" },
    ]);
    assert.match(page.markdown, /- First point\n- Second point/);
    assert.match(page.markdown, /1\. One\n2\. Two/);
  });

  test("pages are numbered, links are kept, and repeated headers are read once", async () => {
    const pages = [1, 2, 3, 4].map((number) => ({
      texts: [
        { text: "The Journal of Tests", x: 72, y: 810 },
        ...column([`The text of page ${["one", "two", "three", "four"][number - 1]} is here, with a link to more.`]),
        { text: `Page ${number} of 4`, x: 280, y: 30 },
      ],
      links: number === 2 ? [{ x: 210, y: 757, width: 26, height: 12, url: "https://example.com/more" }] : [],
    }));
    const bytes = pdf(pages, {
      info: { Title: "Tests", Author: "Ada Writer", CreationDate: "D:20250301100000+01'00'" },
    });
    const { html, pageCount } = await read(bytes);
    const page = await readPage(bytes);
    assert.equal(pageCount, 4);
    assert.match(html, /<section data-page="3">\s*<p>The text of page three/);
    assert.equal(page.text.match(/Journal of Tests/g)?.length, 1);
    assert.doesNotMatch(page.text, /Page \d of 4/);
    assert.deepEqual([page.title, page.author, page.language], ["Tests", "Ada Writer", "en"]);
    assert.match(page.published_at ?? "", /^2025-03-01T(?:10:00:00\+01:00|09:00:00)/);
    assert.deepEqual(page.links, ["https://example.com/more"]);
  });

  test("a link ends before the full stop of its sentence, and marks of symbol fonts are bullets", async () => {
    const page = await readPage(
      pdf([
        {
          texts: column(["This is the end of the line, with a link. And more of it."]),
          links: [{ x: 209, y: 757, width: 24, height: 12, url: "https://example.com/more" }],
        },
      ]),
    );
    assert.match(page.markdown, /with \[a link\]\(https:\/\/example\.com\/more\)\. And/);
    assert.deepEqual(
      ["\uf095 one", "\uf0b7one"].map((text) => markOf(text)?.isSure),
      [true, true],
    );
  });

  test("a table over four pages keeps all of its rows, below a header and above a page number", async () => {
    const rowsOfPage = (page: number) =>
      Array.from({ length: 12 }, (_row, row) =>
        [1, 2, 3].map((column) => String(100 * column + 10 * page + (row % 10) + (column === 1 ? row : 0))),
      );
    const pages = [0, 1, 2, 3].map((page) => ({
      texts: [
        { text: "Measurements", x: 72, y: 820 },
        ...rowsOfPage(page).flatMap((cells, row) =>
          cells.map((text, index) => ({ text, x: 72 + 130 * index, y: 760 - 20 * row })),
        ),
        { text: `${page + 1}`, x: 290, y: 30 },
      ],
    }));
    const page = await readPage(pdf(pages));
    assert.deepEqual(
      page.tables.flat(),
      [0, 1, 2, 3].flatMap((number) => rowsOfPage(number)),
    );
    assert.equal(page.text.match(/Measurements/g)?.length, 1);
  });

  test("a file with one invoice per page keeps their numbers, dates and amounts", async () => {
    const pages = [1, 2, 3, 4].map((number) => ({
      texts: [
        { text: "Kettle Works Ltd", x: 72, y: 810 },
        { text: "Invoice", x: 72, y: 780 },
        { text: `${1000 + number}`, x: 300, y: 780 },
        { text: `Date: 2025-03-0${number}`, x: 72, y: 750 },
        { text: "One kettle with a lid, as ordered by telephone in the spring.", x: 72, y: 600 },
        { text: "Quantity", x: 72, y: 120 },
        { text: `${number + 1}`, x: 300, y: 120 },
        { text: "Total due: 119.00 EUR", x: 72, y: 90 },
      ],
    }));
    const { html } = await read(pdf(pages));
    const sections = html.split("<section").slice(1);
    assert.equal(sections.length, 4);
    for (const [index, section] of sections.entries()) {
      for (const kept of [`${1001 + index}`, `Date: 2025-03-0${index + 1}`, "Total due: 119.00 EUR"])
        assert.ok(section.includes(kept), `${kept} is on page ${index + 1}: ${section}`);
      assert.match(section, new RegExp(`Quantity\\D+${index + 2}\\b`), `the quantity is on page ${index + 1}`);
    }
    assert.equal(html.match(/Kettle Works/g)?.length, 1);
  });

  test("a date or an abbreviation at the start of a line is no list item, and numbers of items stay", async () => {
    const text = [
      "The council met again in the town hall, as it had been agreed upon, and so on the",
      "12. of March the first stone was laid. The wall is older, and was built in the year 52",
      "v. Chr. by people of whom nothing else is known today, apart from their many tools.",
    ];
    const page = await readPage(
      pdf([
        { texts: [...column(text), ...column(["1. Open the lid", "2. Fill in water"], { top: 700 })] },
        { texts: column(["3. Wait", "4. Pour the water into a cup"]) },
      ]),
    );
    assert.match(page.markdown, /so on the 12\\?\. of March[^]*year 52 v\. Chr\. by people/);
    assert.match(page.markdown, /1\. Open the lid\n2\. Fill in water[^]*3[.)] Wait\n4[.)] Pour/);
    const { html } = await read(pdf([{ texts: column(["1. One", "2. Two"]) }, { texts: column(["3. Three"]) }]));
    assert.match(html, /<ol><li>One<\/li>\s*<li>Two[^]*<ol><li value="3">Three/);
  });

  test("lines from right to left are read in their order: words, numbers, columns of a table and a link", async () => {
    const word = (text: string, x: number, y: number): PdfText => ({ text: drawnHebrew(text), x, y, isHebrew: true });
    const plain = (text: string, x: number, y: number): PdfText => ({ text, x, y });
    // Each word is a text of its own, the first one at the right.
    const page = await readPage(
      pdf([
        {
          texts: [
            word("שלום", 480, 760),
            word("עולם", 450, 760),
            plain("PDF", 400, 760),
            plain("files", 424, 760),
            word("שלום", 365, 760),
            plain("12", 345, 760),
            word("שלום עולם שלום עולם", 400, 700),
            word("עולם", 480, 640),
            word("שלום", 300, 640),
            word("שלום", 480, 620),
            plain("7", 310, 620),
            word("עולם", 480, 600),
            plain("8", 310, 600),
          ],
          links: [{ x: 475, y: 757, width: 60, height: 12, url: "https://example.com/first" }],
        },
      ]),
    );
    assert.match(page.text, /^שלום עולם PDF files שלום 12/);
    assert.match(page.text, /\nשלום עולם שלום עולם\n/);
    assert.deepEqual(page.tables, [
      [
        ["עולם", "שלום"],
        ["שלום", "7"],
        ["עולם", "8"],
      ],
    ]);
    assert.match(page.markdown, /^\[שלום\]\(https:\/\/example\.com\/first\) עולם/);
  });

  test("a line from right to left on a page from left to right", async () => {
    const page = await readPage(
      pdf([
        {
          texts: [
            ...column(["A long line of English text, so that most of the page is from left to right."]),
            { text: drawnHebrew("עולם"), x: 72, y: 700, isHebrew: true },
            { text: drawnHebrew("שלום"), x: 104, y: 700, isHebrew: true },
            { text: drawnHebrew("שלום"), x: 72, y: 640, isHebrew: true },
            { text: "PDF", x: 109, y: 640 },
            { text: drawnHebrew("עולם"), x: 138, y: 640, isHebrew: true },
            { text: "12", x: 175, y: 640 },
            { text: drawnHebrew("שלום"), x: 195, y: 640, isHebrew: true },
            { text: ".", x: 233, y: 640 },
          ],
        },
      ]),
    );
    assert.match(page.text, /שלום עולם\n/);
    assert.match(page.text, /\nשלום PDF שלום 12 עולם\.$/, "the line begins at the left, as the page does");
  });

  test("damage is not taken for pictures, and says how many pages are missing", async () => {
    const file = pdf([1, 2, 3].map((page) => ({ texts: column([`The text of page ${page} is here.`]) })));
    const changed = (pattern: RegExp, pages: readonly number[], to: (match: string) => string) => {
      let page = 0;
      const text = file
        .toString("latin1")
        .replace(pattern, (match) => (pages.includes((page += 1)) ? to(match) : match));
      return Buffer.from(text, "latin1");
    };
    const unpacked = changed(/stream\nx.{4}/gs, [1], () => "stream\n?????");
    assert.equal((await read(unpacked)).truncated, "1 of 3 pages could not be read");
    const lost = changed(/ 0 obj\n<< \/Type \/Page \/Parent/g, [1, 2, 3], (match) => "x".repeat(match.length));
    const reader = createDocumentReader({ clock: systemClock, processes: 1 });
    try {
      // In a process of its own: PDF.js has promises that nobody waits for.
      await assert.rejects(reader.read(lost, "pdf"), { problem: "document_damaged" });
    } finally {
      await reader.close();
    }
  });

  test("a file of which most pages are pictures needs OCR; one with a few of them is told to be incomplete", async () => {
    const stamp = { text: "Scanned with a scanner", x: 72, y: 20 };
    const text = column(["A page with a line of text that is long enough to be one."]);
    const scans = (count: number) => Array.from({ length: count }, () => ({ texts: [stamp], isPicture: true }));
    const texts = (count: number) => Array.from({ length: count }, () => ({ texts: text }));
    await assert.rejects(read(pdf([...texts(1), ...scans(4)])), { problem: "needs_ocr", message: /^4 of 5 pages/ });
    assert.match((await read(pdf([...texts(4), { isPicture: true }]))).truncated ?? "", /^1 of 5 pages are pictures/);
    assert.equal((await read(pdf([...texts(2), {}, {}, {}]))).truncated, null, "blank pages are not pictures");
  });

  test("a file that is cut off keeps its title, author and number of pages", async () => {
    const pages = Array.from({ length: 4 }, () => ({ texts: column(Array(20).fill("A line of text on this page.")) }));
    const cut = await read(pdf(pages, { info: { Title: "Long", Author: "Ada Writer" } }), "", { htmlLength: 1500 });
    assert.equal(cut.pageCount, 4);
    assert.match(cut.truncated ?? "", /longer than 1,500 characters of HTML/);
    assert.match(cut.html, /<title>Long<\/title>[^]*Ada Writer/);
  });
});

/** Documents made by hand, so that their text, headings and tables are known. */
import { crc32, deflateRawSync } from "node:zlib";

interface ZipOptions {
  /** Marks all entries as encrypted. */
  encrypted?: boolean;
}

/** A ZIP file; `mimetype` is stored first and without compression, as OpenDocument and EPUB want it. */
export function zipOf(
  files: Readonly<Record<string, string | Buffer>>,
  { encrypted = false }: ZipOptions = {},
): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content as string);
    const isStored = name === "mimetype";
    const packed = isStored ? bytes : deflateRawSync(bytes);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(encrypted ? 1 : 0, 2);
    head.writeUInt16LE(isStored ? 0 : 8, 4);
    head.writeUInt32LE(crc32(bytes), 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(bytes.length, 18);
    head.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), head, Buffer.from(name), packed]);
    const entry = Buffer.alloc(14);
    entry.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00", "latin1"), head, entry, Buffer.from(name)]));
    parts.push(local);
    at += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, list, Buffer.from("PK\x05\x06"), end]);
}

const RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const relation = (id: string, type: string, target: string, isExternal = false) =>
  `<Relationship Id="${id}" Type="${RELATION}/${type}" Target="${target}"${isExternal ? ' TargetMode="External"' : ""}/>`;
const relations = (...all: string[]) => `<?xml version="1.0"?><Relationships>${all.join("")}</Relationships>`;

const CORE = `<cp:coreProperties xmlns:dc="d" xmlns:dcterms="t" xmlns:cp="c"><dc:title>Annual Report</dc:title>
<dc:creator>Ada Writer; Bo Editor</dc:creator><dc:language>en-GB</dc:language><dc:description>All numbers</dc:description>
<dcterms:created>2025-03-01T10:00:00Z</dcterms:created></cp:coreProperties>`;

const office = (main: string, files: Record<string, string>) => ({
  "[Content_Types].xml": "<Types/>",
  "_rels/.rels": relations(relation("r1", "officeDocument", main)),
  "docProps/core.xml": CORE,
  ...files,
});

const paragraph = (text: string, style = "", more = "") =>
  `<w:p><w:pPr>${style === "" ? "" : `<w:pStyle w:val="${style}"/>`}${more}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
const item = (text: string, list: number, level = 0) =>
  paragraph(text, "", `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`);
const cell = (text: string, properties = "") => `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(text)}</w:tc>`;

/** A Word file with headings, a link, lists, a table with merged cells, and deleted text. */
export function docx(body = DOCX_BODY): Buffer {
  return zipOf(
    office("word/document.xml", {
      "word/document.xml": `<w:document xmlns:w="w" xmlns:r="r"><w:body>${body}</w:body></w:document>`,
      "word/_rels/document.xml.rels": relations(relation("l1", "hyperlink", "https://example.com/regions", true)),
      "word/styles.xml": `<w:styles><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="Section"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="Mine"/><w:basedOn w:val="H2"/></w:style></w:styles>`,
      "word/numbering.xml": `<w:numbering><w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num></w:numbering>`,
    }),
  );
}

const DOCX_BODY = [
  paragraph("Annual Report", "H1"),
  `<w:p><w:r><w:t xml:space="preserve">Growth in </w:t></w:r><w:hyperlink r:id="l1"><w:r><w:t>all regions</w:t></w:r></w:hyperlink><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve"> &amp; beyond</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>`,
  paragraph("Results", "H2"),
  `<w:tbl><w:tr>${cell("Region")}${cell("Numbers", '<w:gridSpan w:val="2"/>')}</w:tr>
<w:tr>${cell("North", '<w:vMerge w:val="restart"/>')}${cell("1,200")}${cell("5 %")}</w:tr>
<w:tr>${cell("", "<w:vMerge/>")}${cell("800")}${cell("12 %")}</w:tr></w:tbl>`,
  paragraph("Next steps", "Own"),
  item("Open an office", 1),
  item("in Lyon", 1, 1),
  item("Hire", 1),
  item("First", 2),
  item("Second", 2),
].join("");

/** An Excel file with text, numbers, a date, a percentage, a merged cell, a link, and a hidden sheet. */
export function xlsx(): Buffer {
  return zipOf(
    office("xl/workbook.xml", {
      "xl/workbook.xml": `<workbook xmlns:r="r"><sheets><sheet name="Sales &amp; more" r:id="s1"/><sheet name="Secret" state="hidden" r:id="s2"/></sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": relations(
        relation("s1", "worksheet", "worksheets/sheet1.xml"),
        relation("s2", "worksheet", "/xl/worksheets/sheet2.xml"),
      ),
      "xl/sharedStrings.xml": `<sst><si><t>Region</t></si><si><r><t>No</t></r><r><t>rth</t></r></si></sst>`,
      "xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="10"/></cellXfs></styleSheet>`,
      "xl/worksheets/sheet1.xml": `<worksheet xmlns:r="r"><sheetData>
<row r="2"><c r="B2" t="s"><v>0</v></c><c r="C2" t="inlineStr"><is><t>Since</t></is></c><c r="D2" t="str"><v>Share</v></c></row>
<row r="3"><c r="B3" t="s"><v>1</v></c><c r="C3" s="1"><v>45717</v></c><c r="D3" s="2"><v>0.125</v></c></row>
<row r="5"><c r="B5"><v>0.30000000000000004</v></c><c r="D5" t="b"><v>1</v></c></row>
</sheetData><mergeCells><mergeCell ref="B5:C5"/></mergeCells><hyperlinks><hyperlink ref="B3" r:id="h1"/></hyperlinks></worksheet>`,
      "xl/worksheets/_rels/sheet1.xml.rels": relations(relation("h1", "hyperlink", "https://example.com/north", true)),
      "xl/worksheets/sheet2.xml": `<worksheet><sheetData><row><c t="str"><v>hidden</v></c></row></sheetData></worksheet>`,
    }),
  );
}

const shape = (kind: string, ...paragraphs: string[]) =>
  `<p:sp><p:nvSpPr><p:nvPr>${kind === "" ? "" : `<p:ph type="${kind}"/>`}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs.join("")}</p:txBody></p:sp>`;
const line = (text: string, level = 0) => `<a:p><a:pPr lvl="${level}"/><a:r><a:t>${text}</a:t></a:r></a:p>`;

/** `hidden`: the slide "Numbers" is. */
export function pptx({ hidden = false } = {}): Buffer {
  return zipOf(
    office("ppt/presentation.xml", {
      "ppt/presentation.xml": `<p:presentation xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="s2"/><p:sldId id="257" r:id="s1"/></p:sldIdLst></p:presentation>`,
      "ppt/_rels/presentation.xml.rels": relations(
        relation("s1", "slide", "slides/slide1.xml"),
        relation("s2", "slide", "slides/slide2.xml"),
      ),
      "ppt/slides/slide2.xml": `<p:sld>${shape("body", line("Grow"), line("in Lyon", 1), line("Save"))}${shape("ctrTitle", line("Annual Report"))}${shape("sldNum", line("1"))}</p:sld>`,
      "ppt/slides/slide1.xml": `<p:sld${hidden ? ' show="0"' : ""}>${shape("title", line("Numbers"))}<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody>${line("Region")}</a:txBody></a:tc><a:tc><a:txBody>${line("Revenue")}</a:txBody></a:tc></a:tr><a:tr><a:tc><a:txBody>${line("North")}</a:txBody></a:tc><a:tc><a:txBody>${line("1,200")}</a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame></p:sld>`,
      "ppt/slides/_rels/slide1.xml.rels": relations(relation("n1", "notesSlide", "../notesSlides/notesSlide1.xml")),
      "ppt/notesSlides/notesSlide1.xml": `<p:notes>${shape("body", line("Speak slowly"))}${shape("sldNum", line("2"))}</p:notes>`,
    }),
  );
}

const META = `<office:document-meta xmlns:dc="d" xmlns:meta="m"><office:meta><dc:title>Annual Report</dc:title><meta:initial-creator>Ada Writer</meta:initial-creator><meta:creation-date>2025-03-01T10:00:00</meta:creation-date></office:meta></office:document-meta>`;

export function odt(manifest = "<manifest/>"): Buffer {
  return zipOf({
    mimetype: "application/vnd.oasis.opendocument.text",
    "META-INF/manifest.xml": manifest,
    "meta.xml": META,
    "content.xml": `<office:document-content><office:automatic-styles><text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style></office:automatic-styles><office:body><office:text>
<text:h text:outline-level="1">Annual Report</text:h><text:p>Growth in <text:a xlink:href="https://example.com/regions">all regions</text:a><text:s text:c="2"/>now<office:annotation><text:p>a comment</text:p></office:annotation></text:p>
<text:list text:style-name="L1"><text:list-item><text:p>First</text:p></text:list-item><text:list-item><text:p>Second</text:p></text:list-item></text:list>
<table:table table:name="Table1"><table:table-row><table:table-cell><text:p>Region</text:p></table:table-cell><table:table-cell table:number-columns-spanned="2"><text:p>Numbers</text:p></table:table-cell><table:covered-table-cell/></table:table-row>
<table:table-row><table:table-cell><text:p>North</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"><text:p>7</text:p></table:table-cell></table:table-row></table:table>
</office:text></office:body></office:document-content>`,
  });
}

export function epub(): Buffer {
  return zipOf({
    mimetype: "application/epub+zip",
    "META-INF/container.xml": `<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
    "OEBPS/book.opf": `<package xmlns:dc="d"><metadata><dc:title>A Book</dc:title><dc:creator>Ada Writer</dc:creator><dc:language>fr</dc:language></metadata><manifest><item id="b" href="text/b.xhtml" media-type="application/xhtml+xml"/><item id="a" href="text/a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>`,
    "OEBPS/text/a.xhtml": `<?xml version="1.0"?><!DOCTYPE html><html><head><title>x</title></head><body><h1>One</h1><p>First <a href="b.xhtml#x">inside</a> and <a href="https://example.com/out">outside</a>.</p><img src="../p.png"/><script>bad()</script></body></html>`,
    "OEBPS/text/b.xhtml": `<html><body><h1>Two</h1><p>Second chapter.</p></body></html>`,
  });
}

export const RTF = String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}}{\stylesheet{\s0 Normal;}{\s1 heading 1;}}{\info{\title Annual Report}{\author Ada Writer}{\creatim\yr2025\mo3\dy1\hr10\min0}}
\pard\s1 Annual Report\par
\pard Caf\'e9 \u8364?uro in {\field{\*\fldinst HYPERLINK "https://example.com/regions"}{\fldrslt all regions}} {\b now}\par
{\pict 89504e47}\pard{\listtext\tab 1.\tab}\ls1 First\par
\pard{\listtext\tab 2.\tab}\ls1 Second\par
\trowd\pard\intbl Region\cell Revenue\cell\row\trowd\pard\intbl North\cell 1,200\cell\row
\pard The end.\par}`;

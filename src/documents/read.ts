/** Reads a document as a web page. Runs in a thread of its own: see `thread.ts`. */
import {
  damaged,
  DocumentError,
  type DocumentInput,
  type DocumentLimits,
  type DocumentType,
  type ReadDocument,
} from "./document.ts";
import { type DocumentFacts, escapeText, HtmlWriter, LengthReached, wholePage } from "./html.ts";
import { decode } from "./xml.ts";
import { decodeBody } from "../extract/charset.ts";

interface Reading extends DocumentFacts {
  pageCount?: number;
}

type Format = (input: DocumentInput, limits: DocumentLimits, writer: HtmlWriter) => Promise<Reading>;

/** Each format is loaded when its first file comes. */
const FORMATS: Readonly<Record<DocumentType, Format>> = {
  pdf: async ({ bytes }, ...rest) => (await import("./pdf/pdf.ts")).readPdf(bytes, ...rest),
  docx: async ({ bytes }, ...rest) => (await import("./formats/docx.ts")).readDocx(bytes, ...rest),
  xlsx: async ({ bytes }, ...rest) => (await import("./formats/xlsx.ts")).readXlsx(bytes, ...rest),
  pptx: async ({ bytes }, ...rest) => (await import("./formats/pptx.ts")).readPptx(bytes, ...rest),
  odt: async ({ bytes }, ...rest) => (await import("./formats/odf.ts")).readOdf(bytes, ...rest),
  ods: async ({ bytes }, ...rest) => (await import("./formats/odf.ts")).readOdf(bytes, ...rest),
  odp: async ({ bytes }, ...rest) => (await import("./formats/odf.ts")).readOdf(bytes, ...rest),
  epub: async ({ bytes }, ...rest) => (await import("./formats/epub.ts")).readEpub(bytes, ...rest),
  rtf: async ({ bytes }, ...rest) => (await import("./formats/rtf.ts")).readRtf(bytes, ...rest),
  csv: async (input, ...rest) => (await import("./formats/csv.ts")).readCsv(textOf(input), ...rest),
  text: async (input, _limits, writer) => readText(textOf(input), writer),
};

/** Throws a DocumentError. */
export async function readDocument(input: DocumentInput, limits: DocumentLimits): Promise<ReadDocument> {
  const { type } = input;
  if (type === "ole") throw oleProblem(input.bytes);
  const writer = new HtmlWriter(limits.htmlLength);
  let reading: Reading = {};
  try {
    reading = await FORMATS[type](input, limits, writer);
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    // Libraries and our own readers fail on damaged files in many ways; a program error would do so on all files.
    if (!(error instanceof LengthReached)) throw damaged(`the file is damaged or not a valid ${type} file`);
    reading = writer.facts;
  }
  const { pageCount = null, ...facts } = reading;
  const body = writer.toString();
  const title = isRealTitle(facts.title) ? (facts.title ?? null) : firstHeading(body);
  const about = { document_type: type, page_count: pageCount === null ? null : String(pageCount) };
  return { type, html: wholePage(body, { ...facts, title }, about), pageCount, truncated: writer.truncated };
}

/** Programs fill in the name of a file, or that there is none. */
function isRealTitle(title: string | null | undefined): boolean {
  if (title === null || title === undefined || title.trim() === "") return false;
  return !/^(?:untitled|document\d*|microsoft \w+ - .*|presentation\d*|.*\.(?:docx?|pptx?|xlsx?|odt|pdf|indd|qxd|tex|dvi|rtf))$/i.test(
    title.trim(),
  );
}

function firstHeading(body: string): string | null {
  const heading = /<h[1-6]>([^]{1,2000}?)<\/h[1-6]>/.exec(body.slice(0, 50_000))?.[1];
  const text = heading === undefined ? "" : decode(heading.replace(/<[^>]*>/g, "")).trim();
  return text === "" ? null : text;
}

/** Encrypted Office files are in such a container, too; its names are UTF-16. */
function oleProblem(bytes: Uint8Array): DocumentError {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.includes(Buffer.from("EncryptedPackage", "utf16le")))
    return new DocumentError("document_encrypted", "the document is protected by a password");
  const message = "Office files from before 2007 (.doc, .xls, .ppt) are not supported; use .docx, .xlsx or .pptx";
  return new DocumentError("document_unsupported", message);
}

function textOf({ bytes, contentType }: DocumentInput): string {
  return decodeBody(bytes, contentType).text;
}

/** A form feed is between two pages. */
function readText(text: string, writer: HtmlWriter): Reading {
  const pages = text
    .replace(/\r\n?/g, "\n")
    .replace(/\f\s*$/, "")
    .split("\f");
  for (const [index, page] of pages.entries()) {
    if (pages.length > 1) writer.raw(`<section data-page="${index + 1}">\n`);
    for (const paragraph of page.split(/\n\s*\n/)) {
      if (paragraph.trim() === "") continue;
      const lines = paragraph
        .trim()
        .split("\n")
        .map((line) => escapeText(line.trim()));
      writer.raw(`<p>${lines.join("<br>")}</p>\n`);
    }
    if (pages.length > 1) writer.raw("</section>\n");
  }
  return pages.length > 1 ? { pageCount: pages.length } : {};
}

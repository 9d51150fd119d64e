/** PDF files, read with PDF.js. */
import { getDocumentProxy } from "unpdf";
import { damaged, DocumentError, type DocumentLimits } from "../document.ts";
import type { DocumentFacts, HtmlWriter } from "../html.ts";
import { Blocks } from "../formats/blocks.ts";
import { addRegion } from "./blocks.ts";
import { readingRegions } from "./columns.ts";
import { type PdfPageText, readPageText } from "./page-text.ts";
import { segmentsOf, type Segment } from "./pieces.ts";
import { repeatedLines } from "./running-lines.ts";
import { scannedPages } from "./scans.ts";
import { styleOf } from "./style.ts";

type PdfFile = Awaited<ReturnType<typeof getDocumentProxy>>;

const NEEDS_OCR = "the pages are pictures without text: reading them needs optical character recognition (OCR)";

export async function readPdf(
  bytes: Uint8Array,
  limits: DocumentLimits,
  writer: HtmlWriter,
): Promise<DocumentFacts & { pageCount: number }> {
  const pdf = await open(bytes);
  try {
    return await readOpen(pdf, bytes, limits, writer);
  } finally {
    await pdf.destroy().catch(() => {});
  }
}

async function readOpen(
  pdf: PdfFile,
  bytes: Uint8Array,
  limits: DocumentLimits,
  writer: HtmlWriter,
): Promise<DocumentFacts & { pageCount: number }> {
  const pages = await readPages(pdf, limits);
  const pageCount = pdf.numPages;
  const facts = { ...(await factsOf(pdf)), pageCount };
  writer.facts = facts;
  const laidOut = pages.map(({ pieces }) => segmentsOf(pieces));
  const scans = scannedPages(pages, laidOut, bytes);
  if (2 * scans > pages.length) {
    const share = scans === pages.length ? "" : `${scans} of ${pages.length} pages have no text: `;
    throw new DocumentError("needs_ocr", `${share}${NEEDS_OCR}`);
  }
  if (pages.length < pageCount || scans > 0 || pages.some(({ failed }) => failed === true)) writer.truncated = true;
  const style = styleOf(laidOut, await outlineOf(pdf));
  const repeated = repeatedLines(laidOut);
  for (const [index, segments] of laidOut.entries())
    writePage(index, pages[index]!, segments, { style, repeated, writer });
  return facts;
}

interface PageContext {
  style: ReturnType<typeof styleOf>;
  repeated: ReturnType<typeof repeatedLines>;
  writer: HtmlWriter;
}

function writePage(
  index: number,
  { turned }: PdfPageText,
  segments: readonly Segment[],
  { style, repeated, writer }: PageContext,
): void {
  writer.raw(`<section data-page="${index + 1}">\n`);
  const blocks = new Blocks(writer);
  const kept = segments.filter((segment) => !repeated.has(segment));
  for (const region of readingRegions(kept)) addRegion(region, style, blocks);
  blocks.endLists();
  for (const text of turned) writer.element("p", text);
  writer.raw("</section>\n");
}

async function open(bytes: Uint8Array): Promise<PdfFile> {
  try {
    // PDF.js takes the bytes away.
    return await getDocumentProxy(Uint8Array.from(bytes), {
      verbosity: 0,
      isEvalSupported: false,
      useSystemFonts: false,
      disableFontFace: true,
      stopAtErrors: false,
      // Pictures are not decoded.
      maxImageSize: 1,
    });
  } catch (error) {
    if (error instanceof Error && error.name === "PasswordException")
      throw new DocumentError("document_encrypted", "the document is protected by a password");
    throw damaged("the file is damaged or not a valid PDF file");
  }
}

async function readPages(pdf: PdfFile, limits: DocumentLimits): Promise<PdfPageText[]> {
  const pages: PdfPageText[] = [];
  const fonts = new Map<string, boolean>();
  const count = Math.min(pdf.numPages, limits.pages);
  let failed = 0;
  let length = 0;
  for (let number = 1; number <= count && length < limits.htmlLength; number += 1) {
    try {
      const page = await pdf.getPage(number);
      const text = await readPageText(page, fonts);
      page.cleanup();
      length += text.length;
      pages.push(text);
    } catch {
      // Other pages may be readable.
      failed += 1;
      pages.push({ pieces: [], turned: [], length: 0, failed: true });
    }
  }
  if (failed > 0 && failed === pages.length) throw damaged("none of the pages can be read");
  return pages;
}

async function factsOf(pdf: PdfFile): Promise<DocumentFacts> {
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const { Title, Author, Subject, Keywords, CreationDate, ModDate, Producer, Language } = info as Record<
    string,
    unknown
  >;
  const text = (value: unknown) => (typeof value === "string" && value.trim() !== "" ? value.trim() : null);
  const author = text(Author);
  return {
    title: text(Title),
    authors: author === null ? [] : [author],
    description: text(Subject),
    keywords: text(Keywords),
    language: text(Language),
    created: pdfDate(text(CreationDate)),
    modified: pdfDate(text(ModDate)),
    generator: text(Producer),
  };
}

/** `D:20250301100000+01'00'` as ISO 8601. */
function pdfDate(text: string | null): string | null {
  const match = /^(?:D:)?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:(Z)|([+-])(\d{2})'?(\d{2})?)?/.exec(
    text ?? "",
  );
  if (match === null) return null;
  const [
    ,
    year,
    month = "01",
    day = "01",
    hour = "00",
    minute = "00",
    second = "00",
    zulu,
    sign,
    hours,
    minutes = "00",
  ] = match;
  const zone = zulu !== undefined ? "Z" : sign === undefined ? "" : `${sign}${hours}:${minutes}`;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`;
  return Number.isNaN(Date.parse(iso)) ? null : iso;
}

/** The bookmarks: titles of headings with their depth. */
async function outlineOf(pdf: PdfFile): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  type Entry = { title: string; items: Entry[] };
  const walk = (entries: readonly Entry[], depth: number) => {
    for (const { title, items } of entries) {
      if (found.size > 10_000 || depth > 6) return;
      const key = outlineKey(title);
      if (key !== "" && !found.has(key)) found.set(key, depth);
      walk(items, depth + 1);
    }
  };
  const outline = (await pdf.getOutline().catch(() => null)) as Entry[] | null;
  walk(outline ?? [], 1);
  return found;
}

function outlineKey(text: string): string {
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}

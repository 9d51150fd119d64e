/** PDF files, read with PDF.js. */
import { getResolvedPDFJS } from "unpdf";
import { damaged, DocumentError, type DocumentLimits } from "../document.ts";
import type { DocumentFacts, HtmlWriter } from "../html.ts";
import { Blocks } from "../formats/blocks.ts";
import { addRegion } from "./blocks.ts";
import { readingRegions } from "./columns.ts";
import { type PageReading, type PdfPageText, readPageText } from "./page-text.ts";
import type { Segment } from "./pieces.ts";
import { repeatedLines } from "./running-lines.ts";
import { scannedPages } from "./scans.ts";
import { styleOf } from "./style.ts";
import { PdfWarnings } from "./warnings.ts";

type PdfFile = Awaited<ReturnType<Awaited<ReturnType<typeof getResolvedPDFJS>>["getDocument"]>["promise"]>;

/** Texts at positions that are kept in memory, of all pages: about 300 MB. */
const MAX_PIECES = 1_000_000;
/** Of the time for reading: finding headers, tables and columns and writing the pages takes the rest. */
const PAGES_SHARE = 0.6;

const NEEDS_OCR =
  "the pages are pictures without text: reading them needs optical character recognition (OCR): set APP_OCR_COMMAND or APP_OCR_URL";

export async function readPdf(
  bytes: Uint8Array,
  limits: DocumentLimits,
  writer: HtmlWriter,
): Promise<DocumentFacts & { pageCount: number }> {
  const startedAt = performance.now();
  const late = (share: number) => performance.now() - startedAt > share * limits.readMs;
  using warnings = new PdfWarnings();
  const pdf = await open(bytes);
  try {
    return await readOpen(pdf, bytes, writer, { limits, late, warnings });
  } finally {
    await pdf.destroy().catch(() => {});
  }
}

interface Reading {
  limits: DocumentLimits;
  /** Whether this share of the time has passed. */
  late(share: number): boolean;
  warnings: PdfWarnings;
}

async function readOpen(
  pdf: PdfFile,
  bytes: Uint8Array,
  writer: HtmlWriter,
  reading: Reading,
): Promise<DocumentFacts & { pageCount: number }> {
  const { pages, endedBy } = await readPages(pdf, reading);
  const pageCount = pdf.numPages;
  const facts = { ...(await factsOf(pdf)), pageCount };
  writer.facts = facts;
  const laidOut = pages.map(({ segments }) => segments);
  const scans = scannedPages(pages, laidOut, bytes);
  if (2 * scans > pages.length) {
    const share = scans === pages.length ? "" : `${scans} of ${pages.length} pages have no text: `;
    throw new DocumentError("needs_ocr", `${share}${NEEDS_OCR}`);
  }
  const only = (count: number, why: string) =>
    writer.missing(`only the first ${count.toLocaleString("en")} of ${ofPages(pageCount)} were read: ${why}`);
  const failed = pages.filter((page) => page.failed === true).length;
  if (failed > 0) writer.missing(`${failed} of ${ofPages(pageCount)} could not be read`);
  if (reading.warnings.lacksPages) writer.missing("the file is damaged, and some of its pages are not found");
  if (scans > 0) writer.missing(`${scans} of ${ofPages(pageCount)} are pictures without text`);
  const style = styleOf(laidOut, await outlineOf(pdf));
  const repeated = repeatedLines(laidOut);
  let written = 0;
  while (written < laidOut.length && (written === 0 || !reading.late(1))) {
    writePage(written, pages[written]!, laidOut[written]!, { style, repeated, writer });
    written += 1;
  }
  if (written < pages.length) only(written, TOO_LONG);
  else if (pages.length < pageCount) only(pages.length, endedBy);
  return facts;
}

const TOO_LONG = "reading more of them takes too long";

function ofPages(count: number): string {
  return count === 1 ? "1 page" : `${count.toLocaleString("en")} pages`;
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
  const { getDocument } = await getResolvedPDFJS();
  const task = getDocument({
    // PDF.js takes the bytes away.
    data: new Uint8Array(bytes),
    // For `PdfWarnings`.
    verbosity: 1,
    isEvalSupported: false,
    useSystemFonts: false,
    disableFontFace: true,
    stopAtErrors: false,
    // Pictures are not decoded.
    maxImageSize: 1,
  });
  try {
    return await task.promise;
  } catch (error) {
    // A failed task keeps its worker and the bytes until it is destroyed.
    await task.destroy().catch(() => {});
    if (error instanceof Error && error.name === "PasswordException")
      throw new DocumentError("document_encrypted", "the document is protected by a password");
    throw damaged("the file is damaged or not a valid PDF file");
  }
}

const FAILED: PdfPageText = { segments: [], pieces: 0, turned: [], length: 0, failed: true };

/** `endedBy`: why not all of them were read. */
async function readPages(
  pdf: PdfFile,
  { limits, late, warnings }: Reading,
): Promise<{ pages: PdfPageText[]; endedBy: string }> {
  const pages: PdfPageText[] = [];
  const reading: PageReading = { fonts: new Map(), drawsBullets: await doesDrawBullets(pdf) };
  const count = Math.min(pdf.numPages, limits.pages);
  let endedBy = `a PDF may have ${ofPages(limits.pages)}`;
  let length = 0;
  let pieces = 0;
  while (pages.length < count) {
    const text = await pageText(pdf, pages.length + 1, reading, warnings);
    pages.push(text);
    length += text.length;
    pieces += text.pieces;
    if (length >= limits.htmlLength) endedBy = "they fill the longest page that is kept";
    else if (pieces >= MAX_PIECES) endedBy = "reading more of them needs too much memory";
    else if (late(PAGES_SHARE)) endedBy = TOO_LONG;
    else continue;
    break;
  }
  if (pages.length > 0 && pages.every(({ failed }) => failed === true)) throw damaged("none of the pages can be read");
  return { pages, endedBy };
}

async function pageText(
  pdf: PdfFile,
  number: number,
  reading: PageReading,
  warnings: PdfWarnings,
): Promise<PdfPageText> {
  const errors = warnings.errors;
  try {
    const page = await pdf.getPage(number);
    const text = await readPageText(page, reading);
    page.cleanup();
    // In place of a page that it does not find, PDF.js gives an empty one without a reference.
    const isLost = page.ref === null || warnings.errors > errors;
    return text.length === 0 && isLost ? FAILED : text;
  } catch {
    // Other pages may be readable.
    return FAILED;
  }
}

/** Chromium does, and what is built on it. */
async function doesDrawBullets(pdf: PdfFile): Promise<boolean> {
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  return /\bSkia\b/.test(String((info as Record<string, unknown>)["Producer"] ?? ""));
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

/** Reads the pieces of text of one page. */
import type { getDocumentProxy } from "unpdf";
import { drawnMarks, withDrawnBullets } from "./drawn-marks.ts";
import { applied, type Matrix, multiplied } from "./matrix.ts";
import { type LinkArea, type Piece, type Segment, segmentsOf, withLinks } from "./pieces.ts";

type PdfPage = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;

export interface PdfPageText {
  segments: Segment[];
  /** How many texts the page has. */
  pieces: number;
  /** Texts that are not horizontal. */
  turned: string[];
  /** Characters. */
  length: number;
  /** It could not be read. */
  failed?: true;
}

interface TextItem {
  str: string;
  transform: number[];
  width: number;
  fontName: string;
}

const MAX_ITEMS = 200_000;

export interface PageReading {
  /** Which fonts are bold, of all pages. */
  fonts: Map<string, boolean>;
  /** Whether the program that made the file draws its bullets. */
  drawsBullets: boolean;
}

export async function readPageText(page: PdfPage, { fonts, drawsBullets }: PageReading): Promise<PdfPageText> {
  const content = await page.getTextContent();
  const items = (content.items as TextItem[]).filter((item) => item.str !== undefined && item.str.trim() !== "");
  await learnFonts(page, new Set(items.map(({ fontName }) => fontName)), fonts);
  const view = page.getViewport({ scale: 1 });
  const areas = await linkAreas(page, view.transform as unknown as Matrix);
  const pieces: Piece[] = [];
  const text: PdfPageText = { segments: [], pieces: items.length, turned: [], length: 0 };
  for (const item of items.slice(0, MAX_ITEMS)) {
    const at = multiplied(view.transform as unknown as Matrix, item.transform as unknown as Matrix);
    const size = Math.hypot(at[2], at[3]);
    text.length += item.str.length;
    if (!Number.isFinite(size) || size < 0.5 || Math.abs(at[1]) > 0.1 * Math.abs(at[0]) || at[0] <= 0) {
      text.turned.push(item.str);
      continue;
    }
    const piece: Piece = {
      text: item.str,
      x: at[4],
      right: at[4] + item.width,
      y: at[5],
      size,
      isBold: fonts.get(item.fontName) ?? false,
      link: null,
    };
    pieces.push(...(areas.length === 0 ? [piece] : withLinks(piece, areas)));
  }
  return { ...text, segments: segmentsOf(drawsBullets ? await withBullets(page, pieces) : pieces) };
}

async function withBullets(page: PdfPage, pieces: readonly Piece[]): Promise<Piece[]> {
  const operators = await page.getOperatorList().catch(() => null);
  if (operators === null) return [...pieces];
  const view = page.getViewport({ scale: 1 }).transform as unknown as Matrix;
  return withDrawnBullets(pieces, await drawnMarks(operators, view));
}

/** The names of fonts are known only once the page is prepared for drawing. */
async function learnFonts(page: PdfPage, used: ReadonlySet<string>, fonts: Map<string, boolean>): Promise<void> {
  const unknown = [...used].filter((name) => !fonts.has(name));
  if (unknown.length === 0) return;
  await page.getOperatorList().catch(() => null);
  for (const name of unknown) {
    let font: { name?: string; bold?: boolean; black?: boolean } = {};
    try {
      font = page.commonObjs.get(name) as typeof font;
    } catch {
      // The font could not be loaded.
    }
    fonts.set(name, font.bold === true || font.black === true || /bold|black|heavy|semibold/i.test(font.name ?? ""));
  }
}

async function linkAreas(page: PdfPage, view: Matrix): Promise<LinkArea[]> {
  const annotations = (await page.getAnnotations().catch(() => [])) as {
    subtype?: string;
    url?: string;
    rect?: number[];
  }[];
  const areas: LinkArea[] = [];
  for (const { subtype, url, rect } of annotations) {
    if (subtype !== "Link" || typeof url !== "string" || rect === undefined || areas.length >= 5000) continue;
    const [a, b] = [applied(view, rect[0]!, rect[1]!), applied(view, rect[2]!, rect[3]!)];
    areas.push({
      address: url,
      left: Math.min(a.x, b.x),
      right: Math.max(a.x, b.x),
      top: Math.min(a.y, b.y),
      bottom: Math.max(a.y, b.y),
    });
  }
  return areas;
}

/** Reads the pieces of text of one page. */
import type { getDocumentProxy } from "unpdf";
import { type LinkArea, type Piece, type Segment, segmentsOf, withLinks } from "./pieces.ts";

type PdfPage = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;
type Matrix = readonly [number, number, number, number, number, number];

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

/** `fonts` keeps which fonts are bold, for all pages. */
export async function readPageText(page: PdfPage, fonts: Map<string, boolean>): Promise<PdfPageText> {
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
  return { ...text, segments: segmentsOf(pieces) };
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

function multiplied(m: Matrix, n: Matrix): Matrix {
  return [
    m[0] * n[0] + m[2] * n[1],
    m[1] * n[0] + m[3] * n[1],
    m[0] * n[2] + m[2] * n[3],
    m[1] * n[2] + m[3] * n[3],
    m[0] * n[4] + m[2] * n[5] + m[4],
    m[1] * n[4] + m[3] * n[5] + m[5],
  ];
}

function applied(m: Matrix, x: number, y: number): { x: number; y: number } {
  return { x: m[0] * x + m[2] * y + m[4], y: m[1] * x + m[3] * y + m[5] };
}

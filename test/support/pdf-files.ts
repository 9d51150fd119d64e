/** A small generator of PDF files: texts at positions, in a few sizes. */
import { deflateSync } from "node:zlib";

export interface PdfText {
  text: string;
  x: number;
  /** From the bottom of the page, as PDF counts. */
  y: number;
  size?: number;
  isBold?: boolean;
  /** The font of `HEBREW`. */
  isHebrew?: boolean;
}

/** A font whose letters A to Z and [ are the Hebrew ones from alef to tav, with a space. */
const HEBREW = `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Type /Encoding /Differences [32 /space 65 ${Array.from({ length: 27 }, (_, index) => `/afii${57_664 + index}`).join(" ")}] >> >>`;

/** The letters of a Hebrew text, which a PDF draws from the left: the last one first. */
export function drawnHebrew(text: string): string {
  return [...text]
    .toReversed()
    .map((letter) => (letter === " " ? letter : String.fromCharCode(letter.charCodeAt(0) - 0x5d0 + 65)))
    .join("");
}

export interface PdfPage {
  texts?: readonly PdfText[];
  links?: readonly { x: number; y: number; width: number; height: number; url: string }[];
  rotate?: number;
  /** Filled squares, with the left lower corner; `size`: of a side. `isClip`: it limits what is drawn, and is not painted. */
  squares?: readonly { x: number; y: number; size: number; isClip?: boolean }[];
  /** Has a picture. */
  isPicture?: boolean;
}

interface PdfOptions {
  info?: Readonly<Record<string, string>>;
  /** Adds the entry of an encrypted file. */
  encrypted?: boolean;
}

const escaped = (text: string) => text.replace(/[\\()]/g, "\\$&");

export function pdf(pages: readonly PdfPage[], { info = {}, encrypted = false }: PdfOptions = {}): Buffer {
  const objects: (string | Buffer)[] = [];
  const add = (content: string | Buffer) => objects.push(content);
  const first = 7;
  const pageId = (index: number) => first + 2 * index;
  const pictures = (index: number, isThere: boolean) =>
    isThere ? ` /XObject << /P ${first + 2 * pages.length + index} 0 R >>` : "";
  add("<< /Type /Catalog /Pages 2 0 R /Lang (en) >>");
  add(
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_page, index) => `${pageId(index)} 0 R`).join(" ")}] >>`,
  );
  add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>");
  add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>");
  add(
    `<< ${Object.entries(info)
      .map(([name, value]) => `/${name} (${escaped(value)})`)
      .join(" ")} >>`,
  );
  add(HEBREW);
  for (const [index, { texts = [], links = [], rotate = 0, squares = [], isPicture = false }] of pages.entries()) {
    const annotations = links.map(
      ({ x, y, width, height, url }) =>
        `<< /Type /Annot /Subtype /Link /Rect [${x} ${y} ${x + width} ${y + height}] /A << /S /URI /URI (${escaped(url)}) >> >>`,
    );
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Rotate ${rotate} /Contents ${pageId(index) + 1} 0 R ` +
        `/Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 6 0 R >>${pictures(index, isPicture)} >> /Annots [${annotations.join(" ")}] >>`,
    );
    const drawn = texts.map(
      ({ text, x, y, size = 10, isBold = false, isHebrew = false }) =>
        `BT /${isHebrew ? "F3" : isBold ? "F2" : "F1"} ${size} Tf 1 0 0 1 ${x} ${y} Tm (${escaped(text)}) Tj ET`,
    );
    // Scaled, as programs that print pages do.
    for (const { x, y, size, isClip = false } of squares)
      drawn.push(`q 0.5 0 0 0.5 ${x} ${y} cm 0 0 ${2 * size} ${2 * size} re ${isClip ? "W n" : "f"} Q`);
    if (isPicture) drawn.push("q 595 0 0 842 0 0 cm /P Do Q");
    const stream = deflateSync(Buffer.from(drawn.join("\n"), "latin1"));
    add(
      Buffer.concat([
        Buffer.from(`<< /Length ${stream.length} /Filter /FlateDecode >>\nstream\n`),
        stream,
        Buffer.from("\nendstream"),
      ]),
    );
  }
  for (const { isPicture = false } of pages)
    add(
      isPicture
        ? "<< /Type /XObject /Subtype /Image /Width 2 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 2 >>\nstream\n\x10\x20\nendstream"
        : "null",
    );
  const trailer = encrypted
    ? ` /Encrypt << /Filter /Standard /V 1 /R 2 /O <${"28".repeat(32)}> /U <${"11".repeat(32)}> /P -4 >> /ID [<0011223344556677><0011223344556677>]`
    : "";
  return file(objects, trailer);
}

function file(objects: readonly (string | Buffer)[], trailer: string, hasInfo = true): Buffer {
  const parts: Buffer[] = [Buffer.from("%PDF-1.5\n")];
  let at = parts[0]!.length;
  const offsets: number[] = [];
  for (const [index, content] of objects.entries()) {
    offsets.push(at);
    const object = Buffer.concat([
      Buffer.from(`${index + 1} 0 obj\n`),
      Buffer.from(content as string),
      Buffer.from("\nendobj\n"),
    ]);
    parts.push(object);
    at += object.length;
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R${hasInfo ? " /Info 5 0 R" : ""}${trailer} >>\nstartxref\n${at}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

/**
 * A large file without pictures: pages full of text, not compressed. `gap`: points between the words of a line; wide ones
 * make each word a text of its own, as in tables.
 */
export function densePdf(bytes: number, { gap = 3, pages = Number.POSITIVE_INFINITY } = {}): Buffer {
  const words = "report region revenue growth office number engineer market season quarter product customer".split(" ");
  const lines = Array.from({ length: 62 }, (_line, line) =>
    Array.from({ length: gap > 5 ? 9 : 14 }, (_word, word) => {
      const text = words[(line * 5 + word * 7) % words.length]!;
      return `1 0 0 1 ${(40 + word * (gap > 5 ? 60 : 38)).toFixed(1)} ${800 - line * 12} Tm (${text}) Tj`;
    }).join(" "),
  );
  const body = `BT /F1 8 Tf ${lines.join("\n")} ET`;
  const count = Math.min(pages, Math.ceil(bytes / (body.length + 260)));
  const kids = Array.from({ length: count }, (_page, index) => `${4 + 2 * index} 0 R`);
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R /Lang (en) >>",
    `<< /Type /Pages /Count ${count} /Kids [${kids.join(" ")}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
  ];
  for (let index = 0; index < count; index += 1) {
    const text = `BT /F1 8 Tf 1 0 0 1 40 820 Tm (Section ${index + 1} begins) Tj ET\n${body}`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${5 + 2 * index} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
    );
  }
  return file(objects, "", false);
}

/** Lines of one column from the top. */
export function column(lines: readonly string[], { x = 72, top = 760, size = 10, pitch = 12 } = {}): PdfText[] {
  return lines.map((text, index) => ({ text, x, y: top - index * pitch, size }));
}

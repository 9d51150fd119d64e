/** Documents with known text, headings and tables, for programs that write PDF and Office files. */
import { seededRandom } from "../../src/base/random.ts";

export type Block =
  | { kind: "heading"; level: number; text: string }
  | { kind: "paragraph"; text: string }
  | { kind: "list"; isOrdered: boolean; items: string[] }
  | { kind: "table"; rows: string[][] };

const WORDS =
  "report region revenue growth office number engineer market season quarter product customer delivery harbour winter summer river mountain bridge student teacher library picture window garden machine history answer question letter village".split(
    " ",
  );

export function makeDocument(seed: number): Block[] {
  const random = seededRandom(seed);
  const pick = (length: number) => Math.floor(random.next() * length);
  const words = (count: number) => Array.from({ length: count }, () => WORDS[pick(WORDS.length)]!).join(" ");
  const sentence = (count: number) => `${words(1).replace(/^./, (letter) => letter.toUpperCase())} ${words(count)}.`;
  const title = (number: number) => `${words(1).replace(/^./, (letter) => letter.toUpperCase())} ${words(2)} ${number}`;
  const blocks: Block[] = [{ kind: "heading", level: 1, text: title(seed) }];
  for (let part = 1; part <= 4; part += 1) {
    blocks.push({ kind: "heading", level: 2, text: title(part) });
    blocks.push({ kind: "paragraph", text: Array.from({ length: 5 }, () => sentence(6 + pick(10))).join(" ") });
    if (part % 2 === 1) {
      const columns = 3 + pick(3);
      const head = Array.from(
        { length: columns },
        (_, index) => `${WORDS[(part * 7 + index) % WORDS.length]!} ${index + 1}`,
      );
      const rows = Array.from({ length: 4 + pick(5) }, () =>
        Array.from({ length: columns }, (_, index) => (index === 0 ? words(2) : String(100 + pick(9000)))),
      );
      blocks.push({ kind: "table", rows: [head, ...rows] });
    } else {
      blocks.push({ kind: "heading", level: 3, text: title(part * 10) });
      blocks.push({ kind: "list", isOrdered: part === 4, items: Array.from({ length: 4 }, () => words(4)) });
    }
    blocks.push({ kind: "paragraph", text: Array.from({ length: 4 }, () => sentence(8 + pick(8))).join(" ") });
  }
  return blocks;
}

export function asHtml(blocks: readonly Block[]): string {
  const body = blocks.map((block) => {
    if (block.kind === "heading") return `<h${block.level}>${block.text}</h${block.level}>`;
    if (block.kind === "paragraph") return `<p>${block.text}</p>`;
    if (block.kind === "list") {
      const tag = block.isOrdered ? "ol" : "ul";
      return `<${tag}>${block.items.map((item) => `<li>${item}</li>`).join("")}</${tag}>`;
    }
    const rows = block.rows.map((row, index) => {
      const tag = index === 0 ? "th" : "td";
      return `<tr>${row.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
    });
    return `<table>${rows.join("")}</table>`;
  });
  const style =
    "body { font: 11pt serif } td, th { padding: 3pt 9pt; text-align: left } table { border-collapse: collapse }";
  return `<!DOCTYPE html><html lang="en"><title>Corpus</title><style>${style}</style>${body.join("\n")}</html>`;
}

const NAMESPACES = ["office", "style", "text", "table", "meta"]
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(" ");

/** Flat OpenDocument, which LibreOffice converts to everything else. */
export function asFodt(blocks: readonly Block[]): string {
  const paragraph = (text: string) => `<text:p>${text}</text:p>`;
  const body = blocks.map((block) => {
    if (block.kind === "heading") return `<text:h text:outline-level="${block.level}">${block.text}</text:h>`;
    if (block.kind === "paragraph") return paragraph(block.text);
    if (block.kind === "list") {
      const items = block.items.map((item) => `<text:list-item>${paragraph(item)}</text:list-item>`);
      return `<text:list text:style-name="${block.isOrdered ? "N" : "B"}">${items.join("")}</text:list>`;
    }
    const rows = block.rows.map(
      (row) =>
        `<table:table-row>${row.map((cell) => `<table:table-cell>${paragraph(cell)}</table:table-cell>`).join("")}</table:table-row>`,
    );
    return `<table:table><table:table-column table:number-columns-repeated="${block.rows[0]!.length}"/>${rows.join("")}</table:table>`;
  });
  const lists = `<text:list-style style:name="B"><text:list-level-style-bullet text:level="1" text:bullet-char="•"/></text:list-style><text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/></text:list-style>`;
  return `<?xml version="1.0"?><office:document ${NAMESPACES} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text"><office:automatic-styles>${lists}</office:automatic-styles><office:body><office:text>${body.join("")}</office:text></office:body></office:document>`;
}

export interface Shares {
  /** Of the words, in order. */
  text: number;
  cells: number;
  headings: number;
}

interface Found {
  text: string;
  tables: readonly (readonly (readonly string[])[])[];
  headings: readonly { text: string }[];
}

export function sharesOf(blocks: readonly Block[], found: Found): Shares {
  const wanted = blocks.flatMap((block) => {
    if (block.kind === "table") return block.rows.flat(2);
    return block.kind === "list" ? block.items : [block.text];
  });
  const cells = blocks.flatMap((block) => (block.kind === "table" ? block.rows.flat() : []));
  const headings = blocks.flatMap((block) => (block.kind === "heading" ? [block.text] : []));
  return {
    text: inOrder(wanted.join(" ").split(/\s+/), found.text.split(/\s+/)),
    cells: share(cells, found.tables.flat(2)),
    headings: share(
      headings,
      found.headings.map(({ text }) => text),
    ),
  };
}

/** How many of the words come in their order, with others between them. */
function inOrder(wanted: readonly string[], found: readonly string[]): number {
  let at = 0;
  let hits = 0;
  for (const word of wanted) {
    const next = found.indexOf(word, at);
    if (next < 0 || next - at > 30) continue;
    hits += 1;
    at = next + 1;
  }
  return hits / wanted.length;
}

function share(wanted: readonly string[], found: readonly string[]): number {
  const left = [...found];
  const hits = wanted.filter((one) => {
    const index = left.indexOf(one);
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  });
  return hits.length / wanted.length;
}

/** Tables of data become Markdown tables; tables that only place things on the page become their content. */
import type { Element } from "../dom/nodes.ts";

interface Render {
  cell(cell: Element): string;
  blocks(cell: Element): string[];
}

export function rowsOf(table: Element): Element[][] {
  const rows: Element[][] = [];
  const visit = (parent: Element) => {
    for (let node = parent.first; node !== null; node = node.next) {
      if (node.kind !== 1) continue;
      if (node.tag.name === "tr") rows.push(cellsOf(node));
      else if (node.tag.rule === "tbody") visit(node);
    }
  };
  visit(table);
  return rows.filter((row) => row.length > 0);
}

function cellsOf(row: Element): Element[] {
  const cells: Element[] = [];
  for (let node = row.first; node !== null; node = node.next) {
    if (node.kind === 1 && node.tag.rule === "td") cells.push(node);
  }
  return cells;
}

export function tableToMarkdown(table: Element, render: Render): string[] {
  const rows = rowsOf(table);
  const caption = captionOf(table);
  const before = caption === null ? [] : [`**${render.cell(caption)}**`];
  if (isLayout(rows)) return [...before, ...rows.flat().flatMap((cell) => render.blocks(cell))];
  const lines = rows.map((row) => row.flatMap((cell) => spread(cell, render)));
  const width = Math.max(...lines.map((line) => line.length));
  const isHead =
    rows[0]?.every((cell) => cell.tag.name === "th") === true || rows[0]?.[0]?.parent?.parent?.tag.name === "thead";
  const head = isHead ? (lines.shift() as string[]) : [];
  const row = (cells: readonly string[]) =>
    `| ${Array.from({ length: width }, (_, index) => cells[index] ?? "").join(" | ")} |`;
  const rule = `|${" --- |".repeat(width)}`;
  return [...before, [row(head), rule, ...lines.map(row)].join("\n")];
}

function captionOf(table: Element): Element | null {
  for (let node = table.first; node !== null; node = node.next) {
    if (node.kind === 1 && node.tag.name === "caption") return node;
  }
  return null;
}

/** One cell, one column, or cells that hold tables. */
function isLayout(rows: readonly Element[][]): boolean {
  if (rows.length === 0 || Math.max(...rows.map((row) => row.length)) < 2) return true;
  return rows.some((row) => row.some((cell) => holdsTable(cell)));
}

function holdsTable(element: Element): boolean {
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 1 && (node.tag.name === "table" || node.tag.name === "pre" || holdsTable(node))) return true;
  }
  return false;
}

/** A cell over several columns keeps the columns after it in their place. */
function spread(cell: Element, render: Render): string[] {
  const text = render
    .cell(cell)
    .replace(/\s*\n\s*/g, " ")
    .replaceAll("|", "\\|");
  const span = Math.min(50, Math.max(1, Number.parseInt(cell.attr("colspan") ?? "1", 10) || 1));
  return [text, ...Array.from({ length: span - 1 }, () => "")];
}

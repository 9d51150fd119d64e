/** Data tables become Markdown tables; layout tables become their content. */
import type { Element } from "../dom/nodes.ts";
import { type Grid, readGrid } from "../values/table-grid.ts";
import { preformatted } from "./code.ts";
import type { Mark } from "./tokens.ts";
import type { Render, Writer } from "./writer.ts";

/** Longer code does not fit into a cell. */
const MAX_CODE_LINES = 10;

export function writeTable(table: Element, writer: Writer, render: Render): void {
  writer.endParagraph();
  const grid = readGrid(table, (element) => writer.conversion.keeps(element, false));
  if (grid.caption !== null) writeCaption(grid.caption, writer, render);
  for (const node of grid.stray) {
    if (node.kind === 3) writer.inline.text(node.data);
    else render.inside(node, writer);
  }
  writer.endParagraph();
  const cells = grid.rows.flatMap((row) => row.flatMap((slot) => (slot?.isOrigin === true ? [slot.cell] : [])));
  if (isLayout(table, grid, cells)) {
    for (const cell of cells) {
      render.inside(cell, writer);
      writer.endParagraph();
    }
    return;
  }
  writer.add({ kind: "other", text: pipeTable(grid, writer, render) });
}

function writeCaption(caption: Element, writer: Writer, render: Render): void {
  const strong: Mark = { kind: "strong", href: "", written: false };
  writer.inline.open(strong);
  render.inside(caption, writer);
  writer.inline.close(strong);
  writer.endParagraph();
}

function pipeTable(grid: Grid, writer: Writer, render: Render): string {
  const width = Math.max(...grid.rows.map((row) => row.length));
  // Drops columns that only spanning cells cover.
  const columns = Array.from({ length: width }, (_, at) => at).filter((at) =>
    grid.rows.some((row) => row[at]?.isOrigin === true),
  );
  const lines = grid.rows.map((row) =>
    columns.map((at) => {
      const slot = row[at];
      if (slot?.isOrigin !== true) return "";
      const inner = writer.nested("cell");
      render.inside(slot.cell, inner);
      return inner.line();
    }),
  );
  const head = isHead(grid) ? (lines.shift() as string[]) : columns.map(() => "");
  const line = (texts: readonly string[]) => `| ${texts.join(" | ")} |`;
  return [line(head), `|${" --- |".repeat(columns.length)}`, ...lines.map(line)].join("\n");
}

function isHead({ rows }: Grid): boolean {
  const first = rows[0]?.filter((slot) => slot !== null) ?? [];
  return first.every((slot) => slot.cell.tag.name === "th") || first[0]?.cell.parent?.parent?.tag.name === "thead";
}

/** One cell, one column, or cells with content that a Markdown table cannot contain. */
function isLayout(table: Element, { rows }: Grid, cells: readonly Element[]): boolean {
  if (cells.length === 0 || rows.every((row) => row.filter((slot) => slot?.isOrigin).length < 2)) return true;
  if (/^(?:presentation|none)$/.test(table.attr("role") ?? "")) return true;
  const hasHeads = cells.some((cell) => cell.tag.name === "th");
  return cells.some((cell) => holdsBlocks(cell, hasHeads));
}

function holdsBlocks(element: Element, hasHeads: boolean): boolean {
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind !== 1) continue;
    const { name } = node.tag;
    if (name === "table" || (name === "pre" && isLong(node))) return true;
    if (!hasHeads && /^(?:h[1-6]|blockquote)$/.test(name)) return true;
    if (holdsBlocks(node, hasHeads)) return true;
  }
  return false;
}

function isLong(pre: Element): boolean {
  return preformatted(pre).split("\n", MAX_CODE_LINES + 1).length > MAX_CODE_LINES;
}

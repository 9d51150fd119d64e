/** Lists. An item whose number is not the successor of the previous one starts a new list. */
import type { Element, Node } from "../dom/nodes.ts";
import type { Block, Render, Writer } from "./writer.ts";

interface Item {
  /** Null in unordered lists. */
  number: number | null;
  blocks: Block[];
}

const MAX_NUMBER = 999_999_999;

export function writeList(list: Element, writer: Writer, render: Render): void {
  writer.endParagraph();
  const numbers = numbersOf(list);
  let items: Item[] = [];
  let stray: Writer | null = null;
  const endStray = () => {
    const blocks = stray?.end() ?? [];
    stray = null;
    if (blocks.length === 0) return;
    writeItems(items, writer);
    items = [];
    writer.blocks.push(...blocks);
  };
  for (let node = list.first; node !== null; node = node.next) {
    if (isItem(node)) {
      const number = numbers?.of(node) ?? null;
      if (!writer.conversion.keeps(node, false)) continue;
      endStray();
      const inner = writer.nested("block", node);
      render.inside(node, inner);
      const blocks = withTask(inner.end(), inner.isDone);
      if (blocks.length > 0) items.push({ number, blocks });
    } else if (isList(node) && items.length > 0 && stray === null) {
      const inner = writer.nested("block");
      render.visit(node, inner);
      (items.at(-1) as Item).blocks.push(...inner.end());
    } else {
      stray ??= writer.nested("block");
      if (node.kind === 3) stray.inline.text(node.data);
      else render.visit(node, stray);
    }
  }
  endStray();
  writeItems(items, writer);
}

function isItem(node: Node): node is Element {
  return node.kind === 1 && node.tag.name === "li";
}

function isList(node: Node): node is Element {
  return node.kind === 1 && (node.tag.name === "ul" || node.tag.name === "ol");
}

function withTask(blocks: Block[], isDone: boolean | null): Block[] {
  const [first, ...rest] = blocks;
  if (isDone === null || first?.kind !== "paragraph") return blocks;
  return [{ ...first, text: `${isDone ? "[x]" : "[ ]"} ${first.text}` }, ...rest];
}

interface Numbers {
  of(item: Element): number;
}

function numbersOf(list: Element): Numbers | null {
  if (list.tag.name !== "ol") return null;
  const step = list.attr("reversed") === undefined ? 1 : -1;
  let next = integer(list.attr("start")) ?? (step > 0 ? 1 : countItems(list));
  return {
    of(item) {
      const number = integer(item.attr("value")) ?? next;
      next = number + step;
      return number;
    },
  };
}

function integer(text: string | undefined): number | null {
  const value = Number.parseInt(text ?? "", 10);
  return Number.isSafeInteger(value) ? value : null;
}

function countItems(list: Element): number {
  let count = 0;
  for (let node = list.first; node !== null; node = node.next) if (isItem(node)) count += 1;
  return count;
}

function writeItems(items: readonly Item[], writer: Writer): void {
  for (let from = 0; from < items.length;) {
    let to = from + 1;
    while (to < items.length && follows(items[to - 1] as Item, items[to] as Item)) to += 1;
    writer.blocks.push(listOf(items.slice(from, to), markerAfter(writer.blocks.at(-1), items[from] as Item)));
    from = to;
  }
}

function follows(before: Item, item: Item): boolean {
  return (
    item.number === null ||
    (item.number === (before.number ?? 0) + 1 && isWritable(item.number) === isWritable(before.number))
  );
}

/** Markdown allows no negative numbers, and at most nine digits: other items are written without a number. */
function isWritable(number: number | null): number is number {
  return number !== null && number >= 0 && number <= MAX_NUMBER;
}

/** Adjacent lists need different markers, else they would merge. */
function markerAfter(before: Block | undefined, first: Item): string {
  const [preferred, other] = isWritable(first.number) ? [".", ")"] : ["-", "+"];
  return (before?.marker === preferred ? other : preferred) as string;
}

function listOf(items: readonly Item[], marker: string): Block {
  const lines = items.map(({ number, blocks }) => {
    const mark = isWritable(number) ? `${number}${marker} ` : `${marker} `;
    return mark + itemText(blocks).replace(/\n(?=[^\n])/g, `\n${" ".repeat(mark.length)}`);
  });
  return { kind: "list", text: lines.join("\n"), marker, interrupts: interrupts(items[0] as Item) };
}

/** Whether the list can interrupt a paragraph; a list that starts with a nested list depends on that one. */
function interrupts({ number, blocks }: Item): boolean {
  return (!isWritable(number) || number === 1) && blocks[0]?.interrupts !== false;
}

function itemText(blocks: readonly Block[]): string {
  let text = "";
  let before: Block | null = null;
  for (const block of blocks) {
    if (before === null) text = block.kind === "rule" ? "***" : block.text;
    // A nested list follows the item's text directly; other blocks need an empty line.
    else text += (before.kind === "paragraph" && block.interrupts === true ? "\n" : "\n\n") + block.text;
    before = block;
  }
  return text;
}

/** Collects the blocks of one container: of the page, of a quote, of a list item, of a table cell. */
import type { Element } from "../dom/nodes.ts";
import { Inline } from "./inline.ts";
import type { Mark, Mode } from "./tokens.ts";

export interface Block {
  kind: "paragraph" | "list" | "rule" | "other";
  text: string;
  /** Of a list, the character after which its items begin: a list of the same kind that follows needs another. */
  marker?: string;
  /** A list that may follow a line of text directly. */
  interrupts?: boolean;
}

/** What holds for the whole conversion. */
export interface Conversion {
  resolve(href: string): string | null;
  /** In code, what is named like a comment or an advertisement is code. */
  keeps(element: Element, inCode: boolean): boolean;
  /** Whether the reader wants it, hidden or not. */
  wants(element: Element): boolean;
  /** Links around whole blocks belong to the heading among them. */
  headingLinks: Map<Element, Mark>;
}

export class Writer {
  readonly conversion: Conversion;
  readonly inline: Inline;
  readonly blocks: Block[] = [];
  /** The list item that this is. */
  readonly item: Element | null;
  /** Whether its task is done; null when it is no task. */
  isDone: boolean | null = null;

  constructor(conversion: Conversion, inline: Inline, item: Element | null = null) {
    this.conversion = conversion;
    this.inline = inline;
    this.item = item;
  }

  get mode(): Mode {
    return this.inline.options.mode;
  }

  /** For what is inside; the marks around it hold there, too. */
  nested(mode: Mode, item: Element | null = null): Writer {
    const options = { ...this.inline.options, mode };
    return new Writer(this.conversion, new Inline(options, this.inline.marks, this.inline.codeDepth), item);
  }

  endParagraph(): void {
    for (const text of this.inline.take()) this.blocks.push({ kind: "paragraph", text });
  }

  add(block: Block): void {
    this.endParagraph();
    this.blocks.push(block);
  }

  end(): Block[] {
    this.endParagraph();
    return this.blocks;
  }

  /** Of a heading or cell, its only line. */
  line(): string {
    return this.inline.take().join(" ");
  }
}

export function joinBlocks(blocks: readonly Block[]): string {
  return blocks.map((block) => block.text).join("\n\n");
}

/** How the parts of this folder render what is inside the elements that they know. */
export interface Render {
  /** The element's content. */
  inside(element: Element, writer: Writer): void;
  /** The element itself, unless it is left out. */
  visit(element: Element, writer: Writer): void;
}

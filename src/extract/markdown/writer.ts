/** Collects the blocks of one container: the page, a quote, a list item or a table cell. */
import type { Element } from "../dom/nodes.ts";
import { Inline } from "./inline.ts";
import type { Mark, Mode } from "./tokens.ts";

export interface Block {
  kind: "paragraph" | "list" | "rule" | "other";
  text: string;
  /** The marker of a list: an adjacent list of the same kind needs another one. */
  marker?: string;
  /** The list can interrupt a paragraph. */
  interrupts?: boolean;
}

/** Shared by all writers of a conversion. */
export interface Conversion {
  resolve(href: string): string | null;
  /** In code, class names such as "comment" do not exclude an element. */
  keeps(element: Element, inCode: boolean): boolean;
  /** Whether to include the element, hidden or not. */
  wants(element: Element): boolean;
  /** A link around blocks moves to the heading inside. */
  headingLinks: Map<Element, Mark>;
}

export class Writer {
  readonly conversion: Conversion;
  readonly inline: Inline;
  readonly blocks: Block[] = [];
  /** The list item of this container. */
  readonly item: Element | null;
  /** Whether the task is done; null: not a task. */
  isDone: boolean | null = null;

  constructor(conversion: Conversion, inline: Inline, item: Element | null = null) {
    this.conversion = conversion;
    this.inline = inline;
    this.item = item;
  }

  get mode(): Mode {
    return this.inline.options.mode;
  }

  /** A writer for a nested container; inherits the active marks. */
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

  /** The only line of a heading or cell. */
  line(): string {
    return this.inline.take().join(" ");
  }
}

export function joinBlocks(blocks: readonly Block[]): string {
  return blocks.map((block) => block.text).join("\n\n");
}

/** Passed to the element writers to render nested content. */
export interface Render {
  /** The element's content. */
  inside(element: Element, writer: Writer): void;
  /** The element itself, unless it is excluded. */
  visit(element: Element, writer: Writer): void;
}

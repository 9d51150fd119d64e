/** HTML to Markdown (CommonMark with GitHub's tables, strike-through and task lists). */
import { type Element, MAX_TEXT } from "../dom/nodes.ts";
import { render, write } from "../markdown/convert.ts";
import { holdsFormula } from "../markdown/formula.ts";
import { Inline } from "../markdown/inline.ts";
import { type Conversion, joinBlocks, Writer } from "../markdown/writer.ts";
import { isHidden } from "./visible.ts";

interface MarkdownOptions {
  /** An absolute address, or null for what should not be linked. */
  resolve(href: string): string | null;
  keep(element: Element): boolean;
  /** Whether the reader wants it although it is not shown itself, such as a player or the source of a formula. */
  wants?(element: Element): boolean;
  /** Called when the text is truncated because it is too long. */
  onCut?: () => void;
}

export function toMarkdown(element: Element, options: MarkdownOptions): string {
  return convert(element, options, isContainer(element) ? render.inside : write);
}

/** The element itself, too: a link that is asked for is a link. */
export function elementToMarkdown(element: Element, options: MarkdownOptions): string {
  return convert(element, options, element.tag.name === "dt" ? render.inside : write);
}

function isContainer(element: Element): boolean {
  return !/^(h[1-6]|p|ul|ol|pre|blockquote|table|dl|hr)$/.test(element.tag.name);
}

function convert(
  element: Element,
  options: MarkdownOptions,
  start: (element: Element, writer: Writer) => void,
): string {
  const conversion = conversionFor(options);
  let hasFormulas: boolean | null = null;
  const dollars = () => (hasFormulas ??= holdsFormula(element));
  const writer = new Writer(conversion, new Inline({ mode: "block", dollars }));
  start(element, writer);
  return joinBlocks(writer.end()).trim();
}

function conversionFor(options: MarkdownOptions): Conversion {
  const { keep, resolve, onCut } = options;
  const wants = (child: Element) => options.wants?.(child) !== false;
  // Past the limit nothing more is kept; the tree is walked to its end without work.
  let room = MAX_TEXT;
  return {
    resolve,
    wants: (child) => room > 0 && wants(child),
    headingLinks: new Map(),
    keeps(child, inCode) {
      for (let node = child.first; node !== null && room > 0; node = node.next) {
        room -= node.kind === 3 ? node.sourceLength : 8;
      }
      if (room <= 0) onCut?.();
      return room > 0 && (inCode ? !isHidden(child) && wants(child) : keep(child));
    },
  };
}

/** HTML to Markdown (CommonMark with GitHub's tables, strike-through and task lists). */
import { type Element, MAX_TEXT } from "../dom/nodes.ts";
import { render, write } from "../markdown/convert.ts";
import { holdsFormula } from "../markdown/formula.ts";
import { Inline } from "../markdown/inline.ts";
import { type Conversion, joinBlocks, Writer } from "../markdown/writer.ts";
import { isHidden } from "./visible.ts";

interface MarkdownOptions {
  /** An absolute URL; null: not to be linked. */
  resolve(href: string): string | null;
  keep(element: Element): boolean;
  /** Whether to include an invisible element, such as a player or the source of a formula. */
  wants?(element: Element): boolean;
  /** Called when the text is truncated because it is too long. */
  onCut?: () => void;
}

export function toMarkdown(element: Element, options: MarkdownOptions): string {
  return convert(element, options, isContainer(element) ? render.inside : write);
}

/** Includes the element itself: a selected link stays a link. */
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
  // Past the limit nothing is kept; the rest of the walk does no work.
  let budget = MAX_TEXT;
  return {
    resolve,
    wants: (child) => budget > 0 && wants(child),
    headingLinks: new Map(),
    keeps(child, inCode) {
      for (let node = child.first; node !== null && budget > 0; node = node.next) {
        budget -= node.kind === 3 ? node.sourceLength : 8;
      }
      if (budget <= 0) onCut?.();
      return budget > 0 && (inCode ? !isHidden(child) && wants(child) : keep(child));
    },
  };
}

/** HTML to Markdown (CommonMark with GitHub's tables and strike-through). */
import { type Element, MAX_TEXT, type Node } from "../dom/nodes.ts";
import { isBlock, oneSpaced, rawText } from "../dom/text.ts";
import { tableToMarkdown } from "./markdown-table.ts";
import { readSourceSet } from "../values/source-set.ts";
import { UNEVEN_IN_LINE } from "./plain-text.ts";

export interface MarkdownOptions {
  /** An absolute address, or null for what should not be linked. */
  resolve(href: string): string | null;
  keep(element: Element): boolean;
  /** Told when the rest is left out, because it is too long. */
  onCut?: () => void;
}

export function toMarkdown(element: Element, given: MarkdownOptions): string {
  // Past the limit nothing more is kept; the tree is walked to its end without work.
  let room = MAX_TEXT;
  const options: MarkdownOptions = {
    resolve: given.resolve,
    keep(child) {
      for (let node = child.first; node !== null && room > 0; node = node.next) {
        room -= node.kind === 3 ? node.sourceLength : 8;
      }
      if (room <= 0) given.onCut?.();
      return room > 0 && given.keep(child);
    },
  };
  const blocks = isContainer(element) ? childBlocks(element, options) : block(element, options);
  return blocks.join("\n\n").trim();
}

/** The element itself, too: a link that is asked for is a link. */
export function elementToMarkdown(element: Element, options: MarkdownOptions): string {
  return isBlock(element) || holdsBlocks(element) ? toMarkdown(element, options) : tidy(inline(element, options));
}

function isContainer(element: Element): boolean {
  return !/^(h[1-6]|p|ul|ol|pre|blockquote|table|dl|hr)$/.test(element.tag.name);
}

/** Blocks stand apart; the inline content between them is a paragraph. */
function childBlocks(element: Element, options: MarkdownOptions): string[] {
  const blocks: string[] = [];
  let line = "";
  const flush = () => {
    const text = tidy(line);
    if (text !== "") blocks.push(escapeStart(text));
    line = "";
  };
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 3) line += escapeText(node.data);
    else if (!options.keep(node)) continue;
    else if (node.tag.name !== "br" && (isBlock(node) || holdsBlocks(node))) {
      flush();
      blocks.push(...block(node, options));
    } else line += inline(node, options);
  }
  flush();
  return blocks;
}

/** A link or span around whole paragraphs. */
function holdsBlocks(element: Element): boolean {
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 1 && node.tag.name !== "br" && (isBlock(node) || holdsBlocks(node))) return true;
  }
  return false;
}

function block(element: Element, options: MarkdownOptions): string[] {
  const { name } = element.tag;
  if (/^h[1-6]$/.test(name)) {
    const text = tidy(inlineChildren(element, options)).replace(/\s*\n\s*/g, " ");
    return text === "" ? [] : [`${"#".repeat(Number(name[1]))} ${text}`];
  }
  switch (name) {
    case "hr":
      return ["---"];
    case "pre":
      return codeBlock(element);
    case "ul":
    case "ol":
      return list(element, options);
    case "blockquote":
      return quoted(childBlocks(element, options));
    case "dl":
      return definitions(element, options);
    case "table":
      return tableToMarkdown(element, {
        cell: (cell) => tidy(inlineChildren(cell, options)),
        blocks: (cell) => childBlocks(cell, options),
      });
    case "summary":
    case "legend": {
      const text = tidy(inlineChildren(element, options));
      return text === "" ? [] : [`**${text}**`];
    }
    default:
      return childBlocks(element, options);
  }
}

function quoted(blocks: string[]): string[] {
  if (blocks.length === 0) return [];
  return [
    blocks
      .join("\n\n")
      .split("\n")
      .map((line) => (line === "" ? ">" : `> ${line}`))
      .join("\n"),
  ];
}

function list(element: Element, options: MarkdownOptions): string[] {
  const items: string[] = [];
  const start = Number.parseInt(element.attr("start") ?? "1", 10);
  let number = Number.isSafeInteger(start) ? start : 1;
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind !== 1 || !options.keep(node)) continue;
    const blocks = node.tag.name === "li" ? childBlocks(node, options) : block(node, options);
    if (blocks.length === 0) continue;
    const mark = element.tag.name === "ol" ? `${number}. ` : "- ";
    number += 1;
    const indent = " ".repeat(mark.length);
    // A nested list follows its item directly; other blocks stand apart.
    const text = blocks.reduce((all, next) => `${all}${/^(- |\d+\. )/.test(next) ? "\n" : "\n\n"}${next}`);
    items.push(mark + text.replace(/\n(?=[^\n])/g, `\n${indent}`));
  }
  return items.length === 0 ? [] : [items.join("\n")];
}

function definitions(element: Element, options: MarkdownOptions): string[] {
  const blocks: string[] = [];
  const visit = (parent: Element) => {
    for (let node = parent.first; node !== null; node = node.next) {
      if (node.kind !== 1 || !options.keep(node)) continue;
      if (node.tag.name === "dt") {
        const term = tidy(inlineChildren(node, options));
        if (term !== "") blocks.push(`**${term}**`);
      } else if (node.tag.name === "dd") blocks.push(...childBlocks(node, options));
      else visit(node);
    }
  };
  visit(element);
  return blocks;
}

const LANGUAGE = /(?:^|\s)(?:language|lang|brush|highlight-source|highlight)[-:]\s*([\w+#-]+)/i;

function codeBlock(element: Element): string[] {
  const text = rawCode(element).replace(/^\n+|\s+$/g, "");
  if (text === "") return [];
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return [`${fence}${languageOf(element)}\n${text}\n${fence}`];
}

/** Line numbers' tables and `<br>` in code are line ends. */
function rawCode(element: Element): string {
  let out = "";
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 3) out += node.data;
    else if (node.tag.name === "br") out += "\n";
    else out += isBlock(node) ? `${rawCode(node)}\n` : rawCode(node);
  }
  return out;
}

function languageOf(pre: Element): string {
  const code = pre.first?.kind === 1 ? pre.first : null;
  for (const element of [code, pre, pre.parent, pre.parent?.parent ?? null]) {
    if (element === null) continue;
    const named = element.attr("data-lang") ?? element.attr("data-language");
    const match = LANGUAGE.exec(element.attr("class") ?? "");
    const language = named ?? match?.[1];
    if (language !== undefined && /^[\w+#-]{1,20}$/.test(language)) return language.toLowerCase();
  }
  return "";
}

function inlineChildren(element: Element, options: MarkdownOptions): string {
  let out = "";
  for (let node: Node | null = element.first; node !== null; node = node.next) {
    if (node.kind === 3) out += escapeText(node.data);
    else if (options.keep(node))
      out += isBlock(node) && node.tag.name !== "br" ? ` ${inline(node, options)} ` : inline(node, options);
  }
  return out;
}

const MARKS: Record<string, string> = {
  strong: "**",
  b: "**",
  em: "*",
  i: "*",
  cite: "*",
  del: "~~",
  s: "~~",
  strike: "~~",
};

function inline(element: Element, options: MarkdownOptions): string {
  const { name } = element.tag;
  switch (name) {
    case "br":
      return "  \n";
    case "img":
      return image(element, options);
    case "code":
    case "kbd":
    case "samp":
    case "tt":
      return codeSpan(rawText(element));
    case "a": {
      const text = tidy(inlineChildren(element, options));
      const href = options.resolve(element.attr("href") ?? "");
      if (text === "" || href === null || element.attr("href") === undefined) return text;
      return spaced(element, `[${text}](${href.replace(/[()\s]/g, encodeURIComponent)})`);
    }
    default: {
      const text = inlineChildren(element, options);
      const mark = MARKS[name];
      if (mark === undefined || text.trim() === "") return text;
      // The marks must touch the words, or they are read as stars.
      const [, before = "", inner = "", after = ""] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text) ?? [];
      return `${before}${mark}${inner}${mark}${after}`;
    }
  }
}

/** Keeps the space that stood at the edge inside a link. */
function spaced(element: Element, text: string): string {
  const before = element.first?.kind === 3 && /^\s/.test(element.first.data) ? " " : "";
  const after = element.last?.kind === 3 && /\s$/.test(element.last.data) ? " " : "";
  return before + text + after;
}

function image(element: Element, options: MarkdownOptions): string {
  const source = imageSource(element);
  const address = source === null ? null : options.resolve(source);
  if (address === null) return "";
  const alt = (element.attr("alt") ?? "").replace(/\s+/g, " ").trim().replace(/[[\]]/g, "\\$&");
  return `![${alt}](${address.replace(/[()\s]/g, encodeURIComponent)})`;
}

/** Pages load pictures late: the real address then stands in a data attribute, and `src` holds a blank one. */
export function imageSource(element: Element): string | null {
  const late = element.attr("data-src") ?? element.attr("data-original") ?? element.attr("data-lazy-src");
  const source = element.attr("src");
  if (source !== undefined && source !== "" && !source.startsWith("data:") && late === undefined) return source;
  const set = element.attr("srcset") ?? element.attr("data-srcset");
  return (
    late ?? readSourceSet(set ?? "")[0]?.address ?? (source?.startsWith("data:") === true ? null : (source ?? null))
  );
}

function codeSpan(text: string): string {
  const code = text.replace(/\s+/g, " ").trim();
  if (code === "") return "";
  const longest = Math.max(0, ...[...code.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return longest > 0 ? `${fence} ${code} ${fence}` : fence + code + fence;
}

function escapeText(text: string): string {
  const marked = oneSpaced(text).replace(/[\\`*[\]<]/g, "\\$&");
  return marked.includes("_") ? marked.replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_") : marked;
}

/** What would start a heading, a list or a quote at the beginning of a line. */
function escapeStart(text: string): string {
  return text.replace(/^(#{1,6}\s|>|[+-]\s|---)/, "\\$1").replace(/^(\d+)([.)]\s)/, "$1\\$2");
}

function tidy(text: string): string {
  const even = text.replace(UNEVEN_IN_LINE, " ");
  return (even.includes("\n") ? even.replace(/ ?\n ?/g, "\n").replace(/\n+/g, "  \n") : even).trim();
}

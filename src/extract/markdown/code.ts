/** Code spans and code blocks. */
import { isHidden } from "../article/visible.ts";
import type { Element } from "../dom/nodes.ts";
import { isBlock } from "../dom/text.ts";

function longestRun(text: string, pattern: RegExp): number {
  return Math.max(0, ...[...text.matchAll(pattern)].map((match) => match[0].length));
}

interface CodeContext {
  inCell: boolean;
  inLink: boolean;
}

export function codeSpan(code: string, { inCell, inLink }: CodeContext): string {
  // In a table `\|` is a bar, even in code, so a backslash before a bar needs HTML. A line that starts with `[` and
  // contains `]:` defines a link, even if the latter is code. In HTML, URLs would be autolinked, so they are escaped too.
  if ((inCell && code.includes("\\|")) || (inLink && code.includes("]:")))
    return `<code>${escapeHtml(code).replace(/[\\`*_[\]~$|@]|:(?=\/\/)|(?<=www)\./gi, asReference)}</code>`;
  const fence = "`".repeat(shortestFence(code));
  const isPadded = code.startsWith("`") || code.endsWith("`");
  return isPadded ? `${fence} ${code} ${fence}` : fence + code + fence;
}

/** The length of the shortest backtick run that the code does not contain. */
function shortestFence(code: string): number {
  if (!code.includes("`")) return 1;
  const lengths = new Set([...code.matchAll(/`+/g)].map((match) => match[0].length));
  let length = 1;
  while (lengths.has(length)) length += 1;
  return length;
}

function asReference(character: string): string {
  return `&#${character.charCodeAt(0)};`;
}

export function escapeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

const LANGUAGE = /(?:^|\s)(?:language|lang|brush|highlight-source|highlight)[-:]\s*([\w+#-]+)/i;

export function codeBlock(element: Element): string | null {
  const text = preformatted(element);
  if (text === "") return null;
  const fence = "`".repeat(Math.max(3, longestRun(text, /`+/g) + 1));
  return `${fence}${languageOf(element)}\n${text}\n${fence}`;
}

/** Trims empty lines at both ends; keeps the indent of the first line. */
export function preformatted(element: Element): string {
  return trimLines(rawCode(element));
}

function trimLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd();
}

/** Blocks and `<br>` in code are line ends. Only hidden parts are dropped: an element with class "comment" is code here. */
function rawCode(element: Element): string {
  let out = "";
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 3) out += node.data;
    else if (node.tag.name === "br") out += "\n";
    else if (!isHidden(node)) out += isBlock(node) ? `${rawCode(node)}\n` : rawCode(node);
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

/** Preformatted text with links stays HTML: Markdown would lose its lines or its links. */
export function laidOutText(pre: Element, resolve: (href: string) => string | null): string | null {
  if (languageOf(pre) !== "" || isMarkedAsCode(pre) || !holds(pre, "a")) return null;
  const text = trimLines(rawLinked(pre, resolve));
  return text === "" ? null : `<pre>${text}</pre>`;
}

function isMarkedAsCode(pre: Element): boolean {
  if (holds(pre, "code")) return true;
  const names = [pre, pre.parent].map((element) => element?.attr("class") ?? "").join(" ");
  return /code|highlight|syntax|prettyprint|source|shell|console|terminal/i.test(names);
}

function holds(element: Element, name: string): boolean {
  for (let node = element.first; node !== null; node = node.next)
    if (node.kind === 1 && (node.tag.name === name || holds(node, name))) return true;
  return false;
}

function rawLinked(element: Element, resolve: (href: string) => string | null): string {
  let out = "";
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 3) out += escapeHtml(node.data);
    else if (node.tag.name === "br") out += "\n";
    else if (!isHidden(node)) {
      const inner = rawLinked(node, resolve);
      const href = node.tag.name === "a" ? resolve(node.attr("href") ?? "") : null;
      const isLink = href !== null && node.attr("href") !== undefined && inner.trim() !== "";
      if (isLink) out += `<a href="${escapeHtml(href).replaceAll('"', "&quot;")}">${inner}</a>`;
      else out += isBlock(node) ? `${inner}\n` : inner;
    }
  }
  return out;
}

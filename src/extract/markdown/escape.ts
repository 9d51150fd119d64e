/** Escapes Markdown syntax, and only characters that would be misread at their position. */
import type { Token } from "./tokens.ts";

interface EscapeContext {
  inLink: boolean;
  tildes: boolean;
  dollars(): boolean;
  /** The next token of the block. */
  next: Token | undefined;
}

const SPECIAL = /[\\`*[\]<&~$]|_+/g;
const HAS_SPECIAL = /[\\`*[\]<&~$_]|!$|^\^|:\/\/|www\./i;
const WORD = /[\p{L}\p{N}]/u;
const ENTITY = /^&(?:#[xX]?[\da-fA-F]{1,8}|[a-zA-Z][a-zA-Z\d]{1,31});/;
/** Not followed by the rest of a link or a link definition. */
const PLAIN_BRACKETS = /^\[[^[\]\\`*<&^ ][^[\]\\`*<&]{0,80}\](?![([:])/;

export function escapeText(text: string, context: EscapeContext): string {
  if (!HAS_SPECIAL.test(text)) return text;
  const escaped = text.replace(SPECIAL, (found, at: number) => {
    const isPlain = found === "[" ? isPlainBracket(text, at, context) : !isSpecial(found, text, at, context);
    return isPlain ? found : found.replace(/./g, "\\$&");
  });
  const marked = escaped.endsWith("!") && isLinkNext(context.next) ? `${escaped.slice(0, -1)}\\!` : escaped;
  return context.inLink ? marked.replace(/^\^/, "\\^") : breakAddresses(marked, context.next);
}

/** `[12]` in a sentence needs no escape: there are no link definitions. */
function isPlainBracket(text: string, at: number, { inLink, next }: EscapeContext): boolean {
  if (inLink || at === 0 || text[at - 1] === "!") return false;
  const end = PLAIN_BRACKETS.exec(text.slice(at, at + 90))?.[0].length;
  return end !== undefined && (at + end < text.length || next === undefined || next.kind === "break");
}

function isLinkNext(next: Token | undefined): boolean {
  return next?.kind === "open" && next.mark.kind === "link";
}

function isSpecial(found: string, text: string, at: number, context: EscapeContext): boolean {
  switch (found[0]) {
    case "*":
      return !(text[at - 1] === " " && text[at + 1] === " ");
    case "_":
      return !(
        WORD.test(text.slice(Math.max(0, at - 1), at)) &&
        WORD.test(text.slice(at + found.length, at + found.length + 1))
      );
    case "]":
      return context.inLink;
    case "<":
      return /[a-zA-Z/!?]/.test(text[at + 1] ?? "") || mayBeginMailAddress(text, at, context.next);
    case "&":
      return ENTITY.test(text.slice(at, at + 40));
    case "~":
      return context.tildes;
    case "$":
      return context.dollars();
    default:
      return true;
  }
}

/** `<=a@b.example>` is an email autolink; following tokens may be part of one. */
function mayBeginMailAddress(text: string, at: number, next: Token | undefined): boolean {
  const [local = ""] = /^[\w.!#$%&'*+/=?^`{|}~-]*/.exec(text.slice(at + 1, at + 65)) ?? [];
  const end = at + 1 + local.length;
  return (
    text[end] === "@" || local.length === 64 || (end === text.length && next !== undefined && next.kind !== "break")
  );
}

const ADDRESS = /(?:https?(?=:\/\/)|www(?=\.))\S*/gi;

/**
 * GitHub's Markdown autolinks URLs in text up to the next space. That is prevented for a URL with a backslash (from an
 * escaped bar in a table), and for one directly followed by other markup, which would become part of it.
 */
function breakAddresses(text: string, next: Token | undefined): string {
  if (!/:\/\/|www\./i.test(text)) return text;
  return text.replace(ADDRESS, (address, at: number) => {
    const touches = at + address.length === text.length && next !== undefined && next.kind !== "break";
    return touches || /[\\|]/.test(address) ? address.replace(/https?(?=:\/\/)|www(?=\.)/gi, "$&\\") : address;
  });
}

/** Escapes the start of a heading, list, quote, table or rule, and setext underlines. */
export function escapeLineStart(text: string): string {
  const code = text.charCodeAt(0);
  // Fast path: only `#`, `+`, `-`, digits, `:`, `=`, `>` and `|` can start a block.
  if (code > 0x7c || (code > 0x3e && code < 0x7c)) return text;
  if (code >= 0x30 && code <= 0x39) return text.replace(/^(\d{1,9})([.)])(?=\s|$)/, "$1\\$2");
  return /^(?:[-+](?=\s|$)|#{1,6}(?=\s|$)|>|[-=|:][-=|:\s]*$)/.test(text) ? `\\${text}` : text;
}

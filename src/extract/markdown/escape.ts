/** Characters that Markdown would take for its own. Only those get a backslash that would be misread where they stand. */
import type { Token } from "./tokens.ts";

interface EscapeContext {
  inLink: boolean;
  tildes: boolean;
  dollars(): boolean;
  /** What follows the text in its block. */
  next: Token | undefined;
}

const SPECIAL = /[\\`*[\]<&~$]|_+/g;
const HAS_SPECIAL = /[\\`*[\]<&~$_]|!$|^\^|:\/\/|www\./i;
const WORD = /[\p{L}\p{N}]/u;
const ENTITY = /^&(?:#[xX]?[\da-fA-F]{1,8}|[a-zA-Z][a-zA-Z\d]{1,31});/;
/** Not before what would be the rest of a link, or of its definition. */
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

/** `[12]` in a sentence stays as it is: no link is defined that it could name. */
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

/** `<=a@b.example>` is a link to that mail address; marks and other tokens may be part of one. */
function mayBeginMailAddress(text: string, at: number, next: Token | undefined): boolean {
  const [local = ""] = /^[\w.!#$%&'*+/=?^`{|}~-]*/.exec(text.slice(at + 1, at + 65)) ?? [];
  const end = at + 1 + local.length;
  return (
    text[end] === "@" || local.length === 64 || (end === text.length && next !== undefined && next.kind !== "break")
  );
}

const ADDRESS = /(?:https?(?=:\/\/)|www(?=\.))\S*/gi;

/**
 * GitHub's Markdown makes links of addresses in text, up to the next space. That is welcome, but for an address with
 * a backslash in it (which a bar in a table gets), or one that other marks follow, which would become part of it.
 */
function breakAddresses(text: string, next: Token | undefined): string {
  if (!/:\/\/|www\./i.test(text)) return text;
  return text.replace(ADDRESS, (address, at: number) => {
    const touches = at + address.length === text.length && next !== undefined && next.kind !== "break";
    return touches || /[\\|]/.test(address) ? address.replace(/https?(?=:\/\/)|www(?=\.)/gi, "$&\\") : address;
  });
}

/** What would begin a heading, list, quote, table or rule, or underline the line before it. */
export function escapeLineStart(text: string): string {
  const code = text.charCodeAt(0);
  // Letters and most else begin nothing: `#`, `+`, `-`, digits, `:`, `=`, `>` and `|` may.
  if (code > 0x7c || (code > 0x3e && code < 0x7c)) return text;
  if (code >= 0x30 && code <= 0x39) return text.replace(/^(\d{1,9})([.)])(?=\s|$)/, "$1\\$2");
  return /^(?:[-+](?=\s|$)|#{1,6}(?=\s|$)|>|[-=|:][-=|:\s]*$)/.test(text) ? `\\${text}` : text;
}

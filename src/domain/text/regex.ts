/** Users' regular expressions, on an engine whose time is linear in the text whatever the pattern. */
import { RE2JS } from "re2js";
import { messageOf } from "../../base/errors.ts";

const MAX_PATTERN = 1000;
/** A pattern of many states takes some 200 ns a character. */
const MAX_TEXT = 500_000;

export interface Pattern {
  /** The first group of the first match, or the whole match; null without one. */
  first(text: string): string | null;
  all(text: string, limit: number): string[];
  test(text: string): boolean;
  /** The text without its matches. */
  without(text: string): string;
}

export function compileRegex(source: string): Pattern {
  if (source.length > MAX_PATTERN) throw new Error(`is longer than ${MAX_PATTERN} characters`);
  if (source === "") throw new Error("must not be empty");
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(RE2JS.translateRegExp(source));
  } catch (error) {
    const reason = messageOf(error).replace(/^error parsing regexp: /, "");
    const hint = /\(\?<?[=!]|\\[1-9]/.test(source) ? " (lookaround and back-references are not supported)" : "";
    throw new Error(`${reason}${hint}`, { cause: error });
  }
  const group = compiled.groupCount() > 0 ? 1 : 0;
  return {
    first(text) {
      const matcher = compiled.matcher(text.slice(0, MAX_TEXT));
      return matcher.find() ? (matcher.group(group) ?? "") : null;
    },
    all(text, limit) {
      const matcher = compiled.matcher(text.slice(0, MAX_TEXT));
      const found: string[] = [];
      while (found.length < limit && matcher.find()) found.push(matcher.group(group) ?? "");
      return found;
    },
    test: (text) => compiled.matcher(text.slice(0, MAX_TEXT)).find(),
    without: (text) => compiled.matcher(text.slice(0, MAX_TEXT)).replaceAll("") + text.slice(MAX_TEXT),
  };
}

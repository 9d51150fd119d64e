import type { Value } from "../sql/kernel/connection.ts";

/** Postgres rejects NUL characters in text and in JSON escapes, and JSON with lone surrogates. */
export function cleaned(value: Value | undefined): Value {
  if (value === undefined) return null;
  if (typeof value !== "string") return value;
  const clean = value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  return BAD_ESCAPE.test(clean) ? clean.replace(ESCAPES, replaceBadEscape) : clean;
}

const BAD_ESCAPE = /\\u(?:0000|d[89a-f])/i;

/** Escape sequences; a surrogate pair is one match. */
const ESCAPES = /\\(?:u([0-9a-f]{4})(?:\\u(d[c-f][0-9a-f]{2}))?|[^u])/gi;

function replaceBadEscape(escape: string, first: string | undefined, second: string | undefined): string {
  if (first === undefined) return escape;
  const isHigh = /^d[89ab]/i.test(first);
  if (isHigh && second !== undefined) return escape;
  const bad = isHigh || first === "0000" || /^d[c-f]/i.test(first);
  return `${bad ? "\\ufffd" : `\\u${first}`}${second === undefined ? "" : "\\ufffd"}`;
}

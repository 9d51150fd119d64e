import type { Value } from "../sql/kernel/connection.ts";

/** Postgres keeps no character of number 0, in a text or as JSON writes it, and reads no JSON with half of a pair. */
export function cleaned(value: Value | undefined): Value {
  if (value === undefined) return null;
  if (typeof value !== "string") return value;
  const clean = value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  return WRITTEN.test(clean) ? clean.replace(ESCAPES, readable) : clean;
}

const WRITTEN = /\\u(?:0000|d[89a-f])/i;

/** What follows a backslash; two halves that follow each other come together. */
const ESCAPES = /\\(?:u([0-9a-f]{4})(?:\\u(d[c-f][0-9a-f]{2}))?|[^u])/gi;

function readable(escape: string, first: string | undefined, second: string | undefined): string {
  if (first === undefined) return escape;
  const isHigh = /^d[89ab]/i.test(first);
  if (isHigh && second !== undefined) return escape;
  const bad = isHigh || first === "0000" || /^d[c-f]/i.test(first);
  return `${bad ? "\\ufffd" : `\\u${first}`}${second === undefined ? "" : "\\ufffd"}`;
}

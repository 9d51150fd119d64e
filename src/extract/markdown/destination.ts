/** The destination of a link or image. */

const ENCODED: Record<string, string> = { " ": "%20", "<": "%3C", ">": "%3E", "`": "%60", "\\": "%5C" };
const ENTITY = /&(?=#[xX]?[\da-fA-F]{1,8};|[a-zA-Z][a-zA-Z\d]{1,31};)/g;

export function destination(address: string): string {
  const encoded = address
    .replace(/[\p{Cc} <>`\\]/gu, (character) => ENCODED[character] ?? encodeURIComponent(character))
    .replace(ENTITY, "\\&");
  return /[()]/.test(encoded) && !isBalanced(encoded) ? encoded.replace(/[()]/g, "\\$&") : encoded;
}

/** Parsers accept balanced parentheses up to a depth. */
function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    if (depth < 0 || depth > 20) return false;
  }
  return depth === 0;
}

/** HTML character references in non-HTML text, such as JSON-LD, and in double-escaped text. */
import { decodeHTML } from "entities";

const REFERENCE = /&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][a-zA-Z\d]{1,30});/g;

/** Keeps references that occur in `shown`, the page's visible title: they are meant literally. */
export function decodeTwice(text: string, shown: string): string {
  const decoded = decode(text, shown);
  return decoded === text ? text : decode(decoded, shown);
}

function decode(text: string, shown: string): string {
  return text.replace(REFERENCE, (reference) => (shown.includes(reference) ? reference : decodeHTML(reference)));
}

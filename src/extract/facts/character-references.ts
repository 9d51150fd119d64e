/** HTML character references in texts that are not HTML, such as JSON-LD and what was escaped twice. */
import { decodeHTML } from "entities";

const REFERENCE = /&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][a-zA-Z\d]{1,30});/g;

/** What `shown` shows as it is written is meant so. */
export function decodeTwice(text: string, shown: string): string {
  const decoded = decode(text, shown);
  return decoded === text ? text : decode(decoded, shown);
}

function decode(text: string, shown: string): string {
  return text.replace(REFERENCE, (reference) => (shown.includes(reference) ? reference : decodeHTML(reference)));
}

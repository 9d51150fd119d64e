/** Warns about a document, such as a PDF, that was read in part. */

/** Rule name in warnings about the whole page. */
export const DOCUMENT_RULE = "document";

export function documentWarning({ type, truncated }: { type: string; truncated: string | null }): string | null {
  return truncated === null ? null : `the ${type.toUpperCase()} file was not read completely: ${truncated}`;
}

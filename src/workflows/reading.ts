/** Header values are stored sealed and never returned. */
export function headersSchema(to: string): JsonValue {
  return {
    type: ["object", "null"],
    additionalProperties: { type: "string", maxLength: 8192, writeOnly: true },
    maxProperties: 100,
    description: `Request headers, sent to ${to}, and never shown again.`,
  };
}

/** Extraction options of scrapes and crawls; the parser validates the details. */
import type { JsonValue } from "../domain/lane/queue-item.ts";

export const READING_SCHEMAS: { readonly [name: string]: JsonValue } = {
  fields: {
    anyOf: [
      { type: "array", items: { type: "string", maxLength: 128 }, maxItems: 200 },
      { type: "object" },
      { type: "null" },
    ],
    description: "Names of well-known fields, or rules by field name.",
  },
  items: {
    type: ["string", "object", "null"],
    description: "The elements that become records, such as {css: article.product}.",
  },
  extract: {
    type: ["object", "null"],
    description: "A language model or your own extractor, such as {llm: {schema: …}}.",
  },
  schema: { type: ["boolean", "object", "null"], description: "JSON Schema that each record must satisfy." },
  document: {
    type: ["object", "null"],
    description: "Full page content beside the fields: {formats, …} as in a job.",
  },
  browser: { type: ["object", "null"], description: "What the browser waits for and does on the page, as in a job." },
};

import type { JsonValue } from "../lane/queue-item.ts";

/**
 * The `extract` option of a recipe: a model that reads the page's content, or a user-defined extractor.
 */
export type ExtractRequest = { llm: LlmRequest } | { name: string; params?: JsonValue };

/** At least one of them. */
export interface LlmRequest {
  /** JSON Schema of the record, or of a list of records. */
  schema?: JsonValue;
  /** Natural-language instructions. */
  prompt?: string | null;
}

/** Cost of an extraction; shown with the page. */
export interface ExtractStats {
  extractor: string;
  duration_ms: number;
  /** From here on: of the model only. */
  model?: string;
  mode?: "json_schema" | "json_object" | "plain";
  calls?: number;
  prompt_tokens?: number;
  completion_tokens?: number;
  /** Characters of the page that were sent. */
  input_chars?: number;
  /** The page was truncated. */
  input_cut?: boolean;
  /** The first answer was invalid, the second was valid. */
  repaired?: boolean;
}

/** Validated when the recipe was stored; null: rules only. */
export function extractRequestOf({ extract = null }: { extract?: JsonValue }): ExtractRequest | null {
  return extract as ExtractRequest | null;
}

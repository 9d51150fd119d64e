import type { JsonValue } from "../lane/queue-item.ts";

/**
 * Who reads a page besides its rules, as a recipe names it under `extract`: a model, which is given what the page says, or
 * an extractor of the user's own.
 */
export type ExtractRequest = { llm: LlmRequest } | { name: string; params?: JsonValue };

/** One of them at least. */
export interface LlmRequest {
  /** JSON Schema of the record, or of a list of records. */
  schema?: JsonValue;
  /** What is wanted, in words. */
  prompt?: string | null;
}

/** What reading a page took besides its rules; shown with the page. */
export interface ExtractStats {
  extractor: string;
  duration_ms: number;
  /** The rest is of the model. */
  model?: string;
  mode?: "json_schema" | "json_object" | "plain";
  calls?: number;
  prompt_tokens?: number;
  completion_tokens?: number;
  /** Characters of the page that it was given. */
  input_chars?: number;
  /** The page says more than that. */
  input_cut?: boolean;
  /** Its first answer did not do, the second did. */
  repaired?: boolean;
}

/** A recipe's wish, which was checked when the recipe was taken; null: the rules are all. */
export function extractRequestOf({ extract = null }: { extract?: JsonValue }): ExtractRequest | null {
  return extract as ExtractRequest | null;
}

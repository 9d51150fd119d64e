/** Parses responses of OpenAI-compatible endpoints. */
import { FetchFailure } from "../../domain/run/failure.ts";

export interface Completion {
  /** The model's text; may be empty. */
  content: string;
  /** Why the text is incomplete: token limit or content filter; null: complete. */
  cut: "length" | "content_filter" | null;
  /** The model's refusal message. */
  refusal: string | null;
  promptTokens: number;
  completionTokens: number;
}

export function readCompletion(text: string): Completion {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // Reported below.
  }
  const { choices, usage } = record(answer);
  const choice = Array.isArray(choices) ? record(choices[0]) : {};
  const message = record(choice["message"]);
  if (choice["message"] === undefined)
    throw new FetchFailure(
      "llm_refused",
      "APP_LLM_URL is not an OpenAI-compatible endpoint: its response has no choices",
    );
  const { finish_reason: finish } = choice;
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = record(usage);
  return {
    content: textOf(message["content"]),
    cut: finish === "length" || finish === "content_filter" ? finish : null,
    refusal: typeof message["refusal"] === "string" ? message["refusal"] : null,
    promptTokens: count(promptTokens),
    completionTokens: count(completionTokens),
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** A string, or a list of parts of which some are text. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (typeof record(part)["text"] === "string" ? String(record(part)["text"]) : "")).join("");
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}

/** The endpoint's error. */
export interface EndpointError {
  message: string;
  code: string;
  param: string;
}

export function readError(text: string): EndpointError {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // Usually an HTML page of a gateway.
  }
  const { error, message, detail } = record(answer);
  const inner = record(error);
  const errorText = inner["message"] ?? (typeof error === "string" ? error : undefined) ?? message ?? detail;
  return {
    message: typeof errorText === "string" ? errorText : text.startsWith("<") ? "" : text.slice(0, 1000),
    code: String(inner["code"] ?? inner["type"] ?? ""),
    param: String(inner["param"] ?? ""),
  };
}

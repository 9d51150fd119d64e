/** Options of the model that extracts data, part of the table of all options. */
import { option, optional } from "./option.ts";
import * as type from "./types.ts";

export const LLM_OPTIONS = {
  llmUrl: optional({
    name: "APP_LLM_URL",
    type: type.url(["http", "https"]),
    about: "OpenAI-compatible endpoint of the `llm` extractor.",
    example: "http://localhost:11434/v1",
    secret: "password",
  }),
  llmKey: optional({
    name: "APP_LLM_KEY",
    type: type.key,
    about: "Key for that endpoint.",
    example: "sk-…",
    secret: "whole",
  }),
  llmModel: option({
    name: "APP_LLM_MODEL",
    type: type.headerText,
    default: "default",
    about: "Name of the model that it is asked for; servers with a single one do not mind which.",
    example: "qwen2.5:14b",
  }),
  llmTimeoutMs: option({
    name: "APP_LLM_TIMEOUT_SECONDS",
    type: type.duration("seconds", 0.05, 3600),
    default: "120",
    about: "Longest time one answer of the model may take.",
    example: "30",
  }),
  llmConcurrency: option({
    name: "APP_LLM_CONCURRENCY",
    type: type.integer(1, 1000),
    default: "4",
    about: "Calls of the model at once, per process; other pages wait in line.",
    example: "1",
  }),
  llmMaxInputChars: option({
    name: "APP_LLM_MAX_INPUT_CHARS",
    type: type.integer(100, 1_000_000),
    default: "60000",
    about: "Characters of a page's Markdown that the model is given; the rest is cut off.",
    example: "20000",
  }),
  llmMaxTokens: option({
    name: "APP_LLM_MAX_TOKENS",
    type: type.integer(1, 1_000_000),
    default: "4096",
    about: "Tokens that one answer of the model may have.",
    example: "1000",
  }),
} as const;

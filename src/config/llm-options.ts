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
    about: "API key for `APP_LLM_URL`.",
    example: "sk-…",
    secret: "whole",
  }),
  llmModel: option({
    name: "APP_LLM_MODEL",
    type: type.headerText,
    default: "default",
    about: "Model name sent to the endpoint; servers with a single model usually ignore it.",
    example: "qwen2.5:14b",
  }),
  llmTimeoutMs: option({
    name: "APP_LLM_TIMEOUT_SECONDS",
    type: type.duration("seconds", 0.05, 3600),
    default: "120",
    about: "Time limit for one response of the model.",
    example: "30",
  }),
  llmConcurrency: option({
    name: "APP_LLM_CONCURRENCY",
    type: type.integer(1, 1000),
    default: "4",
    about: "Concurrent calls to the model, per process.",
    example: "1",
  }),
  llmMaxInputChars: option({
    name: "APP_LLM_MAX_INPUT_CHARS",
    type: type.integer(100, 1_000_000),
    default: "60000",
    about: "Maximum characters of a page's Markdown sent to the model; the rest is cut off.",
    example: "20000",
  }),
  llmMaxTokens: option({
    name: "APP_LLM_MAX_TOKENS",
    type: type.integer(1, 1_000_000),
    default: "4096",
    about: "Maximum tokens in one response of the model.",
    example: "1000",
  }),
} as const;

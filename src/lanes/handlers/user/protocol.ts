import type { FailureReason } from "../../../domain/run/failure.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { ExtractorPage } from "../../../extract/define-extractor.ts";
import type { StepFile } from "../../../workflows/define-step.ts";

/** What a user's handler is given. */
export interface HandlerItem {
  artifact_id: string;
  url: string;
  resolver: string | null;
  priority: number;
  payload: unknown;
  /** 1 for the first try. */
  attempt: number;
}

/** What a user's step is told of itself. */
export interface StepAbout {
  run: { id: string; name: string; job_id: string | null };
  step: { name: string; index: number };
  attempt: number;
  item: JsonValue | undefined;
}

export interface FetchedPage {
  status: number;
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

export interface FetchOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

export interface StoredFile {
  hash: string;
  size: number;
  content_type: string | null;
  url: string;
}

/** What a queue handler may ask of the engine, by name; arguments and answers are plain data. */
export interface HandlerCalls {
  fetch(url: string, options: FetchOptions): FetchedPage;
  download(url: string, options: { headers?: Record<string, string> }): StoredFile;
  save(bytes: Uint8Array, options: { content_type?: string }): StoredFile;
}

/** What a step may ask of it. */
export interface StepCalls {
  fetch(url: string, options: FetchOptions): FetchedPage;
  download(url: string, options: { headers?: Record<string, string>; name?: string }): StepFile;
  save(content: Uint8Array | string, options: { name?: string; content_type?: string }): StepFile;
  /** Where a stored file is on this machine. */
  locate(hash: string): string;
  /** The next part of the reading of this number, which begins with its first part: a JSON list; null: it is at its end. */
  items(reading: number, step: string | null): string | null;
  /** A reading that nobody goes on with. */
  leave(reading: number): null;
}

/** What a module registers, told by its process when it has loaded it. */
export interface ModuleContents {
  handlers: { name: string; timeoutSeconds: number }[];
  steps: StepDescription[];
  extractors: ExtractorDescription[];
}

export interface ExtractorDescription {
  name: string;
  about: string | null;
  /** A JSON Schema, not yet looked at; null: it takes any params, or none. */
  params: JsonValue;
  timeoutSeconds: number;
}

export interface StepDescription {
  kind: string;
  about: string | null;
  /** JSON Schemas, not yet looked at. */
  params: JsonValue;
  output: JsonValue | null;
  timeoutSeconds: number;
}

/** Why a call failed, so that a handler which lets it pass fails for the same reason. */
export interface Refusal {
  message: string;
  reason: FailureReason | null;
  httpStatus: number | null;
  retryAfterMs: number | null;
}

/** What is to be executed. */
export type Begin =
  | { kind: "run"; handler: string; item: HandlerItem }
  | { kind: "step"; step: string; about: StepAbout; params: unknown }
  | { kind: "extract"; extractor: string; page: ExtractorPage };

export type Order =
  | Begin
  /** The step that has said `flows` is to give its next items. */
  | { kind: "pull" }
  | { kind: "abort" }
  | { kind: "answer"; call: number; value: unknown }
  | ({ kind: "refusal"; call: number } & Refusal);

/** Counts what a process has executed: what an earlier one left running must not speak for a later one. */
export interface Numbered {
  execution: number;
}

export type ToThread = Numbered & Order;

/** What an execution says. */
export type Said =
  | { kind: "call"; call: number; name: string; args: unknown[] }
  | { kind: "log"; level: "debug" | "info" | "warn" | "error"; message: string }
  | { kind: "progress"; done: number; total: number | null; message: string | null }
  /** The step has returned, and gives items when it is asked to; `done` follows the last. */
  | { kind: "flows" }
  /** A JSON list of items. */
  | { kind: "items"; json: string }
  | { kind: "done"; value: unknown }
  | { kind: "skip"; why: string }
  | ({ kind: "threw"; final: boolean } & Refusal)
  /** After its end: whether it left anything running. */
  | { kind: "left"; running: boolean };

export type FromThread = ({ kind: "ready" } & ModuleContents) | { kind: "broken"; message: string } | (Numbered & Said);

/** What the process itself adds. */
export type FromProcess =
  | FromThread
  | { kind: "died"; reason: "handler_threw" | "handler_exited" | "handler_out_of_memory"; message: string };

export const DEFAULT_TIMEOUT_SECONDS = 300;
export const STEP_TIMEOUT_SECONDS = 3600;
export const EXTRACTOR_TIMEOUT_SECONDS = 60;

/** Items go to and fro in parts of about this many characters. */
export const PART_CHARS = 256 * 1024;

import type { FailureReason } from "../../../domain/run/failure.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { ExtractorPage } from "../../../extract/define-extractor.ts";
import type { StepFile } from "../../../workflows/define-step.ts";

/** The input of a user's handler. */
export interface HandlerItem {
  artifact_id: string;
  url: string;
  /** The concurrency limit that it shares with other items; null: none. */
  concurrency_key: string | null;
  /** @deprecated Alias of `concurrency_key`. */
  resolver: string | null;
  priority: number;
  payload: unknown;
  /** 1 for the first attempt. */
  attempt: number;
}

/** The input of a user's step, besides its items. */
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

/** Requests of a queue handler to the engine, by name; arguments and answers are plain data. */
export interface HandlerCalls {
  fetch(url: string, options: FetchOptions): FetchedPage;
  download(url: string, options: { headers?: Record<string, string> }): StoredFile;
  save(bytes: Uint8Array, options: { content_type?: string }): StoredFile;
}

/** Requests of a step to the engine. */
export interface StepCalls {
  fetch(url: string, options: FetchOptions): FetchedPage;
  download(url: string, options: { headers?: Record<string, string>; name?: string }): StepFile;
  save(content: Uint8Array | string, options: { name?: string; content_type?: string }): StepFile;
  /** The path of a stored file on this machine. */
  locate(hash: string): string;
  /** The next part of reading number `reading`, as a JSON list; null: the end. The first call starts the reading. */
  items(reading: number, step: string | null): string | null;
  /** Ends a reading early. */
  leave(reading: number): null;
}

/** What a module registers; sent by its process after loading. */
export interface ModuleContents {
  handlers: { name: string; timeoutSeconds: number }[];
  steps: StepDescription[];
  extractors: ExtractorDescription[];
}

export interface ExtractorDescription {
  name: string;
  about: string | null;
  /** A JSON Schema, not yet validated; null: it accepts any params, or none. */
  params: JsonValue;
  timeoutSeconds: number;
}

export interface StepDescription {
  kind: string;
  about: string | null;
  /** JSON Schemas, not yet validated. */
  params: JsonValue;
  output: JsonValue | null;
  timeoutSeconds: number;
}

/** Why a call failed, so that a handler that does not catch it fails for the same reason. */
export interface Refusal {
  message: string;
  reason: FailureReason | null;
  httpStatus: number | null;
  retryAfterMs: number | null;
}

/** A request to execute something. */
export type Begin =
  | { kind: "run"; handler: string; item: HandlerItem }
  | { kind: "step"; step: string; about: StepAbout; params: unknown }
  | { kind: "extract"; extractor: string; page: ExtractorPage };

export type Order =
  | Begin
  /** Asks a step that has sent `flows` for its next items. */
  | { kind: "pull" }
  | { kind: "abort" }
  | { kind: "answer"; call: number; value: unknown }
  | ({ kind: "refusal"; call: number } & Refusal);

/** Numbers the executions of a process, so that late messages of one do not count for the next. */
export interface Numbered {
  execution: number;
}

export type ToThread = Numbered & Order;

export type ExecutionMessage =
  | { kind: "call"; call: number; name: string; args: unknown[] }
  | { kind: "log"; level: "debug" | "info" | "warn" | "error"; message: string }
  | { kind: "progress"; done: number; total: number | null; message: string | null }
  /** The step has returned and sends items on request; `done` follows the last one. */
  | { kind: "flows" }
  /** A JSON list of items. */
  | { kind: "items"; json: string }
  | { kind: "done"; value: unknown }
  | { kind: "skip"; why: string }
  | ({ kind: "threw"; final: boolean } & Refusal)
  /** After its end: whether it left anything running. */
  | { kind: "left"; running: boolean };

export type FromThread =
  | ({ kind: "ready" } & ModuleContents)
  | { kind: "broken"; message: string }
  | (Numbered & ExecutionMessage);

/** Messages of the process itself. */
export type FromProcess =
  | FromThread
  | { kind: "died"; reason: "handler_threw" | "handler_exited" | "handler_out_of_memory"; message: string };

export const DEFAULT_TIMEOUT_SECONDS = 300;
export const STEP_TIMEOUT_SECONDS = 3600;
export const EXTRACTOR_TIMEOUT_SECONDS = 60;

/** Items are sent in parts of about this many characters. */
export const PART_CHARS = 256 * 1024;

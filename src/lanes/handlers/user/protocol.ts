import type { FailureReason } from "../../../domain/failure.ts";

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

export interface FetchedPage {
  status: number;
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

export interface StoredFile {
  hash: string;
  size: number;
  content_type: string | null;
  url: string;
}

/** What a handler may ask of the main thread, by name; arguments and answers are plain data. */
export interface HandlerCalls {
  fetch(url: string, options: { headers?: Record<string, string> }): FetchedPage;
  download(url: string, options: { headers?: Record<string, string> }): StoredFile;
  save(bytes: Uint8Array, options: { content_type?: string }): StoredFile;
}

/** Why a call failed, so that a handler which lets it pass fails for the same reason. */
export interface Refusal {
  message: string;
  reason: FailureReason | null;
  httpStatus: number | null;
  retryAfterMs: number | null;
}

export type ToThread =
  | { kind: "run"; handler: string; item: HandlerItem }
  | { kind: "abort" }
  | { kind: "answer"; call: number; value: unknown }
  | ({ kind: "refusal"; call: number } & Refusal);

export type FromThread =
  | { kind: "ready"; handlers: { name: string; timeoutSeconds: number }[] }
  | { kind: "broken"; message: string }
  | { kind: "call"; call: number; name: keyof HandlerCalls; args: unknown[] }
  | { kind: "log"; level: "debug" | "info" | "warn" | "error"; message: string }
  | { kind: "done"; results: unknown[] }
  | { kind: "skip"; why: string }
  | ({ kind: "threw"; final: boolean } & Refusal);

/** What the process itself adds. */
export type FromProcess =
  | FromThread
  | { kind: "died"; reason: "handler_threw" | "handler_exited" | "handler_out_of_memory"; message: string };

export const DEFAULT_TIMEOUT_SECONDS = 300;

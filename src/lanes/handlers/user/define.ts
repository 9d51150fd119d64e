/** The API for authors of an APP_HANDLERS module. Imports almost nothing, because every handler process loads it. */
import type { FetchedPage, FetchOptions, HandlerItem, StoredFile } from "./protocol.ts";

export {
  type CustomStep,
  type CustomStepContext,
  defineStep,
  skip,
  type StepFile,
} from "../../../workflows/define-step.ts";

export {
  type CustomExtractor,
  defineExtractor,
  type ExtractedRecord,
  type ExtractorContext,
  type ExtractorPage,
} from "../../../extract/define-extractor.ts";

/** The context of a handler. All of its network access goes through here, with address policy and limits. */
export interface HandlerContext {
  /**
   * Sends one request and follows redirects. Resolves for any status; throws network errors, and an item whose handler
   * does not catch them fails for that reason. The body is limited to APP_MAX_BODY_BYTES.
   */
  fetch(url: string, options?: FetchOptions): Promise<FetchedPage>;
  /** Downloads a URL (default: the item's own) as a file of the item. Throws for a status of 400 or more. */
  download(url?: string, options?: { headers?: Record<string, string> }): Promise<StoredFile>;
  /** Stores bytes as a file of the item. */
  save(bytes: Uint8Array, options?: { content_type?: string }): Promise<StoredFile>;
  /** Writes to the worker's log, at most 200 lines per item. Console output of the module is discarded. */
  log: Record<"debug" | "info" | "warn" | "error", (message: string) => void>;
  /** Aborted when the outcome is no longer wanted or the timeout is over; the process is killed a second later. */
  signal: AbortSignal;
}

/**
 * Processes one item. The return value is stored as the item's record, as JSON; undefined: no record; `{ skip: "why" }`:
 * the item is skipped. A thrown error fails the attempt, which is retried; an error with `retry: false` is final.
 */
export type Handler = (item: HandlerItem, context: HandlerContext) => unknown;

/** A handler, or one with its own timeout (default: 300 seconds). */
export type HandlerDefinition = Handler | { run: Handler; timeoutSeconds?: number };

/** Types the handlers of a module: `export const handlers = defineHandlers({ name: async (item, context) => … })`. */
export function defineHandlers<H extends Record<string, HandlerDefinition>>(handlers: H): H {
  return handlers;
}

/** What the author of an APP_HANDLERS module imports. Loads next to nothing, because every handler's process loads it. */
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

/** What a handler works with. Every way out to the network goes through here, under the guard and its limits. */
export interface HandlerContext {
  /**
   * One request, redirects followed. Any status is an answer; what breaks on the way is thrown, and if the handler lets
   * it pass, the item fails for that very reason. The body is at most APP_MAX_BODY_BYTES long.
   */
  fetch(url: string, options?: FetchOptions): Promise<FetchedPage>;
  /** Stores what the address gives (the item's own by default) as a file of the item. A status of 400 or more is thrown. */
  download(url?: string, options?: { headers?: Record<string, string> }): Promise<StoredFile>;
  /** Stores bytes as a file of the item. */
  save(bytes: Uint8Array, options?: { content_type?: string }): Promise<StoredFile>;
  /** Lines in the log of the engine, at most 200 per item. What the module writes to the console goes nowhere. */
  log: Record<"debug" | "info" | "warn" | "error", (message: string) => void>;
  /** Aborted when the outcome is not wanted any more, or the time is over; a second later the process is ended. */
  signal: AbortSignal;
}

/**
 * Does one item. What it returns is kept as the item's record, as JSON; nothing is no record; `{ skip: "why" }` ends the
 * item as skipped. What it throws fails the attempt, which is repeated later; an error with `retry: false` is final.
 */
export type Handler = (item: HandlerItem, context: HandlerContext) => unknown;

/** A handler, or one with a time limit of its own instead of 300 seconds. */
export type HandlerDefinition = Handler | { run: Handler; timeoutSeconds?: number };

/** Gives a module's handlers their types: `export const handlers = defineHandlers({ name: async (item, context) => … })`. */
export function defineHandlers<H extends Record<string, HandlerDefinition>>(handlers: H): H {
  return handlers;
}

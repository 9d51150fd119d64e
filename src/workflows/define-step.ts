/**
 * What the author of a step kind writes, in the module that APP_HANDLERS names. Imports nothing at run time, because
 * every process that executes such a step loads it.
 */
import type { Static, TSchema } from "typebox";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { Item } from "./step-kind.ts";

/**
 * A step kind: definitions use it as `task_type`. `params` and `output` are JSON Schemas, written by hand or with
 * TypeBox; `run` has their types.
 */
export interface CustomStep<
  Params extends TSchema = TSchema,
  Output extends TSchema = TSchema,
  Kind extends string = string,
> {
  readonly kind: Kind;
  /** One line for lists. */
  readonly about?: string;
  /**
   * Schema of an object; definitions with params that do not satisfy it are rejected. Texts marked `writeOnly`, such as
   * keys, are stored sealed and never returned.
   */
  readonly params: Params;
  /** What later steps may rely on; an output that does not satisfy it fails the step. */
  readonly output?: Output;
  /** Timeout of one attempt in seconds; default: 3600. A definition's own `timeout` may be shorter. */
  readonly timeout?: number;
  /**
   * One attempt. It may be aborted at any moment and started again, so its effects outside of `context` must be
   * idempotent. An error fails the attempt, which is retried later; an error with `retry: false` is final.
   */
  run(
    context: CustomStepContext,
    params: Static<Params>,
  ): CustomStepReturn<Static<Output>> | Promise<CustomStepReturn<Static<Output>>>;
}

/** Gives a kind of step its types: `export const steps = [defineStep({ kind: "resize", params, run })]`. */
export function defineStep<
  const Kind extends string,
  const Params extends TSchema,
  const Output extends TSchema = Readonly<Record<string, never>>,
>(step: CustomStep<Params, Output, Kind>): CustomStep<Params, Output, Kind> {
  return step;
}

/** Ends a step as skipped; later steps continue without it. */
export function skip(why: string): { skip: string } {
  return { skip: why };
}

/**
 * The output itself; or the output with items for the next steps, which are pulled on demand: `output` is read after
 * the last item, so that it may count them. No return value is an empty output.
 */
type CustomStepReturn<Output> =
  | Output
  | { output?: Output; items: AsyncIterable<Item> | Iterable<Item> }
  | { output: Output }
  | { skip: string }
  | void;

/** A file that the step stored, as part of an item: `{ ...item, ...file }`. */
export interface StepFile {
  /** SHA-256 of its bytes in hex. */
  hash: string;
  bytes: number;
  content_type: string | null;
  name: string;
}

/** The context of a step. All network access goes through here, under the address policy and its limits. */
export interface CustomStepContext {
  readonly run: { readonly id: string; readonly name: string; readonly job_id: string | null };
  readonly step: { readonly name: string; readonly index: number };
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The list entry, in a step with `for_each`. */
  readonly item: JsonValue | undefined;
  /** The items of the steps it depends on, or of one earlier step; streamed, however many there are. */
  items(step?: string): AsyncIterable<Item>;
  /**
   * One request; follows redirects. Any status is a response; network failures are thrown, and a step that does not
   * catch them fails with that reason. The body is limited to APP_MAX_BODY_BYTES.
   */
  fetch(
    url: string,
    options?: { method?: string; headers?: Record<string, string>; body?: string | Uint8Array },
  ): Promise<{ status: number; url: string; headers: Record<string, string>; body: Uint8Array }>;
  /** Downloads a URL as a file of the step. Throws for a status of 400 or more. */
  download(url: string, options?: { headers?: Record<string, string>; name?: string }): Promise<StepFile>;
  /** Stores bytes or a text as a file of the step. */
  save(content: Uint8Array | string, options?: { name?: string; content_type?: string }): Promise<StepFile>;
  /** The bytes of a stored file, by its `hash`. */
  read(hash: string): Promise<Uint8Array>;
  /** Shown to users, and part of the workflow's overall progress. */
  progress(done: number, total?: number | null, message?: string): void;
  /** Writes to the worker's log, at most 200 lines per attempt. Console output of the module is discarded. */
  readonly log: Record<"debug" | "info" | "warn" | "error", (message: string) => void>;
  /** Aborted when the result is no longer needed or the timeout expires; a second later the process is killed. */
  readonly signal: AbortSignal;
}

/**
 * What the author of a step kind writes, in the module that APP_HANDLERS names. Imports nothing at run time, because every
 * process that executes such a step loads it.
 */
import type { Static, TSchema } from "typebox";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { Item } from "./step-kind.ts";

/**
 * A kind of step: definitions name it as their `task_type`. `params` and `output` are JSON Schemas, written by hand or with
 * TypeBox; what is given and returned has their types.
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
   * Of an object; a definition whose params do not satisfy it is refused. Texts that it says are `writeOnly`, such as keys,
   * are stored sealed, and shown to nobody.
   */
  readonly params: Params;
  /** What later steps may rely on; an output that does not satisfy it fails the step. */
  readonly output?: Output;
  /** Seconds for one attempt; default: 3600. A definition's own `timeout` may be shorter. */
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

/** Ends a step as not needed; those after it go on without it. */
export function skip(why: string): { skip: string } {
  return { skip: why };
}

/**
 * The output itself; or the output with items for the next steps, which are fetched as they are needed: `output` is read
 * when the last one has come, so that it may count them. Nothing is an empty output.
 */
type CustomStepReturn<Output> =
  | Output
  | { output?: Output; items: AsyncIterable<Item> | Iterable<Item> }
  | { output: Output }
  | { skip: string }
  | void;

/** A file that the step has stored, as it is to stand in an item: `{ ...item, ...file }`. */
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
  /** 1 for the first try. */
  readonly attempt: number;
  /** The entry of the list, in a step with `for_each`. */
  readonly item: JsonValue | undefined;
  /** The items of the steps it depends on, or of one earlier step; they come in pieces, however many there are. */
  items(step?: string): AsyncIterable<Item>;
  /**
   * One request, redirects followed. Any status is an answer; what breaks on the way is thrown, and if the step lets it pass,
   * it fails for that very reason. The body is at most APP_MAX_BODY_BYTES long.
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
  /** Told to people, and weighed in the progress of the whole workflow. */
  progress(done: number, total?: number | null, message?: string): void;
  /** Lines in the log of the engine, at most 200 per try. What the module writes to the console goes nowhere. */
  readonly log: Record<"debug" | "info" | "warn" | "error", (message: string) => void>;
  /** Aborted when the result is not wanted any more, or the time is over; a second later the process is ended. */
  readonly signal: AbortSignal;
}

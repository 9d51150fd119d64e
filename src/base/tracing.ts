/**
 * Times parts of the work for a tracer. The tracer of a task is found through the asynchronous context; without one,
 * `inSpan` costs a look-up and the work runs as it is.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export type SpanValue = string | number | boolean;
export type SpanAttributes = Readonly<Record<string, SpanValue | null | undefined>>;

/** The span of an attempt: whatever is timed within it is its child, so no part needs a context of its own. */
export interface SpanParent {
  /** The W3C `traceparent` of calls that belong to it. */
  readonly traceparent: string;
  /** The time now, for `add`. */
  time(): number;
  /** A part that began at `begun` ends now. */
  add(name: string, begun: number, attributes: SpanAttributes | undefined, error: unknown): void;
}

const current = new AsyncLocalStorage<SpanParent>();

/** Runs work whose spans belong to `parent`. */
export function withSpanParent<T>(parent: SpanParent, work: () => T): T {
  return current.run(parent, work);
}

/** `describe` gives attributes of the result. */
export function inSpan<T>(name: string, work: () => Promise<T>, describe?: (result: T) => SpanAttributes): Promise<T> {
  const parent = current.getStore();
  return parent === undefined ? work() : timed(parent, name, work, describe);
}

async function timed<T>(
  parent: SpanParent,
  name: string,
  work: () => Promise<T>,
  describe: ((result: T) => SpanAttributes) | undefined,
): Promise<T> {
  const begun = parent.time();
  try {
    const result = await work();
    parent.add(name, begun, describe?.(result), null);
    return result;
  } catch (error) {
    parent.add(name, begun, undefined, error);
    throw error;
  }
}

/** Null: what runs here is not traced. */
export function currentTraceparent(): string | null {
  return current.getStore()?.traceparent ?? null;
}

const caller = new AsyncLocalStorage<string>();

/** `next` and all that follows from it serve a caller with this `traceparent`. */
export function withCallersTraceparent(traceparent: string, next: () => void): void {
  caller.run(traceparent, next);
}

/** For work that outlives the call, such as an engine that it wakes. */
export function withoutCallersTraceparent<T>(work: () => T): T {
  return caller.exit(work);
}

export function callersTraceparent(): string | null {
  return caller.getStore() ?? null;
}

/**
 * Times parts of the work for a tracer. The tracer of a task is found through the asynchronous context; without one,
 * `inSpan` costs a look-up and the work runs as it is.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export type SpanValue = string | number | boolean;
export type SpanAttributes = Readonly<Record<string, SpanValue | null | undefined>>;

export interface OpenSpan {
  /** The parent of spans that begin within it. */
  readonly parent: SpanParent;
  end(attributes?: SpanAttributes, error?: unknown): void;
}

export interface SpanParent {
  /** The W3C `traceparent` of calls that belong to it. */
  readonly traceparent: string;
  open(name: string, attributes?: SpanAttributes): OpenSpan;
}

const current = new AsyncLocalStorage<SpanParent>();

/** Runs work whose spans belong to `parent`. */
export function withSpanParent<T>(parent: SpanParent, work: () => T): T {
  return current.run(parent, work);
}

/** `describe` gives attributes of the result. */
export async function inSpan<T>(
  name: string,
  work: () => Promise<T>,
  describe?: (result: T) => SpanAttributes,
): Promise<T> {
  const parent = current.getStore();
  if (parent === undefined) return work();
  const span = parent.open(name);
  try {
    const result = await current.run(span.parent, work);
    span.end(describe?.(result));
    return result;
  } catch (error) {
    span.end(undefined, error);
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

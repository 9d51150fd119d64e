/** What calls take and answer, read from the operations that the API describes. */
import type { Operations } from "./operations.ts";

/** An operation, by its method and address: `"get /runs"`. */
export type Route = keyof Operations;

export type Answer<R extends Route> = Operations[R]["answer"];
export type Body<R extends Route> = Operations[R]["body"];
export type Query<R extends Route> = Operations[R]["query"];

/** Only what an operation takes, and what it cannot do without is required. */
type Needed<Key extends string, Value> = [Value] extends [undefined]
  ? { [K in Key]?: undefined }
  : [object] extends [Value]
    ? { [K in Key]?: Loose<Value> | undefined }
    : { [K in Key]: Loose<Value> };

/** What may be left out may be undefined, too: it is not sent. */
type Loose<Value> = Value extends readonly unknown[] | string | number | boolean | null | undefined
  ? Value
  : { [K in keyof Value]: undefined extends Value[K] ? Value[K] | undefined : Value[K] };

export type Input<R extends Route> = Needed<"params", Operations[R]["params"]> &
  Needed<"query", Query<R>> &
  Needed<"body", Body<R>>;

/** Where the input may be left out as a whole. */
export type InputArgs<R extends Route> = [object] extends [Input<R>] ? [input?: Input<R>] : [input: Input<R>];

/** How a single call is made; each has a default for all calls of the client. */
export interface CallOptions {
  /** Ends the call; it fails with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** For the whole call, all tries together. */
  timeoutMs?: number | undefined;
  /** How often a call that may be repeated is tried again. */
  retries?: number | undefined;
  /** Idempotency key: the call is done once, however many of your programs or restarts send it. */
  idempotencyKey?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Lists that come in pages. */
export type PagedRoute = {
  [R in Route]: Query<R> extends { cursor?: string } ? R : never;
}[Route];

/** Where the entries of a page are, if the page is not the list itself. */
export const ROWS_IN = {
  "get /proxies": "proxies",
  "get /scraping/tasks/{task_id}/results": "items",
} as const satisfies Partial<{ [R in PagedRoute]: Answer<R> extends readonly unknown[] ? never : keyof Answer<R> }>;

/** An entry of a list. */
export type Row<R extends PagedRoute> =
  Answer<R> extends readonly (infer Entry)[]
    ? Entry
    : R extends keyof typeof ROWS_IN
      ? Answer<R>[(typeof ROWS_IN)[R] & keyof Answer<R>] extends readonly (infer Entry)[]
        ? Entry
        : never
      : never;

/** The names in an address, in order, as arguments: `"get /a/{b}/{c}"` → `[b: string, c: string]`. */
export type PathArgs<R extends string> = R extends `${string}{${string}}${infer Rest}`
  ? [id: string, ...PathArgs<Rest>]
  : [];

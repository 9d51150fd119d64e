/** Event streams (text/event-stream): resumable, with heartbeats and backpressure. */
import { Readable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import { madeFor } from "./access/held-answers.ts";
import { RECHECK_MS } from "./access/keys.ts";
import { untilRevoked } from "./auth.ts";
import type { ApiDeps } from "./deps.ts";
import { limitsOf } from "./deps.ts";
import type { ApiReply, ApiRequest } from "./instance.ts";
import { textAnswer } from "./schemas.ts";
import { Type } from "./type.ts";

export interface SseEvent {
  /** Becomes `Last-Event-ID` on reconnect; absent: the previous one stays. */
  id?: string;
  event: string;
  data: unknown;
}

/** Where a stream starts, and its end signal. */
export interface StreamFrom {
  lastEventId: string | null;
  /** The client disconnected, or the server shuts down: the source must end. */
  signal: AbortSignal;
}

const EVENT_STREAM_TYPE = "text/event-stream";

/** For the query of a streaming route; browsers cannot set headers on a stream. */
export const streamQuery = {
  last_event_id: Type.Optional(Type.String({ maxLength: 256, description: "resume after this event" })),
};

export function streamAnswer(description: string) {
  return textAnswer(description, EVENT_STREAM_TYPE);
}

/** Ends every open stream when the server closes. */
export class OpenStreams {
  readonly #open = new Set<AbortController>();
  #closed = false;

  open(): AbortController {
    const controller = new AbortController();
    if (this.#closed) controller.abort();
    else this.#open.add(controller);
    controller.signal.addEventListener("abort", () => this.#open.delete(controller), { once: true });
    return controller;
  }

  get count(): number {
    return this.#open.size;
  }

  close(): void {
    this.#closed = true;
    for (const controller of [...this.#open]) controller.abort();
  }
}

declare module "fastify" {
  interface FastifyInstance {
    openStreams: OpenStreams;
  }
}

/**
 * Responds with a stream of what `source` yields. `source` is called after validation and read only as fast as the
 * client consumes. A string is an event already framed by `frameOf`: events for many clients are serialised once.
 * Returns the reply, which fits any route.
 */
export function sendEvents(
  request: ApiRequest,
  reply: ApiReply,
  deps: Pick<ApiDeps, "clock" | "settings" | "store">,
  source: (from: StreamFrom) => AsyncIterable<SseEvent | string>,
  signs?: SignsOfLife,
): never {
  const { heartbeatMs, reconnectMs } = limitsOf(deps);
  const ended = request.server.openStreams.open();
  const query = request.query as { last_event_id?: string };
  const header = request.headers["last-event-id"];
  const lastEventId = (typeof header === "string" ? header : undefined) ?? query.last_event_id ?? null;
  const { signal } = ended;
  const frames = framesOf(madeFor(request, source({ lastEventId, signal })), {
    clock: deps.clock,
    signs: signs ?? { sign: COMMENT, everyMs: heartbeatMs },
    reconnectMs,
    signal,
  });
  const stream = Readable.from(frames, { objectMode: false, highWaterMark: HIGH_WATER });
  stream.once("close", () => ended.abort());
  const stop = untilRevoked(request, deps, RECHECK_MS, () => ended.abort());
  ended.signal.addEventListener("abort", stop, { once: true });
  reply.raw.once("close", () => ended.abort());
  return reply.header("content-type", EVENT_STREAM_TYPE).header("x-accel-buffering", "no").send(stream) as never;
}

/** What is sent while nothing happens, and how often. */
export interface SignsOfLife {
  sign: string;
  everyMs: number;
}

/** Keeps the connection open; clients do not see comments. */
const COMMENT = ": still here\n\n";

/** Bytes buffered per client, besides the socket buffers. */
const HIGH_WATER = 16 * 1024;

async function* framesOf(
  source: AsyncIterable<SseEvent | string>,
  options: { clock: Clock; signs: SignsOfLife; reconnectMs: number; signal: AbortSignal },
): AsyncGenerator<string> {
  const { clock, signs, signal } = options;
  const events = source[Symbol.asyncIterator]();
  try {
    yield `retry: ${options.reconnectMs}\n\n`;
    let next = events.next();
    // A source that fails after the stream ended must not cause an unhandled rejection.
    next.catch(() => {});
    while (!signal.aborted) {
      const outcome = await firstOf(next, clock, signs.everyMs, signal);
      if (outcome === "ended") return;
      if (outcome === "quiet") {
        yield signs.sign;
        continue;
      }
      if (outcome.done === true) return;
      yield typeof outcome.value === "string" ? outcome.value : frameOf(outcome.value);
      next = events.next();
      next.catch(() => {});
    }
  } finally {
    // The source may wait forever; the signal stops it.
    events.return?.().catch(() => {});
  }
}

/** The next event, a timeout, or the end of the stream. */
function firstOf(
  next: Promise<IteratorResult<SseEvent | string>>,
  clock: Clock,
  quietMs: number,
  signal: AbortSignal,
): Promise<IteratorResult<SseEvent | string> | "quiet" | "ended"> {
  return new Promise((resolve, reject) => {
    const over = () => finish(() => resolve("ended"));
    const timer = clock.after(quietMs, () => finish(() => resolve("quiet")));
    const finish = (how: () => void) => {
      timer.cancel();
      signal.removeEventListener("abort", over);
      how();
    };
    signal.addEventListener("abort", over, { once: true });
    if (signal.aborted) return over();
    next.then(
      (result) => finish(() => resolve(result)),
      (error: unknown) => finish(() => reject(error)),
    );
    return undefined;
  });
}

/** A line break would start another field: ids and names cannot contain one, and JSON escapes it. */
export function frameOf({ id, event, data }: SseEvent): string {
  return frameOfJson(event, JSON.stringify(data) ?? "null", id);
}

/** `json` comes from JSON.stringify. */
export function frameOfJson(event: string, json: string, id?: string): string {
  const word = (text: string) => text.replace(/[\r\n\0]/g, " ");
  return `${id === undefined ? "" : `id: ${word(id)}\n`}event: ${word(event)}\ndata: ${json}\n\n`;
}

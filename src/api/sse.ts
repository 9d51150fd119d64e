/** Event streams (text/event-stream): resumable, kept open by signs of life, and never faster than their reader. */
import { Readable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import type { ApiDeps } from "./deps.ts";
import { limitsOf } from "./deps.ts";
import type { ApiReply, ApiRequest } from "./instance.ts";
import { textAnswer } from "./schemas.ts";
import { Type } from "./type.ts";

export interface SseEvent {
  /** What `Last-Event-ID` says when the client comes back; absent: what it said before. */
  id?: string;
  event: string;
  data: unknown;
}

/** The beginning of a stream: behind which event, and until when. */
export interface StreamFrom {
  lastEventId: string | null;
  /** The client is gone, or the server closes: the source must end. */
  signal: AbortSignal;
}

const EVENT_STREAM_TYPE = "text/event-stream";

/** For the query of a route that streams; browsers cannot set headers on a stream. */
export const streamQuery = {
  last_event_id: Type.Optional(Type.String({ maxLength: 256, description: "go on behind this event" })),
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
 * Answers with a stream of what `source` yields. `source` is called once what the client wants is known; it is read only
 * while the client takes what was sent before. A text is events as `frameOf` makes them: what many get is made once. A handler returns what this returns: the reply, which fits any route.
 */
export function sendEvents(
  request: ApiRequest,
  reply: ApiReply,
  deps: Pick<ApiDeps, "clock" | "settings">,
  source: (from: StreamFrom) => AsyncIterable<SseEvent | string>,
  signs?: SignsOfLife,
): never {
  const { heartbeatMs, reconnectMs } = limitsOf(deps);
  const ended = request.server.openStreams.open();
  const query = request.query as { last_event_id?: string };
  const header = request.headers["last-event-id"];
  const lastEventId = (typeof header === "string" ? header : undefined) ?? query.last_event_id ?? null;
  const { signal } = ended;
  const frames = framesOf(source({ lastEventId, signal }), {
    clock: deps.clock,
    signs: signs ?? { sign: COMMENT, everyMs: heartbeatMs },
    reconnectMs,
    signal,
  });
  const stream = Readable.from(frames, { objectMode: false, highWaterMark: HIGH_WATER });
  stream.once("close", () => ended.abort());
  reply.raw.once("close", () => ended.abort());
  return reply.header("content-type", EVENT_STREAM_TYPE).header("x-accel-buffering", "no").send(stream) as never;
}

/** What is sent while nothing happens, and after how long. */
export interface SignsOfLife {
  sign: string;
  everyMs: number;
}

/** A comment that keeps the connection open; clients do not see it. */
const COMMENT = ": still here\n\n";

/** What may wait in memory for a reader, besides the buffers of the connection. */
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
    // A listener that stops must not leave an unhandled rejection.
    next.catch(() => {});
    while (!signal.aborted) {
      const what = await firstOf(next, clock, signs.everyMs, signal);
      if (what === "ended") return;
      if (what === "quiet") {
        yield signs.sign;
        continue;
      }
      if (what.done === true) return;
      yield typeof what.value === "string" ? what.value : frameOf(what.value);
      next = events.next();
      next.catch(() => {});
    }
  } finally {
    // The source may wait for ever; the signal stops it.
    events.return?.().catch(() => {});
  }
}

/** The next event; or that none came for a while; or that the stream is over. */
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

/** Line ends would begin another field: in ids and names they cannot stand, in JSON they never do. */
export function frameOf({ id, event, data }: SseEvent): string {
  return frameOfJson(event, JSON.stringify(data) ?? "null", id);
}

/** `json` was made by JSON.stringify. */
export function frameOfJson(event: string, json: string, id?: string): string {
  const word = (text: string) => text.replace(/[\r\n\0]/g, " ");
  return `${id === undefined ? "" : `id: ${word(id)}\n`}event: ${word(event)}\ndata: ${json}\n\n`;
}

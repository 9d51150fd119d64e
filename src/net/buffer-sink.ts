import type { BodySink, ResponseHead } from "./http.ts";

/** Collects a body in memory: robots.txt, sitemaps, API responses. The client's `maxBodyBytes` bounds it. */
export class BufferSink implements BodySink {
  readonly #chunks: Buffer[] = [];
  readonly #onHead: ((head: ResponseHead) => void) | undefined;

  constructor(onHead?: (head: ResponseHead) => void) {
    this.#onHead = onHead;
  }

  start(head: ResponseHead): void {
    this.#onHead?.(head);
  }

  write(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  body(): Buffer {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
  }

  text(): string {
    return this.body().toString("utf8");
  }
}

/** For callers that only need status and headers. */
export const discardBody: BodySink = { start: () => "discard", write: () => {} };

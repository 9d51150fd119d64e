import type { BodySink, ResponseHead } from "./http.ts";

/** Collects a body in memory, for the small things: robots.txt, sitemaps, answers of an API. The client's limit bounds it. */
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

/** For a caller who only wants the status and the headers. */
export const discardBody: BodySink = { start: () => "discard", write: () => {} };

/** An answer whose content is read once, as it comes. */
import type { Leash } from "./time.ts";

/** What is used of a `Response`. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null;
}

interface Reading {
  /** How long the server may say nothing while somebody reads. */
  idleMs: number;
  failed: (error: unknown) => Error;
  silent: () => Error;
  over: () => void;
}

/** `for await (const bytes of answer)`, or all at once. Close it if you do not read it. */
export class OpenAnswer implements AsyncIterable<Uint8Array> {
  readonly status: number;
  readonly headers: FetchAnswer["headers"];
  readonly #body: FetchAnswer["body"];
  readonly #leash: Leash;
  readonly #reading: Reading;
  #isRead = false;

  constructor({ status, headers, body }: FetchAnswer, leash: Leash, reading: Reading) {
    this.status = status;
    this.headers = headers;
    this.#body = body;
    this.#leash = leash;
    this.#reading = reading;
  }

  /** Whether somebody has read it. */
  get isRead(): boolean {
    return this.#isRead;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.#isRead) throw new TypeError("the response was already read");
    this.#isRead = true;
    const { signal } = this.#leash;
    const { idleMs, failed, silent, over } = this.#reading;
    const chunks = chunksOf(this.#body);
    try {
      for (;;) {
        // What the reader takes its time for is not the server's silence.
        const silence = setTimeout(() => this.#leash.abort(silent()), idleMs);
        const { done, value } = await chunks.next().finally(() => clearTimeout(silence));
        if (done === true) return;
        yield value;
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : failed(error);
    } finally {
      over();
      await chunks.return(undefined).catch(() => {});
    }
  }

  async bytes(): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for await (const part of this) parts.push(part);
    if (parts.length === 1 && parts[0] !== undefined) return parts[0];
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown;
  }

  /** Lets go of it. */
  close(): void {
    this.#leash.abort();
    this.#reading.over();
  }
}

/** Not all browsers can iterate over a stream. */
async function* chunksOf(body: FetchAnswer["body"]): AsyncGenerator<Uint8Array, void> {
  if (body === null) return;
  if (!("getReader" in body)) return yield* body;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

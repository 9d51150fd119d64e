import * as zlib from "node:zlib";
import type { Transform } from "node:stream";
import { systemCode } from "../base/errors.ts";
import { FetchFailure } from "../domain/run/failure.ts";

/**
 * Content decoding with bounded output. Small bodies are collected and decoded in one synchronous call: 115 µs of CPU
 * for a 33 KB page against 270 for the streaming decoder, whose chunks go through libuv's thread pool. Larger bodies,
 * on the wire or decoded, are streamed and never fully in memory.
 */
export interface Decoder {
  /** A promise is back-pressure: no more bytes until it resolves. */
  write(chunk: Buffer): void | Promise<void>;
  /** Resolves when the last decoded byte was emitted. */
  end(): void | Promise<void>;
  destroy(): void;
}

type Emit = (chunk: Buffer) => void | Promise<void>;

const AT_ONCE_WIRE = 128 * 1024;
const AT_ONCE_DECODED = 2 * 1024 * 1024;
const MAX_STACKED = 2;

/** The codings to undo, outermost last, as the header lists them; null for a plain body. */
export function contentCodings(header: string | undefined): string[] | null {
  if (header === undefined) return null;
  const codings = header
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity" && coding !== "none");
  if (codings.length === 0) return null;
  const unknown = codings.find((coding) => !Object.hasOwn(CODINGS, coding));
  if (unknown !== undefined)
    throw new FetchFailure("unsupported_encoding", "the content encoding of the body is not supported");
  if (codings.length > MAX_STACKED)
    throw new FetchFailure("unsupported_encoding", "the body has too many content encodings");
  return codings;
}

interface Coding {
  atOnce(input: Buffer, maxOutputLength: number): Buffer;
  stream(firstChunk: Buffer): Transform;
}

// RFC 9659 limits windows to 8 MB on the web; the library's default allows 128 MB per body in flight.
const ZSTD = { params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } };
const STREAM = { chunkSize: 64 * 1024 };

const gzip: Coding = {
  atOnce: (input, maxOutputLength) => zlib.gunzipSync(input, { maxOutputLength }),
  stream: () => zlib.createGunzip(STREAM),
};

const CODINGS: Record<string, Coding> = {
  gzip,
  "x-gzip": gzip,
  deflate: {
    atOnce: (input, maxOutputLength) =>
      hasZlibHeader(input)
        ? zlib.inflateSync(input, { maxOutputLength })
        : zlib.inflateRawSync(input, { maxOutputLength }),
    stream: (first) => (hasZlibHeader(first) ? zlib.createInflate(STREAM) : zlib.createInflateRaw(STREAM)),
  },
  br: {
    atOnce: (input, maxOutputLength) => zlib.brotliDecompressSync(input, { maxOutputLength }),
    stream: () => zlib.createBrotliDecompress(STREAM),
  },
  zstd: {
    atOnce: (input, maxOutputLength) => zlib.zstdDecompressSync(input, { ...ZSTD, maxOutputLength }),
    stream: () => zlib.createZstdDecompress({ ...ZSTD, ...STREAM }),
  },
};

/** "deflate" means zlib in the RFC and raw deflate on some servers. */
function hasZlibHeader(input: Buffer): boolean {
  const [first = 0, second] = input;
  return (first & 0x0f) === 8 && (second === undefined || ((first << 8) | second) % 31 === 0);
}

export function createDecoder(codings: string[], maxBytes: number, emit: Emit, fail: (error: Error) => void): Decoder {
  let collected: Buffer[] = [];
  let size = 0;
  let streaming: Stage | null = null;

  const startStreaming = (): void | Promise<void> => {
    // The last coding was applied last, so its stage receives the wire bytes.
    for (const coding of codings) streaming = new Stage(CODINGS[coding]!, maxBytes, streaming ?? emit, fail);
    const input = Buffer.concat(collected);
    collected = [];
    return streaming!.write(input);
  };

  return {
    write(chunk) {
      if (streaming !== null) return streaming.write(chunk);
      collected.push(chunk);
      size += chunk.length;
      return size > AT_ONCE_WIRE ? startStreaming() : undefined;
    },
    end() {
      if (streaming !== null) return streaming.end();
      // Some servers label an empty body as encoded.
      if (size === 0) return undefined;
      const limit = Math.min(maxBytes, AT_ONCE_DECODED);
      let body = collected.length === 1 ? collected[0]! : Buffer.concat(collected, size);
      try {
        for (let index = codings.length - 1; index >= 0; index -= 1)
          body = CODINGS[codings[index]!]!.atOnce(body, limit);
      } catch (error) {
        if (systemCode(error) !== "ERR_BUFFER_TOO_LARGE") throw decodeFailure(error as Error);
        if (limit === maxBytes) throw tooLarge();
        const drained = startStreaming();
        return drained === undefined ? streaming!.end() : drained.then(() => streaming!.end());
      }
      collected = [];
      return body.length === 0 ? undefined : emit(body);
    },
    destroy() {
      collected = [];
      streaming?.destroy();
    },
  };
}

/** Decodes one coding as a stream into the next stage or, at the end of the chain, into the reader. */
class Stage {
  readonly #coding: Coding;
  readonly #maxBytes: number;
  readonly #next: Stage | Emit;
  readonly #fail: (error: Error) => void;
  #stream: Transform | null = null;
  #bytes = 0;
  #forwarding: Promise<void> | null = null;

  constructor(coding: Coding, maxBytes: number, next: Stage | Emit, fail: (error: Error) => void) {
    this.#coding = coding;
    this.#maxBytes = maxBytes;
    this.#next = next;
    this.#fail = fail;
  }

  write(chunk: Buffer): void | Promise<void> {
    if (chunk.length === 0) return undefined;
    const stream = (this.#stream ??= this.#open(chunk));
    if (stream.destroyed || stream.write(chunk)) return undefined;
    return new Promise((resolve) => {
      // A failed stream never drains; `fail` reports the error.
      const done = () => {
        stream.off("drain", done).off("close", done);
        resolve();
      };
      stream.on("drain", done).on("close", done);
    });
  }

  async end(): Promise<void> {
    const stream = this.#stream;
    if (stream !== null) {
      await new Promise<void>((resolve, reject) => {
        stream.once("end", resolve).once("error", (error) => reject(decodeFailure(error)));
        stream.end();
      });
      if (this.#forwarding !== null) await this.#forwarding;
    }
    if (this.#next instanceof Stage) await this.#next.end();
  }

  destroy(): void {
    this.#stream?.on("error", () => {}).destroy();
    if (this.#next instanceof Stage) this.#next.destroy();
  }

  #open(firstChunk: Buffer): Transform {
    const stream = this.#coding.stream(firstChunk);
    stream.on("error", (error) => this.#fail(decodeFailure(error)));
    stream.on("data", (chunk: Buffer) => {
      this.#bytes += chunk.length;
      if (this.#bytes > this.#maxBytes) return this.#fail(tooLarge());
      try {
        const forwarded = this.#next instanceof Stage ? this.#next.write(chunk) : this.#next(chunk);
        if (forwarded === undefined) return;
        stream.pause();
        this.#forwarding = forwarded.then(
          () => {
            this.#forwarding = null;
            stream.resume();
          },
          (error: Error) => this.#fail(error),
        );
      } catch (error) {
        this.#fail(error as Error);
      }
    });
    return stream;
  }
}

function tooLarge(): FetchFailure {
  return new FetchFailure("decompression_limit", "the body grew past the limit while it was decompressed");
}

function decodeFailure(error: Error): Error {
  if (error instanceof FetchFailure) return error;
  // zlib reports Z_BUF_ERROR when the input ends early.
  return systemCode(error) === "Z_BUF_ERROR" || error.message === "unexpected end of file"
    ? new FetchFailure("truncated_body", "the compressed body is incomplete", { cause: error })
    : new FetchFailure("decompression_failed", "the compressed body is damaged", { cause: error });
}

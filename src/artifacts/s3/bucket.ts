/** Bucket operations, each with a timeout, retried on transient errors. */
import { AsyncLocalStorage } from "node:async_hooks";
import { openAsBlob } from "node:fs";
import { Readable } from "node:stream";
import { S3mini, type UploadPart } from "s3mini";
import { type Clock, sleep, type Timer } from "../../base/clock.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { asStorageError, isMissing, isTransient, type BucketLocation } from "./errors.ts";

export interface BucketOptions {
  /** An origin, such as `https://s3.eu-central-1.amazonaws.com`; the bucket is named in the path. */
  endpoint: string;
  region: string;
  bucket: string;
  prefix: string;
  accessKeyId: string;
  secretAccessKey: string;
  clock: Clock;
  limits?: Partial<BucketLimits>;
}

export interface BucketLimits {
  /** Timeout for a response, and for the next bytes of its body. */
  responseTimeoutMs: number;
  /** Timeout for uploading one body. */
  uploadTimeoutMs: number;
  /** Larger files use a multipart upload with parts of this size, each retried on its own. */
  partBytes: number;
  /** Delays between the attempts of one request. */
  retryDelaysMs: readonly number[];
}

const BUCKET_LIMITS: BucketLimits = {
  responseTimeoutMs: 20_000,
  uploadTimeoutMs: 120_000,
  partBytes: 16 * 1024 * 1024,
  retryDelaysMs: [200, 1000],
};

/** S3's limits: parts per upload, and bytes per CopyObject. */
const MAX_PARTS = 10_000;
const MAX_COPY_BYTES = 5 * 1024 ** 3;
/** Concurrent requests: more would only wait for each other. */
const MAX_CONCURRENT = 64;
/** A probe reports the present state, so it has a short timeout and no retries. */
const PROBE_MS = 4000;
const PROBE = Buffer.from("orb looks whether it can write here\n");

export interface ObjectInfo {
  key: string;
  bytes: number;
  /** Time since it was stored, by the storage's clock. */
  ageMs: number;
}

/** One request: its response, and how to abort it. */
interface Call {
  response: Response | null;
  controller: AbortController;
}

export class Bucket {
  readonly home: string;
  readonly #s3: S3mini;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #location: BucketLocation;
  readonly #limits: BucketLimits;
  readonly #semaphore = new Semaphore(MAX_CONCURRENT);
  /** The client exposes neither headers nor an abort; both pass through the custom `fetch`. */
  readonly #calls = new AsyncLocalStorage<Call>();

  constructor({ endpoint, region, bucket, prefix, accessKeyId, secretAccessKey, clock, limits }: BucketOptions) {
    this.#clock = clock;
    this.#prefix = prefix === "" ? "" : `${prefix}/`;
    this.#location = { bucket, endpoint, region };
    this.#limits = { ...BUCKET_LIMITS, ...limits };
    this.home = `s3://${bucket}/${prefix}`;
    this.#s3 = new S3mini({
      accessKeyId,
      secretAccessKey,
      endpoint: `${endpoint.replace(/\/+$/, "")}/${bucket}`,
      region,
      fetch: (input, init) => this.#fetch(input, init),
    });
  }

  addressOf(key: string): string {
    return `s3://${this.#location.bucket}/${this.#prefix}${key}`;
  }

  async head(key: string): Promise<ObjectInfo | null> {
    const { answer, response } = await this.#request(() => this.#s3.objectExists(this.#prefix + key));
    if (answer !== true) return null;
    const modified = Date.parse(response?.headers.get("last-modified") ?? "");
    return {
      key,
      bytes: Number(response?.headers.get("content-length") ?? 0),
      ageMs: Math.max(0, this.#timeOf(response) - modified) || 0,
    };
  }

  /** Null: no such object. An interrupted transfer resumes. `to` is exclusive. */
  async get(key: string, range: { to?: number } = {}): Promise<Readable | null> {
    try {
      const first = await this.#getFrom(key, 0, range.to);
      const bytes = Readable.from(this.#bytesOf(key, first, range.to), { objectMode: false });
      // An unread response would hold its connection.
      return bytes.once("close", () => first.controller.abort());
    } catch (error) {
      if (isMissing(error)) return null;
      throw asStorageError(error, this.#location);
    }
  }

  async put(key: string, body: Buffer): Promise<void> {
    await this.#send(() => this.#s3.putObject(this.#prefix + key, body));
  }

  /** Uploads a local file; the object appears once all of it has arrived. */
  async putFile(key: string, path: string, size: number): Promise<void> {
    const file = await openAsBlob(path);
    const partBytes = Math.max(this.#limits.partBytes, Math.ceil(size / MAX_PARTS));
    const full = this.#prefix + key;
    if (size <= partBytes) {
      await this.#send(() => this.#s3.putObject(full, file));
      return;
    }
    const { answer: upload } = await this.#request(() => this.#s3.getMultipartUploadId(full));
    try {
      const parts: UploadPart[] = [];
      for (let at = 0; at < size; at += partBytes) {
        const part = file.slice(at, Math.min(at + partBytes, size));
        parts.push((await this.#send(() => this.#s3.uploadPart(full, upload, part, parts.length + 1))).answer);
      }
      await this.#send(async () => {
        const done = await this.#s3.completeMultipartUpload(full, upload, parts);
        // S3 may answer 200 with an error in the body.
        if (typeof done.etag !== "string") throw Object.assign(new Error("not completed"), { status: 500 });
      });
    } catch (error) {
      // The uploaded parts are useless; if the abort fails too, the bucket's lifecycle rule removes them.
      await this.#withTimeout(() => this.#s3.abortMultipartUpload(full, upload), PROBE_MS).catch(() => {});
      throw error;
    }
  }

  /** Server-side copy; false: the object is too large for one. */
  async copy(from: string, to: string, bytes: number): Promise<boolean> {
    if (bytes > MAX_COPY_BYTES) return false;
    const source = this.#prefix + from;
    const path = [this.#location.bucket, ...source.split("/")].map(encodeURIComponent).join("/");
    // The client would encode slashes as %2F here, which not every storage accepts.
    const additionalHeaders = { "x-amz-copy-source": `/${path}` };
    await this.#send(() => this.#s3.copyObject(source, this.#prefix + to, { additionalHeaders }));
    return true;
  }

  async remove(key: string): Promise<void> {
    await this.#request(() => this.#s3.deleteObject(this.#prefix + key));
  }

  /** Stores, reads and removes a small object; throws the reason when it cannot. */
  async probe(name: string): Promise<void> {
    const key = `${this.#prefix}${name}`;
    try {
      await this.#withTimeout(() => this.#s3.putObject(key, PROBE), PROBE_MS);
      await this.#withTimeout(() => this.#s3.getObjectArrayBuffer(key), PROBE_MS);
      await this.#withTimeout(() => this.#s3.deleteObject(key), PROBE_MS);
    } catch (error) {
      throw asStorageError(error, this.#location);
    }
  }

  #request<T>(
    work: () => Promise<T>,
    timeoutMs = this.#limits.responseTimeoutMs,
  ): Promise<{ answer: T; response: Response | null }> {
    return this.#withRetries(() => this.#semaphore.run(() => this.#withTimeout(work, timeoutMs))).catch(
      (error: unknown) => {
        throw asStorageError(error, this.#location);
      },
    );
  }

  #send<T>(work: () => Promise<T>): Promise<{ answer: T }> {
    return this.#request(work, this.#limits.uploadTimeoutMs);
  }

  async #withRetries<T>(work: () => Promise<T>): Promise<T> {
    for (const waitMs of this.#limits.retryDelaysMs) {
      try {
        return await work();
      } catch (error) {
        if (!isTransient(error)) throw error;
        await sleep(this.#clock, waitMs);
      }
    }
    return work();
  }

  async #withTimeout<T>(work: () => Promise<T>, timeoutMs: number): Promise<{ answer: T; response: Response | null }> {
    const call: Call = { response: null, controller: new AbortController() };
    const timeout = this.#abortAfter(call.controller, timeoutMs);
    try {
      const answer = await this.#calls.run(call, work);
      return { answer, response: call.response };
    } finally {
      timeout.cancel();
    }
  }

  async #getFrom(key: string, from: number, to: number | undefined): Promise<Call & { response: Response }> {
    return this.#withRetries(() =>
      this.#semaphore.run(async () => {
        const call: Call = { response: null, controller: new AbortController() };
        const timeout = this.#abortAfter(call.controller, this.#limits.responseTimeoutMs);
        try {
          const isFullRead = from === 0 && to === undefined;
          const response = await this.#calls.run(call, () =>
            this.#s3.getObjectRaw(this.#prefix + key, isFullRead, from, to),
          );
          return { ...call, response };
        } finally {
          timeout.cancel();
        }
      }),
    );
  }

  async *#bytesOf(key: string, first: Call & { response: Response }, to: number | undefined): AsyncGenerator<Buffer> {
    let call = first;
    let position = 0;
    const length = Number(first.response.headers.get("content-length") ?? Number.NaN);
    for (let failures = 0; ;) {
      try {
        for await (const chunk of this.#bodyOf(call)) {
          position += chunk.length;
          failures = 0;
          yield chunk;
        }
        return;
      } catch (error) {
        // Broken after the last byte: the file is complete.
        if (position === length) return;
        if (++failures > this.#limits.retryDelaysMs.length) throw asStorageError(error, this.#location);
      } finally {
        call.controller.abort();
      }
      try {
        call = await this.#getFrom(key, position, to);
      } catch (error) {
        throw asStorageError(error, this.#location);
      }
    }
  }

  /** The body, with the response timeout on every read. */
  async *#bodyOf({ response, controller }: Call & { response: Response }): AsyncGenerator<Buffer> {
    if (response.body === null) return;
    const reader = response.body.getReader();
    for (;;) {
      const timeout = this.#abortAfter(controller, this.#limits.responseTimeoutMs);
      const { done, value } = await reader.read().finally(() => timeout.cancel());
      if (done) return;
      yield Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  }

  #abortAfter(controller: AbortController, ms: number): Timer {
    return this.#clock.after(ms, () => controller.abort(new DOMException("too late", "TimeoutError")), {
      keepAlive: true,
    });
  }

  async #fetch(input: string | URL | Request, init: RequestInit | undefined): Promise<Response> {
    const call = this.#calls.getStore();
    // No redirects: one means a wrong endpoint or region, which the operator has to set.
    const headers = new Headers(init?.headers);
    headers.set("accept-encoding", "identity");
    const response = await fetch(input, {
      ...init,
      headers,
      redirect: "manual",
      ...(call === undefined ? {} : { signal: call.controller.signal }),
    });
    if (call !== undefined) call.response = response;
    return response;
  }

  /** All ages use the storage's clock, which may differ from ours. */
  #timeOf(response: Response | null): number {
    const serverTime = Date.parse(response?.headers.get("date") ?? "");
    return Number.isNaN(serverTime) ? this.#clock.now() : serverTime;
  }
}

/** The few things that are asked of a bucket, each with its time limit, repeated when that helps. */
import { AsyncLocalStorage } from "node:async_hooks";
import { openAsBlob } from "node:fs";
import { Readable } from "node:stream";
import { S3mini, type UploadPart } from "s3mini";
import { type Clock, sleep, type Timer } from "../../base/clock.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { asStorageError, isMissing, isPassing, type Whereabouts } from "./errors.ts";

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
  /** How long the storage may take for an answer, or for the next bytes of one. */
  answerMs: number;
  /** How long one body may be on its way there. */
  sendMs: number;
  /** Larger files go in parts of this size, each repeated alone when it is lost. */
  partBytes: number;
  /** The waits between the tries of one request. */
  againMs: readonly number[];
}

const BUCKET_LIMITS: BucketLimits = {
  answerMs: 20_000,
  sendMs: 120_000,
  partBytes: 16 * 1024 * 1024,
  againMs: [200, 1000],
};

/** S3 takes no more of them, and copies no more at once. */
const MOST_PARTS = 10_000;
const LARGEST_COPY = 5 * 1024 ** 3;
/** Requests at once, of all that wait for an answer: more would only wait for each other. */
const AT_ONCE = 64;
/** A probe says how the storage is now, and not after some tries. */
const PROBE_MS = 4000;
const PROBE = Buffer.from("orb looks whether it can write here\n");

export interface ObjectInfo {
  key: string;
  bytes: number;
  /** Since it was stored, by the clock of the storage. */
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
  readonly #where: Whereabouts;
  readonly #limits: BucketLimits;
  readonly #semaphore = new Semaphore(AT_ONCE);
  /** The client exposes neither headers nor an abort; both pass through the custom `fetch`. */
  readonly #calls = new AsyncLocalStorage<Call>();

  constructor({ endpoint, region, bucket, prefix, accessKeyId, secretAccessKey, clock, limits }: BucketOptions) {
    this.#clock = clock;
    this.#prefix = prefix === "" ? "" : `${prefix}/`;
    this.#where = { bucket, endpoint, region };
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
    return `s3://${this.#where.bucket}/${this.#prefix}${key}`;
  }

  async head(key: string): Promise<ObjectInfo | null> {
    const { answer, response } = await this.#ask(() => this.#s3.objectExists(this.#prefix + key));
    if (answer !== true) return null;
    const modified = Date.parse(response?.headers.get("last-modified") ?? "");
    return {
      key,
      bytes: Number(response?.headers.get("content-length") ?? 0),
      ageMs: Math.max(0, this.#timeOf(response) - modified) || 0,
    };
  }

  /** Null: there is none. An interrupted transfer resumes. `to` is exclusive. */
  async get(key: string, range: { to?: number } = {}): Promise<Readable | null> {
    try {
      const first = await this.#getFrom(key, 0, range.to);
      const bytes = Readable.from(this.#bytesOf(key, first, range.to), { objectMode: false });
      // An unread response would keep its connection.
      return bytes.once("close", () => first.controller.abort());
    } catch (error) {
      if (isMissing(error)) return null;
      throw asStorageError(error, this.#where);
    }
  }

  async put(key: string, body: Buffer): Promise<void> {
    await this.#send(() => this.#s3.putObject(this.#prefix + key, body));
  }

  /** A local file; the object appears when all of it has arrived. */
  async putFile(key: string, path: string, size: number): Promise<void> {
    const file = await openAsBlob(path);
    const partBytes = Math.max(this.#limits.partBytes, Math.ceil(size / MOST_PARTS));
    const full = this.#prefix + key;
    if (size <= partBytes) {
      await this.#send(() => this.#s3.putObject(full, file));
      return;
    }
    const { answer: upload } = await this.#ask(() => this.#s3.getMultipartUploadId(full));
    try {
      const parts: UploadPart[] = [];
      for (let at = 0; at < size; at += partBytes) {
        const part = file.slice(at, Math.min(at + partBytes, size));
        parts.push((await this.#send(() => this.#s3.uploadPart(full, upload, part, parts.length + 1))).answer);
      }
      await this.#send(async () => {
        const done = await this.#s3.completeMultipartUpload(full, upload, parts);
        // The answer may be 200 and say in its body that it did not work.
        if (typeof done.etag !== "string") throw Object.assign(new Error("not completed"), { status: 500 });
      });
    } catch (error) {
      // The uploaded parts are useless; a storage that is gone has a lifecycle rule for them.
      await this.#once(() => this.#s3.abortMultipartUpload(full, upload), PROBE_MS).catch(() => {});
      throw error;
    }
  }

  /** Inside the storage; false: the object is too large for that. */
  async copy(from: string, to: string, bytes: number): Promise<boolean> {
    if (bytes > LARGEST_COPY) return false;
    const source = this.#prefix + from;
    const path = [this.#where.bucket, ...source.split("/")].map(encodeURIComponent).join("/");
    // The client would write slashes as %2F there, which not every storage takes.
    const additionalHeaders = { "x-amz-copy-source": `/${path}` };
    await this.#send(() => this.#s3.copyObject(source, this.#prefix + to, { additionalHeaders }));
    return true;
  }

  async remove(key: string): Promise<void> {
    await this.#ask(() => this.#s3.deleteObject(this.#prefix + key));
  }

  /** Stores, reads and removes a small object; throws with the reason when it cannot. */
  async probe(name: string): Promise<void> {
    const key = `${this.#prefix}${name}`;
    try {
      await this.#once(() => this.#s3.putObject(key, PROBE), PROBE_MS);
      await this.#once(() => this.#s3.getObjectArrayBuffer(key), PROBE_MS);
      await this.#once(() => this.#s3.deleteObject(key), PROBE_MS);
    } catch (error) {
      throw asStorageError(error, this.#where);
    }
  }

  #ask<T>(work: () => Promise<T>, limitMs = this.#limits.answerMs): Promise<{ answer: T; response: Response | null }> {
    return this.#patiently(() => this.#semaphore.run(() => this.#once(work, limitMs))).catch((error: unknown) => {
      throw asStorageError(error, this.#where);
    });
  }

  #send<T>(work: () => Promise<T>): Promise<{ answer: T }> {
    return this.#ask(work, this.#limits.sendMs);
  }

  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    for (const waitMs of this.#limits.againMs) {
      try {
        return await work();
      } catch (error) {
        if (!isPassing(error)) throw error;
        await sleep(this.#clock, waitMs);
      }
    }
    return work();
  }

  async #once<T>(work: () => Promise<T>, limitMs: number): Promise<{ answer: T; response: Response | null }> {
    const call: Call = { response: null, controller: new AbortController() };
    const limit = this.#limit(call.controller, limitMs);
    try {
      const answer = await this.#calls.run(call, work);
      return { answer, response: call.response };
    } finally {
      limit.cancel();
    }
  }

  async #getFrom(key: string, from: number, to: number | undefined): Promise<Call & { response: Response }> {
    return this.#patiently(() =>
      this.#semaphore.run(async () => {
        const call: Call = { response: null, controller: new AbortController() };
        const limit = this.#limit(call.controller, this.#limits.answerMs);
        try {
          const whole = from === 0 && to === undefined;
          const response = await this.#calls.run(call, () =>
            this.#s3.getObjectRaw(this.#prefix + key, whole, from, to),
          );
          return { ...call, response };
        } finally {
          limit.cancel();
        }
      }),
    );
  }

  async *#bytesOf(key: string, first: Call & { response: Response }, to: number | undefined): AsyncGenerator<Buffer> {
    let call = first;
    let position = 0;
    const length = Number(first.response.headers.get("content-length") ?? Number.NaN);
    for (let broken = 0; ;) {
      try {
        for await (const chunk of this.#bodyOf(call)) {
          position += chunk.length;
          broken = 0;
          yield chunk;
        }
        return;
      } catch (error) {
        // With the last byte, the file is complete.
        if (position === length) return;
        if (++broken > this.#limits.againMs.length) throw asStorageError(error, this.#where);
      } finally {
        call.controller.abort();
      }
      try {
        call = await this.#getFrom(key, position, to);
      } catch (error) {
        throw asStorageError(error, this.#where);
      }
    }
  }

  /** Its bytes, as long as the next ones come in time. */
  async *#bodyOf({ response, controller }: Call & { response: Response }): AsyncGenerator<Buffer> {
    if (response.body === null) return;
    const reader = response.body.getReader();
    for (;;) {
      const limit = this.#limit(controller, this.#limits.answerMs);
      const { done, value } = await reader.read().finally(() => limit.cancel());
      if (done) return;
      yield Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  }

  #limit(controller: AbortController, ms: number): Timer {
    return this.#clock.after(ms, () => controller.abort(new DOMException("too late", "TimeoutError")), {
      keepAlive: true,
    });
  }

  async #fetch(input: string | URL | Request, init: RequestInit | undefined): Promise<Response> {
    const call = this.#calls.getStore();
    // A storage that sends us elsewhere has another address or region, which is for a person to set.
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

  /** By the clock of the storage, as all ages are: it may differ from ours. */
  #timeOf(response: Response | null): number {
    const serverTime = Date.parse(response?.headers.get("date") ?? "");
    return Number.isNaN(serverTime) ? this.#clock.now() : serverTime;
  }
}

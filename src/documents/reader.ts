/** Reads documents in separate processes: a malicious file ends only the process that reads it. */
import { availableParallelism } from "node:os";
import type { Clock, Timer } from "../base/clock.ts";
import { Semaphore } from "../base/semaphore.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import {
  type DetectedType,
  DOCUMENT_LIMITS,
  DocumentError,
  type DocumentLimits,
  type ReadDocument,
} from "./document.ts";
import { type Ocr, ocrFailure } from "./ocr.ts";
import { ReaderProcess } from "./reader-process.ts";

export interface DocumentReader {
  /**
   * FIFO. Rejects with a DocumentError when the document cannot be read, or with the abort reason. `type` is what
   * `detectDocument` found.
   */
  read(
    bytes: Uint8Array,
    type: DetectedType,
    options?: { contentType?: string | null; signal?: AbortSignal },
  ): Promise<ReadDocument>;
  /** Fails documents in flight; resolves when all processes have exited. */
  close(): Promise<void>;
}

export interface DocumentReaderOptions {
  clock: Clock;
  /** Upper bound of concurrent reads. Processes start on demand. */
  processes?: number;
  timeoutMs?: number;
  /** Per process, with Node itself. */
  memoryMb?: number;
  limits?: Partial<DocumentLimits>;
  /** Reads scanned documents; absent: they fail as `needs_ocr`. */
  ocr?: Ocr;
}

interface Job {
  bytes: Uint8Array;
  type: DetectedType;
  contentType: string | null;
  crashes: number;
  done(document: ReadDocument): void;
  fail(error: unknown): void;
}

const MAX_PROCESSES = 2;
/** Chosen, not measured: long enough for thousands of pages on a busy machine. */
const TIMEOUT_MS = 90_000;
/** Of that time: a long PDF then ends with what was read, and not without anything. */
const READ_SHARE = 0.75;
const MEMORY_MB = 1024;
/** A process may die for other reasons: the file is to blame only after a second crash. */
const MAX_CRASHES = 2;
const IDLE_MS = 30_000;

export function createDocumentReader(options: DocumentReaderOptions): DocumentReader {
  const pool = new Pool(options);
  return options.ocr === undefined ? pool : withOcr(pool, options.ocr);
}

/** Documents without text are read again from what the user's program or server makes of them. */
function withOcr(reader: DocumentReader, ocr: Ocr): DocumentReader {
  const turns = new Semaphore(MAX_PROCESSES);
  const closing = new AbortController();
  return {
    async close() {
      closing.abort(stopping());
      await Promise.all([reader.close(), ocr.close()]);
    },
    async read(bytes, type, options = {}) {
      try {
        return await reader.read(bytes, type, options);
      } catch (error) {
        if (!(error instanceof DocumentError) || error.problem !== "needs_ocr") throw error;
        const signal = AbortSignal.any([closing.signal, ...(options.signal === undefined ? [] : [options.signal])]);
        const recognised = await recogniseInTurn(turns, bytes, ocr, signal);
        const isPdf = recognised.subarray(0, 5).toString("latin1") === "%PDF-";
        if (!isPdf && recognised.toString("utf8").trim() === "")
          throw ocrFailure(`${ocr.setting} found no text in them`);
        const read = await reader.read(recognised, isPdf ? "pdf" : "text", options);
        return { ...read, type: type === "ole" ? read.type : type };
      }
    },
  };
}

/** A program for OCR uses the whole machine. */
async function recogniseInTurn(turns: Semaphore, bytes: Uint8Array, ocr: Ocr, signal: AbortSignal): Promise<Buffer> {
  using _turn = await turns.acquire({ signal });
  return await ocr.recognise(bytes, signal);
}

class Pool implements DocumentReader {
  readonly #options: DocumentReaderOptions;
  readonly #maxProcesses: number;
  readonly #queue = new Set<Job>();
  readonly #processes = new Set<ReaderProcess>();
  readonly #idle = new Map<ReaderProcess, Timer>();
  readonly #running = new Map<ReaderProcess, Job>();
  #closed: Promise<void> | null = null;

  constructor(options: DocumentReaderOptions) {
    this.#options = options;
    // Leaves one core for everything else.
    this.#maxProcesses = options.processes ?? Math.max(1, Math.min(MAX_PROCESSES, availableParallelism() - 1));
  }

  read(
    bytes: Uint8Array,
    type: DetectedType,
    { contentType = null, signal }: { contentType?: string | null; signal?: AbortSignal } = {},
  ): Promise<ReadDocument> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== null) return reject(stopping());
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const onAbort = () => job.fail(signal?.reason);
      const job: Job = {
        bytes,
        type,
        contentType,
        crashes: 0,
        done: (document) => {
          signal?.removeEventListener("abort", onAbort);
          resolve(document);
        },
        fail: (error) => {
          signal?.removeEventListener("abort", onAbort);
          this.#drop(job);
          reject(error as Error);
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#queue.add(job);
      this.#dispatch();
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    for (const timer of this.#idle.values()) timer.cancel();
    this.#idle.clear();
    for (const job of [...this.#queue, ...this.#running.values()]) job.fail(stopping());
    await Promise.all([...this.#processes].map((process) => process.end()));
  }

  /** A running read cannot be cancelled, so its process ends. */
  #drop(job: Job): void {
    this.#queue.delete(job);
    for (const [process, running] of this.#running) {
      if (running !== job) continue;
      this.#running.delete(process);
      void process.end();
    }
  }

  #dispatch(): void {
    for (const job of this.#queue) {
      const process = this.#takeIdle() ?? this.#start();
      if (process === null) return;
      this.#queue.delete(job);
      this.#running.set(process, job);
      const { bytes, type, contentType } = job;
      process.assign({ bytes, type, contentType });
    }
  }

  #takeIdle(): ReaderProcess | null {
    for (const [process, timer] of this.#idle) {
      timer.cancel();
      this.#idle.delete(process);
      return process;
    }
    return null;
  }

  #start(): ReaderProcess | null {
    if (this.#closed !== null || this.#processes.size >= this.#maxProcesses) return null;
    const { clock, timeoutMs = TIMEOUT_MS, memoryMb = MEMORY_MB, limits } = this.#options;
    const process: ReaderProcess = new ReaderProcess({
      clock,
      timeoutMs,
      memoryMb,
      limits: { ...DOCUMENT_LIMITS, readMs: READ_SHARE * timeoutMs, ...limits },
      onOutcome: (outcome) => {
        const job = this.#takeJob(process);
        if (!process.ending) this.#park(process);
        if (outcome.kind === "document") job?.done(outcome.document);
        else job?.fail(new DocumentError(outcome.problem, outcome.message));
        this.#dispatch();
      },
      onCrash: (how, hasStarted) => {
        const job = this.#takeJob(process);
        if (job === undefined) return;
        job.crashes += 1;
        if (job.crashes < MAX_CRASHES) this.#queue.add(job);
        else job.fail(crashed(how, hasStarted, memoryMb));
      },
      onGone: () => {
        this.#processes.delete(process);
        this.#idle.get(process)?.cancel();
        this.#idle.delete(process);
        this.#dispatch();
      },
    });
    this.#processes.add(process);
    return process;
  }

  #takeJob(process: ReaderProcess): Job | undefined {
    const job = this.#running.get(process);
    this.#running.delete(process);
    return job;
  }

  #park(process: ReaderProcess): void {
    const timer = this.#options.clock.after(IDLE_MS, () => {
      this.#idle.delete(process);
      void process.end();
    });
    this.#idle.set(process, timer);
  }
}

/** How V8 and the kernel end a process without memory. */
const OUT_OF_MEMORY: ReadonlySet<string> = new Set(["SIGABRT", "SIGTRAP", "SIGKILL"]);

function crashed(how: string, hasStarted: boolean, memoryMb: number): Error {
  // Not the file's fault: the machine is busy, or cannot start processes. Retried later.
  if (!hasStarted) return new FetchFailure("internal", `the process that reads documents did not start (${how})`);
  if (!OUT_OF_MEMORY.has(how))
    return new DocumentError("document_damaged", `reading the document ended its process (${how})`);
  const message = `reading the document ended its process (${how}): it needs more than ${memoryMb} MB, or than the machine has`;
  return new DocumentError("document_too_large", message);
}

function stopping(): FetchFailure {
  return new FetchFailure("run_cancelled", "the program is stopping");
}

import { Worker } from "node:worker_threads";
import type { SearchMethod, Verdicts } from "./duplicates.ts";
import type { FromTexts, ToTexts } from "./thread.ts";

/** Of one message to the thread. */
const BATCH_TEXTS = 512;
const BATCH_CHARS = 1_000_000;
/** Messages that the thread has not answered yet. */
const MOST_PENDING = 2;

/** Finds duplicates in a thread of its own. Its memory grows with the number of texts, not with their length. */
export class TextSearch implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #signal: AbortSignal;
  readonly #onProgress: (done: number) => void;
  #texts: string[] = [];
  #ranks: number[] = [];
  #chars = 0;
  #pending = 0;
  #failure: Error | null = null;
  #verdicts: Verdicts | null = null;
  #wake: () => void = () => {};

  /** `folder`: for temporary files, on a disk. `onProgress`: how many texts are decided. */
  constructor(search: SearchMethod, folder: string, signal: AbortSignal, onProgress: (done: number) => void) {
    this.#signal = signal;
    this.#onProgress = onProgress;
    this.#worker = new Worker(new URL("./thread.ts", import.meta.url), {
      env: {},
      execArgv: [],
      workerData: { search, folder },
    });
    this.#worker.on("message", (message: FromTexts) => this.#onMessage(message));
    this.#worker.on("error", (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on("exit", () => this.#fail(new Error("the thread that compares texts has ended")));
    signal.addEventListener("abort", this.#onAbort);
  }

  async add(text: string, rank: number): Promise<void> {
    this.#texts.push(text);
    this.#ranks.push(rank);
    this.#chars += text.length;
    if (this.#texts.length >= BATCH_TEXTS || this.#chars >= BATCH_CHARS) await this.#send();
  }

  async decide(): Promise<Verdicts> {
    await this.#send();
    this.#worker.postMessage(null satisfies ToTexts);
    await this.#until(() => this.#verdicts !== null);
    return this.#verdicts!;
  }

  async #send(): Promise<void> {
    await this.#until(() => this.#pending < MOST_PENDING);
    this.#pending += 1;
    const batch: ToTexts = { texts: this.#texts, ranks: Float64Array.from(this.#ranks) };
    this.#worker.postMessage(batch);
    [this.#texts, this.#ranks, this.#chars] = [[], [], 0];
  }

  async #until(isSo: () => boolean): Promise<void> {
    for (;;) {
      this.#signal.throwIfAborted();
      if (this.#failure !== null) throw this.#failure;
      if (isSo()) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  readonly #onAbort = () => this.#wake();

  #onMessage(message: FromTexts): void {
    if (message.kind === "progress") return this.#onProgress(message.done);
    if (message.kind === "failed") return this.#fail(failureOf(message));
    if (message.kind === "decided") this.#verdicts = message.verdicts;
    else this.#pending -= 1;
    this.#wake();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signal.removeEventListener("abort", this.#onAbort);
    await this.#worker.terminate();
  }
}

/** With the system's error code: a full disk is waited for. */
function failureOf({ message, code }: Extract<FromTexts, { kind: "failed" }>): Error {
  const error = new Error(`texts could not be compared: ${message}`);
  return code === null ? error : Object.assign(error, { code });
}

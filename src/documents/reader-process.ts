import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Clock, Timer } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { DocumentInput, DocumentLimits } from "./document.ts";
import type { FromReaderProcess } from "./process.ts";
import type { ReadOrder, ReadOutcome } from "./thread.ts";

interface ReaderProcessOptions {
  clock: Clock;
  memoryMb: number;
  /** Per file, from the start of its reading. */
  timeoutMs: number;
  limits: DocumentLimits;
  onOutcome(outcome: ReadOutcome): void;
  /** The process ended on its current file, for an unknown reason; `hasStarted`: while it read the file. */
  onCrash(how: string, hasStarted: boolean): void;
  onGone(): void;
}

/** Generous: a busy machine. */
const START_TIMEOUT_MS = 120_000;

/** One process: takes a file, then answers or dies. Unref'd while idle. */
export class ReaderProcess {
  readonly #options: ReaderProcessOptions;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #ready = false;
  #ending = false;
  #input: DocumentInput | null = null;
  #timer: Timer | null = null;

  constructor(options: ReaderProcessOptions) {
    this.#options = options;
    const code = new URL("./process.ts", import.meta.url);
    this.#child = spawn(process.execPath, [fileURLToPath(code), String(options.memoryMb)], {
      // No environment: a reader that is taken over must not see the configuration's secrets.
      env: {},
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
    });
    this.#child.unref();
    this.#child.channel?.unref();
    this.#child.on("message", (message: FromReaderProcess) => this.#onMessage(message));
    this.#exited = new Promise((resolve) => {
      const gone = (how: string) => {
        this.#crash(how);
        options.onGone();
        resolve();
      };
      this.#child.on("exit", (code, signal) => gone(signal ?? `exit code ${code}`));
      // A failed spawn emits no exit. Send errors come from a process that is ending.
      this.#child.on("error", (error) => this.#child.pid === undefined && gone(messageOf(error)));
    });
  }

  assign(input: DocumentInput): void {
    this.#input = input;
    this.#child.ref();
    this.#startTimer();
    if (this.#ready) this.#send();
  }

  /** Resolves when the process has exited. */
  end(): Promise<void> {
    this.#ending = true;
    this.#clearJob();
    this.#child.ref();
    this.#child.kill("SIGKILL");
    return this.#exited;
  }

  get ending(): boolean {
    return this.#ending;
  }

  #onMessage(message: FromReaderProcess): void {
    if (message.kind === "ready") {
      this.#ready = true;
      if (this.#input === null) return;
      // Restarts the timer with the file's own limit.
      this.#startTimer();
      return this.#send();
    }
    if (this.#input === null) return;
    this.#clearJob();
    if (message.recycle) void this.end();
    this.#options.onOutcome(message.outcome);
  }

  #send(): void {
    const order: ReadOrder = { input: this.#input!, limits: this.#options.limits };
    // A failed send means that the process is ending; its exit is reported.
    this.#child.send(order, () => {});
  }

  #startTimer(): void {
    const { clock, timeoutMs } = this.#options;
    this.#timer?.cancel();
    this.#timer = this.#ready
      ? clock.after(timeoutMs, () => this.#timeout(timeoutMs))
      : clock.after(START_TIMEOUT_MS, () => void this.#child.kill("SIGKILL"));
  }

  #timeout(timeoutMs: number): void {
    if (this.#input === null) return;
    void this.end();
    const message = `reading the document took longer than ${Math.round(timeoutMs / 1000)} seconds`;
    this.#options.onOutcome({ kind: "problem", problem: "document_timeout", message });
  }

  #crash(how: string): void {
    if (this.#input === null) return;
    this.#ending = true;
    this.#clearJob();
    this.#options.onCrash(how, this.#ready);
  }

  #clearJob(): void {
    this.#input = null;
    this.#timer?.cancel();
    this.#timer = null;
    this.#child.unref();
  }
}

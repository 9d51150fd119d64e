import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Clock, Timer } from "../base/clock.ts";
import { messageOf, OrbError } from "../base/errors.ts";
import type { DecodeLimits, ImageFacts, ImageProblem } from "./facts.ts";
import type { FromInspector, InspectOrder } from "./process.ts";

interface InspectorProcessOptions {
  clock: Clock;
  memoryMb: number;
  /** Per file, from the start of its decoding. */
  timeoutMs: number;
  limits: DecodeLimits;
  onFacts(facts: ImageFacts): void;
  /** The process ended on its current file. `sure`: the file is certainly the cause. */
  onProblem(problem: ImageProblem, detail: string, sure: boolean): void;
  /** The decoders do not work on this machine. */
  onBroken(error: OrbError): void;
  /** The process has exited. */
  onGone(): void;
}

/** Generous: loading the library on a busy machine. */
const START_TIMEOUT_MS = 120_000;

/** One decoder process: takes a file, then answers, fails or dies. Unref'd while idle. */
export class InspectorProcess {
  readonly #options: InspectorProcessOptions;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #ready = false;
  #ending = false;
  #path: string | null = null;
  #timer: Timer | null = null;

  constructor(options: InspectorProcessOptions) {
    this.#options = options;
    const code = new URL("./process.ts", import.meta.url);
    this.#child = spawn(process.execPath, [fileURLToPath(code), String(options.memoryMb)], {
      // No environment: a decoder exploit must not read the configuration's secrets.
      env: {},
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
    });
    this.#child.unref();
    this.#child.channel?.unref();
    this.#child.on("message", (message: FromInspector) => this.#onMessage(message));
    this.#exited = new Promise((resolve) => {
      const gone = (how: string) => {
        if (!this.#ending && !this.#ready) this.#reportBroken(how);
        else this.#fail("crashed", `the decoder ended by ${how}`, false);
        options.onGone();
        resolve();
      };
      this.#child.on("exit", (code, signal) => gone(signal ?? `exit code ${code}`));
      // A failed spawn emits no exit. Send errors come from a process that is ending.
      this.#child.on("error", (error) => this.#child.pid === undefined && gone(messageOf(error)));
    });
  }

  assign(path: string): void {
    this.#path = path;
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

  #onMessage(message: FromInspector): void {
    switch (message.kind) {
      case "ready":
        this.#ready = true;
        if (this.#path === null) return;
        // Restarts the timer with the file's own limit.
        this.#startTimer();
        return this.#send();
      case "broken":
        return this.#reportBroken(message.message);
      case "out_of_memory":
        return this.#fail("out_of_memory", `decoding needs more than ${this.#options.memoryMb} MB`, true);
      case "facts":
        if (this.#path === null) return;
        this.#clearJob();
        if (message.recycle) void this.end();
        return this.#options.onFacts(message.facts);
    }
  }

  #send(): void {
    if (this.#path === null) return;
    const order: InspectOrder = { path: this.#path, limits: this.#options.limits };
    // A failed send means that the process is ending; its exit is reported.
    this.#child.send(order, () => {});
  }

  #startTimer(): void {
    const { clock, timeoutMs } = this.#options;
    this.#timer?.cancel();
    this.#timer = this.#ready
      ? clock.after(timeoutMs, () => this.#fail("timeout", `decoding took longer than ${timeoutMs} ms`, true))
      : clock.after(START_TIMEOUT_MS, () => this.#reportBroken("it did not start"));
  }

  #fail(problem: ImageProblem, detail: string, sure: boolean): void {
    if (this.#path === null) return;
    void this.end();
    this.#options.onProblem(problem, detail, sure);
  }

  #reportBroken(why: string): void {
    if (this.#ending) return;
    void this.end();
    this.#options.onBroken(new OrbError("image_decoder_missing", `images cannot be decoded on this machine: ${why}`));
  }

  #clearJob(): void {
    this.#path = null;
    this.#timer?.cancel();
    this.#timer = null;
    this.#child.unref();
  }

  get ending(): boolean {
    return this.#ending;
  }
}

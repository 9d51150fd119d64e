import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Clock, Timer } from "../base/clock.ts";
import { messageOf, OrbError } from "../base/errors.ts";
import type { DecodeLimits, ImageFacts, ImageProblem } from "./facts.ts";
import type { FromInspector, InspectOrder } from "./process.ts";

interface InspectorProcessOptions {
  clock: Clock;
  memoryMb: number;
  /** For one file, from the moment the process begins with it. */
  timeoutMs: number;
  limits: DecodeLimits;
  onFacts(facts: ImageFacts): void;
  /** It ends at the file that it had: `sure` when the file alone is to blame. */
  onProblem(problem: ImageProblem, detail: string, sure: boolean): void;
  /** No process of this kind can work on this machine. */
  onBroken(error: OrbError): void;
  /** Nothing is left of it. */
  onGone(): void;
}

/** Loading the library, on a machine that is busy with something else. */
const START_TIMEOUT_MS = 120_000;

/** One process as its pool sees it: it gets a file, and answers, fails or dies. Idle, it does not keep the program alive. */
export class InspectorProcess {
  readonly #options: InspectorProcessOptions;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #ready = false;
  #ending = false;
  #path: string | null = null;
  #timer: Timer | null = null;

  constructor(options: InspectorProcessOptions) {
    this.#options = options;
    const code = new URL("./process.ts", import.meta.url);
    this.#child = spawn(process.execPath, [fileURLToPath(code), String(options.memoryMb)], {
      // No environment: secrets of the configuration are not the business of strangers' pictures.
      env: {},
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
    });
    this.#child.unref();
    this.#child.channel?.unref();
    this.#child.on("message", (message: FromInspector) => this.#onMessage(message));
    this.#gone = new Promise((resolve) => {
      const gone = (how: string) => {
        if (!this.#ending && !this.#ready) this.#break(how);
        else this.#fail("crashed", `the decoder ended by ${how}`, false);
        options.onGone();
        resolve();
      };
      this.#child.on("exit", (code, signal) => gone(signal ?? `exit code ${code}`));
      // Without a process there is no exit. An error of a message is one of a process that ends.
      this.#child.on("error", (error) => this.#child.pid === undefined && gone(messageOf(error)));
    });
  }

  give(path: string): void {
    this.#path = path;
    this.#child.ref();
    this.#watch();
    if (this.#ready) this.#send();
  }

  /** Resolves when nothing of it is left. */
  end(): Promise<void> {
    this.#ending = true;
    this.#rest();
    this.#child.ref();
    this.#child.kill("SIGKILL");
    return this.#gone;
  }

  #onMessage(message: FromInspector): void {
    switch (message.kind) {
      case "ready":
        this.#ready = true;
        if (this.#path === null) return;
        // The file's own time begins now.
        this.#watch();
        return this.#send();
      case "broken":
        return this.#break(message.message);
      case "out_of_memory":
        return this.#fail("out_of_memory", `decoding needs more than ${this.#options.memoryMb} MB`, true);
      case "facts":
        if (this.#path === null) return;
        this.#rest();
        if (message.tired) void this.end();
        return this.#options.onFacts(message.facts);
    }
  }

  #send(): void {
    if (this.#path === null) return;
    const order: InspectOrder = { path: this.#path, limits: this.#options.limits };
    // If it cannot be sent, the process is ending, and its exit is reported.
    this.#child.send(order, () => {});
  }

  #watch(): void {
    const { clock, timeoutMs } = this.#options;
    this.#timer?.cancel();
    this.#timer = this.#ready
      ? clock.after(timeoutMs, () => this.#fail("timeout", `decoding took longer than ${timeoutMs} ms`, true))
      : clock.after(START_TIMEOUT_MS, () => this.#break("it did not start"));
  }

  #fail(problem: ImageProblem, detail: string, sure: boolean): void {
    if (this.#path === null) return;
    void this.end();
    this.#options.onProblem(problem, detail, sure);
  }

  #break(why: string): void {
    if (this.#ending) return;
    void this.end();
    this.#options.onBroken(new OrbError("image_decoder_missing", `images cannot be decoded on this machine: ${why}`));
  }

  #rest(): void {
    this.#path = null;
    this.#timer?.cancel();
    this.#timer = null;
    this.#child.unref();
  }

  get ending(): boolean {
    return this.#ending;
  }
}

import type { Clock, Timer } from "../../../base/clock.ts";

type WriteProgress = (progress: { fraction: number; message: string | null }) => Promise<unknown>;

/** Progress of a running step, written at most once a second. */
export class StepProgress {
  readonly #clock: Clock;
  readonly #write: WriteProgress;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #pending: { fraction: number; message: string | null } | null = null;
  #timer: Timer | null = null;
  #stopped = false;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock, write: WriteProgress) {
    this.#clock = clock;
    this.#write = write;
  }

  report(done: number, total: number | null, message?: string): void {
    // An abandoned step keeps reporting.
    if (this.#stopped) return;
    const fraction = total === null || !(total > 0) ? 0 : Math.min(1, Math.max(0, done / total));
    this.#pending = { fraction, message: message?.slice(0, MAX_MESSAGE_LENGTH) ?? null };
    if (this.#timer !== null) return;
    const wait = this.#writtenAt + WRITE_MS - this.#clock.monotonic();
    if (wait <= 0) this.#flush();
    else this.#timer = this.#clock.after(wait, () => this.#flush());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#writing;
  }

  #flush(): void {
    this.#timer = null;
    if (this.#pending === null) return;
    const progress = this.#pending;
    this.#pending = null;
    this.#writtenAt = this.#clock.monotonic();
    // Progress is informational: the next report replaces one that could not be written.
    this.#writing = this.#write(progress).catch(() => {});
  }
}

const WRITE_MS = 1000;
const MAX_MESSAGE_LENGTH = 500;

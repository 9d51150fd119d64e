/** Waiting that can be broken off, with web standards alone. */

/** Longer delays are taken for none by timers. */
const LONGEST_MS = 2_147_483_647;

/** Rejects with the signal's reason when it is aborted meanwhile. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error);
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", stop);
        resolve();
      },
      Math.min(ms, LONGEST_MS),
    );
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener("abort", stop, { once: true });
    return undefined;
  });
}

/** A number in [0, 1). */
export function chance(): number {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
  return number / 4_294_967_296;
}

/** A UUID of version 4; `crypto.randomUUID` is missing on pages that were not loaded over HTTPS. */
export function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Ends with the caller's signal or by itself; its creator closes it. */
export class Leash {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outer?: AbortSignal) {
    this.#outer = outer;
    if (outer?.aborted === true) this.#follow();
    else outer?.addEventListener("abort", this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly #follow = () => this.#controller.abort(this.#outer?.reason);

  /** From now on it may take so long; null: as long as it likes. */
  allow(ms: number | null, reason: () => Error): void {
    clearTimeout(this.#timer);
    if (ms !== null && ms <= LONGEST_MS) this.#timer = setTimeout(() => this.#controller.abort(reason()), ms);
  }

  abort(reason?: Error): void {
    this.#controller.abort(reason);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#follow);
  }
}

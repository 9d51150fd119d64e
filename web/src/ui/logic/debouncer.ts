/**
 * Debounces and throttles an action: runs soon after a request, once for many requests, and then not again for a while.
 */
export class Debouncer {
  readonly #act: () => void;
  readonly #soonMs: number;
  readonly #restMs: () => number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #restedAt = 0;

  constructor(act: () => void, { soonMs, restMs }: { soonMs: number; restMs: () => number }) {
    this.#act = act;
    this.#soonMs = soonMs;
    this.#restMs = restMs;
  }

  ask(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#restedAt = Date.now() + this.#restMs();
        this.#act();
      },
      // A clock that was set back must not extend the wait.
      Math.max(this.#soonMs, Math.min(this.#restedAt - Date.now(), this.#restMs())),
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

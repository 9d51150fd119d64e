import type { Clock } from "./clock.ts";

/** A level-triggered wake-up for one loop: raising it any number of times before the next wait wakes the loop once. */
export class Signal {
  #raised = false;
  #waiter: (() => void) | null = null;

  raise(): void {
    this.#raised = true;
    this.#waiter?.();
  }

  /** Resolves when raised, or after `timeoutMs`. */
  wait(clock: Clock, timeoutMs: number | null): Promise<void> {
    return new Promise((resolve) => {
      if (this.#raised) {
        this.#raised = false;
        return resolve();
      }
      const done = () => {
        timer?.cancel();
        this.#raised = false;
        this.#waiter = null;
        resolve();
      };
      const timer = timeoutMs === null ? null : clock.after(timeoutMs, done, { keepAlive: true });
      this.#waiter = done;
    });
  }
}

import type { createLogUpdate } from "log-update";

/** Lines that are drawn in place on standard error. */
export class Drawing {
  readonly live: boolean;
  #update: ReturnType<typeof createLogUpdate> | null = null;
  #lines: string | null = null;
  #over = false;

  /** `live`: false draws nothing. */
  constructor(live: boolean) {
    this.live = live;
    if (live) void this.#load();
  }

  show(lines: string): void {
    if (!this.live || this.#over) return;
    if (this.#update === null) this.#lines = lines;
    else this.#update(lines);
  }

  /** Until something is shown again. */
  clear(): void {
    this.#lines = null;
    this.#update?.clear();
  }

  /** What was shown last stays where it is. */
  done(): void {
    if (this.#over) return;
    this.#over = true;
    this.#update?.done();
  }

  /** Only where there is a screen: what measures it would cost every start some 60 ms. */
  async #load(): Promise<void> {
    const { createLogUpdate } = await import("log-update");
    if (this.#over) return;
    this.#update = createLogUpdate(process.stderr);
    if (this.#lines !== null) this.#update(this.#lines);
  }
}

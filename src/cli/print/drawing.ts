import type { createLogUpdate } from "log-update";
import type { Terminal } from "./output.ts";
import { plainSigns } from "./signs.ts";

/** Lines that are drawn in place on standard error. */
export class Drawing {
  readonly live: boolean;
  readonly #ascii: boolean;
  #update: ReturnType<typeof createLogUpdate> | null = null;
  #lines: string | null = null;
  #over = false;

  /** `live`: false draws nothing. */
  constructor({ ascii = false }: Pick<Terminal, "ascii">, live: boolean) {
    this.live = live;
    this.#ascii = ascii;
    if (live) void this.#load();
  }

  show(lines: string): void {
    if (!this.live || this.#over) return;
    const text = this.#ascii ? plainSigns(lines) : lines;
    if (this.#update === null) this.#lines = text;
    else this.#update(text);
  }

  /** Until the next drawing. */
  clear(): void {
    this.#lines = null;
    this.#update?.clear();
  }

  /** Leaves the last drawing on the screen. */
  done(): void {
    if (this.#over) return;
    this.#over = true;
    this.#update?.done();
  }

  /** Loaded only with a screen: measuring it would cost every start some 60 ms. */
  async #load(): Promise<void> {
    const { createLogUpdate } = await import("log-update");
    if (this.#over) return;
    this.#update = createLogUpdate(process.stderr);
    if (this.#lines !== null) this.#update(this.#lines);
  }
}

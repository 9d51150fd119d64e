import type { Log } from "../../base/log.ts";
import { Drawing } from "./drawing.ts";
import type { Terminal } from "./output.ts";
import { SPINNER, throughPicture } from "./progress.ts";

const REDRAW_MS = 100;

/** A region of the terminal that is redrawn in place and disappears at the end. */
export class Picture {
  readonly #terminal: Pick<Terminal, "err">;
  readonly #lines: (spinner: string) => string;
  readonly #drawing: Drawing;
  readonly #timer: NodeJS.Timeout | null;
  #frame = 0;
  #over = false;

  /** `live`: false draws nothing. */
  constructor(terminal: Pick<Terminal, "ascii" | "err">, live: boolean, lines: (spinner: string) => string) {
    this.#terminal = terminal;
    this.#lines = lines;
    this.#drawing = new Drawing(terminal, live);
    this.#timer = live ? setInterval(() => this.show(), REDRAW_MS).unref() : null;
  }

  show(): void {
    if (!this.#drawing.live || this.#over) return;
    this.#frame = (this.#frame + 1) % SPINNER.length;
    this.#drawing.show(this.#lines(SPINNER[this.#frame] ?? ""));
  }

  /** Until the next drawing. */
  clear(): void {
    this.#drawing.clear();
  }

  /** Prints a line above the picture; it stays when the picture is gone. */
  note(text: string): void {
    this.clear();
    this.#terminal.err(`${text}\n`);
    this.show();
  }

  /** Prints log lines above the picture. */
  wrap(log: Log): Log {
    return this.#drawing.live ? throughPicture(log, () => this.clear()) : log;
  }

  /** Removes the picture: the result is printed by then. */
  done(): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#drawing.clear();
    this.#drawing.done();
  }
}

import type { Log } from "../../base/log.ts";
import { Drawing } from "./drawing.ts";
import type { Terminal } from "./output.ts";
import { SPINNER, throughPicture } from "./progress.ts";

const REDRAW_MS = 100;

/** A part of the terminal that is drawn in place while something goes on, and goes away at its end. */
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

  /** Until it is shown again. */
  clear(): void {
    this.#drawing.clear();
  }

  /** Something that has to be known, also when the picture is gone: it stays above it. */
  note(text: string): void {
    this.clear();
    this.#terminal.err(`${text}\n`);
    this.show();
  }

  /** Log lines go above it instead of through it. */
  wrap(log: Log): Log {
    return this.#drawing.live ? throughPicture(log, () => this.clear()) : log;
  }

  /** It goes away: what counts is printed by then. */
  done(): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#drawing.clear();
    this.#drawing.done();
  }
}

import { createLogUpdate } from "log-update";
import type { Log } from "../base/log.ts";
import { fit, SPINNER, throughPicture } from "./progress.ts";
import { oneLine, paint, type Terminal } from "./output.ts";

const REDRAW_MS = 100;

/** The live line of one run: what happened last, and for how long we have been waiting. */
export class RunLine {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  readonly #begun: number;
  readonly #draw: ReturnType<typeof createLogUpdate> | null;
  readonly #timer: NodeJS.Timeout | null;
  #frame = 0;
  #over = false;
  #last = "starting";

  constructor(terminal: Terminal, now: () => number, live: boolean) {
    this.#terminal = terminal;
    this.#now = now;
    this.#begun = now();
    this.#draw = live ? createLogUpdate(process.stderr) : null;
    this.#timer = live ? setInterval(() => this.#show(), REDRAW_MS).unref() : null;
  }

  event(message: string): void {
    this.#last = oneLine(message);
    this.#show();
  }

  /** Log lines go above the line instead of through it. */
  wrap(log: Log): Log {
    return this.#draw === null ? log : throughPicture(log, () => this.#draw?.clear());
  }

  /** The line goes away: what counts is printed by then. */
  done(): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#draw?.clear();
    this.#draw?.done();
  }

  #show(): void {
    if (this.#draw === null || this.#over) return;
    this.#frame = (this.#frame + 1) % SPINNER.length;
    const seconds = ((this.#now() - this.#begun) / 1000).toFixed(1);
    const spinner = paint(this.#terminal, "cyan", SPINNER[this.#frame] ?? "");
    this.#draw(fit(`${spinner} ${seconds} s  ${this.#last}`, process.stderr.columns ?? 80));
  }
}

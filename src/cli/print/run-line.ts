import type { Log } from "../../base/log.ts";
import { oneLine, paint, type Terminal } from "./output.ts";
import { Picture } from "./picture.ts";
import { fit } from "./progress.ts";

/** The live line of one run: its last event, and the elapsed time. */
export class RunLine {
  readonly #picture: Picture;
  #last = "starting";

  constructor(terminal: Terminal, now: () => number, live: boolean) {
    const begun = now();
    this.#picture = new Picture(terminal, live, (spinner) => {
      const seconds = ((now() - begun) / 1000).toFixed(1);
      return fit(`${paint(terminal, "cyan", spinner)} ${seconds} s  ${this.#last}`, process.stderr.columns ?? 80);
    });
  }

  event(message: string): void {
    this.#last = oneLine(message);
    this.#picture.show();
  }

  wrap(log: Log): Log {
    return this.#picture.wrap(log);
  }

  done(): void {
    this.#picture.done();
  }
}

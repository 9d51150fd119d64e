import { type Clock, sleep } from "../base/clock.ts";
import { isOrbError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { OutageLogger } from "../base/outage-logger.ts";
import type { DutiesDue } from "../store/ports/duty-port.ts";
import type { DueLook } from "./due-look.ts";

/** Something that must be done from time to time, whatever else happens. */
export interface Duty {
  name: string;
  everyMs: number;
  /** It is told what is due, and leaves the rest. */
  looksFirst?: true;
  /** What may take long looks at the signal now and then. Without `due` it looks for everything. */
  run(signal: AbortSignal, due?: DutiesDue): Promise<void>;
}

interface DutiesDeps {
  clock: Clock;
  log: Log;
  /** One for all duties of the process. */
  look: DueLook;
  duties: readonly Duty[];
  /** Asked before each of them, which is left out when it may not be done: a process that was frozen may have lost the right to. */
  may?: () => boolean;
}

/** Runs duties one after the other, each in its own rhythm, until it is stopped. A duty that fails is tried again. */
export class Duties {
  readonly #deps: DutiesDeps;
  /** All of them need the database: that it is away is said once, and not for each. */
  readonly #away: OutageLogger;
  /** Those that it kept from being done. */
  readonly #kept = new Set<Duty>();
  #stop: AbortController | null = null;
  #running: Promise<unknown> = Promise.resolve();

  constructor(deps: DutiesDeps) {
    this.#deps = deps;
    this.#away = new OutageLogger(deps.log);
  }

  start(): void {
    if (this.#stop !== null) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#running = Promise.all(this.#deps.duties.map((duty) => this.#keepUp(duty, stop.signal)));
  }

  /** Resolves when nothing of them runs any more. */
  async stop(): Promise<void> {
    this.#stop?.abort();
    this.#stop = null;
    await this.#running;
  }

  async #keepUp(duty: Duty, signal: AbortSignal): Promise<void> {
    const { clock, log, look, may } = this.#deps;
    const trouble = new OutageLogger(log);
    while (!signal.aborted) {
      try {
        if (may?.() !== false) {
          await duty.run(signal, duty.looksFirst === true ? await look.due() : undefined);
          trouble.ends(`done again: ${duty.name}`);
          if (this.#kept.delete(duty)) this.#away.ends("the database can be reached again, and duties are done");
        }
      } catch (error) {
        const fields = { duty: duty.name, error: messageOf(error) };
        if (isOrbError(error, "database_unavailable")) {
          this.#kept.add(duty);
          this.#away.begins("the database cannot be reached: duties are done when it is back", fields);
        } else trouble.begins("a duty could not be done and is tried again later", fields);
      }
      await sleep(clock, look.untilNext(duty.everyMs), signal);
    }
  }
}

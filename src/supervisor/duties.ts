import { type Clock, sleep } from "../base/clock.ts";
import { isOrbError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { OutageLogger } from "../base/outage-logger.ts";
import type { DutiesDue } from "../store/ports/duty-port.ts";
import type { DueLook } from "./due-look.ts";

/** A periodic task of the supervisor. */
export interface Duty {
  name: string;
  everyMs: number;
  /** Receives what is due and skips the query. */
  looksFirst?: true;
  /** Long-running duties check the signal. Without `due` it queries everything. */
  run(signal: AbortSignal, due?: DutiesDue): Promise<void>;
}

interface DutiesDeps {
  clock: Clock;
  log: Log;
  /** Shared by all duties of the process. */
  look: DueLook;
  duties: readonly Duty[];
  /** Checked before each duty: a process that was frozen may have lost its lease. */
  may?: () => boolean;
}

/** Runs duties one after the other, each at its own interval, until stopped. Failed duties are retried. */
export class Duties {
  readonly #deps: DutiesDeps;
  /** All of them need the database: its outage is logged once, not per duty. */
  readonly #away: OutageLogger;
  /** Duties that the outage prevented. */
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

  /** Resolves when none of them runs any more. */
  async stop(): Promise<void> {
    this.#stop?.abort();
    this.#stop = null;
    await this.#running;
  }

  async #keepUp(duty: Duty, signal: AbortSignal): Promise<void> {
    const { clock, log, look, may } = this.#deps;
    const outages = new OutageLogger(log);
    while (!signal.aborted) {
      try {
        if (may?.() !== false) {
          await duty.run(signal, duty.looksFirst === true ? await look.due() : undefined);
          outages.ends(`duty succeeded again: ${duty.name}`);
          if (this.#kept.delete(duty)) this.#away.ends("the database is reachable again; duties resumed");
        }
      } catch (error) {
        const fields = { duty: duty.name, error: messageOf(error) };
        if (isOrbError(error, "database_unavailable")) {
          this.#kept.add(duty);
          this.#away.begins("the database is unreachable; duties wait for it", fields);
        } else outages.begins("a duty failed; retrying later", fields);
      }
      await sleep(clock, look.untilNext(duty.everyMs), signal);
    }
  }
}

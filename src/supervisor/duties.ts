import { type Clock, sleep } from "../base/clock.ts";
import { isOrbError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { OutageLogger } from "../base/outage-logger.ts";
import { Signal } from "../base/signal.ts";
import type { DutiesDue } from "../store/ports/duty-port.ts";
import type { DueLook } from "./due-look.ts";

/** A periodic task of the supervisor. */
export interface Duty {
  name: string;
  everyMs: number;
  /** Receives what is due and skips the query. */
  looksFirst?: true;
  /** Runs at once when a run has ended, or a duty has left work to others; see `Duties.hurry`. */
  follows?: true;
  /** Long-running duties check the signal. Without `due` it queries everything. Returns true if it left work to others. */
  run(signal: AbortSignal, due?: DutiesDue): Promise<boolean | void>;
}

/** Many runs may end each second: duties that follow them run at most this often. */
const FOLLOW_MS = 100;

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
  /** Of the duties that follow others. */
  readonly #bells = new Map<Duty, Signal>();
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

  /** A run has ended: duties that follow do not wait for their next moment. */
  hurry(): void {
    if (this.#stop === null || this.#bells.size === 0) return;
    this.#deps.look.forget();
    for (const bell of this.#bells.values()) bell.raise();
  }

  /** Resolves when none of them runs any more. */
  async stop(): Promise<void> {
    this.#stop?.abort();
    for (const bell of this.#bells.values()) bell.raise();
    this.#stop = null;
    await this.#running;
  }

  async #keepUp(duty: Duty, signal: AbortSignal): Promise<void> {
    const { clock, log, look, may } = this.#deps;
    const outages = new OutageLogger(log);
    const bell = duty.follows === true ? new Signal() : null;
    if (bell !== null) this.#bells.set(duty, bell);
    while (!signal.aborted) {
      try {
        if (may?.() !== false) {
          const leftWork = await duty.run(signal, duty.looksFirst === true ? await look.due() : undefined);
          if (leftWork === true) this.hurry();
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
      const nextMs = look.untilNext(duty.everyMs);
      await (bell === null ? sleep(clock, nextMs, signal) : this.#rung(bell, nextMs, signal));
    }
  }

  async #rung(bell: Signal, nextMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    if (signal.aborted) return;
    const from = clock.monotonic();
    await bell.wait(clock, nextMs);
    const leftMs = Math.min(FOLLOW_MS, nextMs) - (clock.monotonic() - from);
    if (leftMs > 0) await sleep(clock, leftMs, signal);
  }
}

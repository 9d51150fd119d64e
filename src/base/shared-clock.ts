import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";
import { OutageLogger } from "./outage-logger.ts";

/** Synchronised clocks differ by less: no correction. */
const TOLERATED_MS = 1000;

interface SharedClock extends Clock {
  /** The shared clock is ahead of this machine's by this much. */
  setOffset(aheadMs: number): void;
}

/**
 * The clock of one machine among several. What they write for each other uses the wall clock: rate limits of sites,
 * retry times. A fast clock would request too early, so where this machine's clock is wrong, the clock of the shared
 * database replaces it.
 */
export function sharedClock(local: Clock, log: Log): SharedClock {
  const outages = new OutageLogger(log);
  let ahead = 0;
  return {
    now: () => local.now() + ahead,
    monotonic: () => local.monotonic(),
    after: (ms, fn, options) => local.after(ms, fn, options),
    setOffset(aheadMs) {
      // Hysteresis: a clock near the tolerance would otherwise flap.
      const tolerated = ahead === 0 ? TOLERATED_MS : TOLERATED_MS / 2;
      ahead = Math.abs(aheadMs) > tolerated ? Math.round(aheadMs) : 0;
      if (ahead === 0) return outages.ends("the clock of this machine agrees with the database again");
      outages.begins("the clock of this machine differs from the database, whose clock is used: correct it", {
        [ahead > 0 ? "seconds_slow" : "seconds_fast"]: Math.abs(ahead) / 1000,
      });
    },
  };
}

/** The message about this machine's clock; null: it is correct. */
export function clockApart(shared: Clock, local: Clock): { what: string; fix: string } | null {
  const ahead = shared.now() - local.now();
  if (Math.abs(ahead) <= TOLERATED_MS) return null;
  const apart = `${Math.round(Math.abs(ahead) / 1000)} s ${ahead > 0 ? "behind" : "ahead of"} the database's`;
  return {
    what: `${new Date(local.now()).toISOString()} is ${apart}, which is used instead`,
    fix: "set the clock of this machine and synchronise it with NTP",
  };
}

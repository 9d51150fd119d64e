import { type Clock, sleep } from "../base/clock.ts";

const LOOK_MS = 1000;

/** Looks every second whether there is room for more work, and says so when there is none. */
export function watchLimits(deps: { clock: Clock; check: () => Promise<void>; full: (error: unknown) => void }): {
  stop(): Promise<void>;
} {
  const stop = new AbortController();
  const looking = (async () => {
    while (!stop.signal.aborted) {
      await deps.check().catch(deps.full);
      await sleep(deps.clock, LOOK_MS, stop.signal);
    }
  })();
  return {
    stop: async () => {
      stop.abort();
      await looking;
    },
  };
}

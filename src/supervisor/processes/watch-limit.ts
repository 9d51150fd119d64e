import { type Clock, sleep } from "../../base/clock.ts";

const LOOK_MS = 1000;

interface LimitWatch {
  clock: Clock;
  /** Throws while there is too little. */
  check: () => Promise<void>;
  /** Called after every check: what `check` threw, or null. */
  onCheck: (error: unknown) => void;
}

/** Checks a resource limit every second. */
export function watchLimit({ clock, check, onCheck }: LimitWatch): { stop(): Promise<void> } {
  const stop = new AbortController();
  const looking = (async () => {
    while (!stop.signal.aborted) {
      await check().then(() => onCheck(null), onCheck);
      await sleep(clock, LOOK_MS, stop.signal);
    }
  })();
  return {
    stop: async () => {
      stop.abort();
      await looking;
    },
  };
}

import { type Clock, sleep } from "../../base/clock.ts";

const LOOK_MS = 1000;

interface LimitWatch {
  clock: Clock;
  /** Throws while there is too little. */
  check: () => Promise<void>;
  /** Told after every look: what `check` threw, or null. */
  onCheck: (error: unknown) => void;
}

/** Looks every second whether there is room for more work. */
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

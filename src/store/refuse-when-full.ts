import type { Store } from "./ports/port.ts";

/** New work is not taken while the disk is nearly full: what is there already needs the room to come to its end. */
export function refuseWhenFull(store: Store, check: () => void): Store {
  const unlessFull =
    <Given extends unknown[], Made>(method: (...given: Given) => Promise<Made>) =>
    async (...given: Given) => {
      check();
      return method(...given);
    };
  return {
    ...store,
    startRun: unlessFull(store.startRun),
    startOccurrence: unlessFull(store.startOccurrence),
    enqueue: unlessFull(store.enqueue),
  };
}

import type { Store } from "./ports/port.ts";

/** Rejects new work while the disk is nearly full: existing work needs the space to finish. */
export function refuseWhenFull(store: Store, check: () => void): Store {
  const unlessFull =
    <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      check();
      return method(...args);
    };
  return {
    ...store,
    startRun: unlessFull(store.startRun),
    startOccurrence: unlessFull(store.startOccurrence),
    enqueue: unlessFull(store.enqueue),
  };
}

import { setImmediate } from "node:timers/promises";
import type { TestContext } from "node:test";

/** How many turns the event loop has had. */
export function countTurns(t: TestContext): () => number {
  let turns = 0;
  const over = new AbortController();
  t.after(() => over.abort());
  void (async () => {
    for (; !over.signal.aborted; turns += 1) await setImmediate();
  })();
  return () => turns;
}

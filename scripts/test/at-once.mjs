// How many test processes run concurrently: cores + 1. Tests wait for timers and for their own programs, and one more
// keeps the cores busy meanwhile; with more each would only take longer.
import { availableParallelism } from "node:os";

export const MOST_AT_ONCE = availableParallelism() + 1;

/** Runs `work` for each, several concurrently, until all are done or the signal aborts. */
export async function forEachAtOnce(list, work, { signal, most = MOST_AT_ONCE } = {}) {
  const waiting = [...list];
  const next = () => (signal?.aborted === true ? undefined : waiting.shift());
  const runOne = async () => {
    for (let one = next(); one !== undefined; one = next()) await work(one);
  };
  await Promise.all(Array.from({ length: most }, runOne));
}

import type { Clock } from "./clock.ts";
import { Signal } from "./signal.ts";

/**
 * Merges several sources as values arrive. Buffers at most one value per source: none is read faster than it is
 * consumed. Ends when all have ended, or one fails; a consumer that stops early aborts the sources' own signal.
 */
export async function* merged<T>(clock: Clock, sources: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const ready: { value: T; taken: () => void }[] = [];
  const news = new Signal();
  let open = sources.length;
  let failure: { error: unknown } | null = null;
  const pump = async (source: AsyncIterable<T>) => {
    try {
      for await (const value of source) {
        const { promise, resolve } = Promise.withResolvers<void>();
        ready.push({ value, taken: resolve });
        news.raise();
        await promise;
      }
    } catch (error) {
      failure ??= { error };
    } finally {
      open -= 1;
      news.raise();
    }
  };
  for (const source of sources) void pump(source);
  for (;;) {
    const next = ready.shift();
    if (next !== undefined) {
      yield next.value;
      next.taken();
      continue;
    }
    if (failure !== null) throw (failure as { error: unknown }).error;
    if (open === 0) return;
    await news.wait(clock, null);
  }
}

/**
 * Maps a list, `most` entries at a time, and yields the results in order. Entries are pulled only as results are taken.
 * The first failure is thrown in its turn; a reader that stops waits for running calls.
 */
export async function* inOrder<T, R>(
  source: AsyncIterable<T> | Iterable<T>,
  most: number,
  work: (entry: T) => Promise<R>,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = [];
  try {
    for await (const entry of source) {
      const result = work(entry);
      // Thrown when its turn comes; until then it must not count as unhandled.
      result.catch(() => {});
      underWay.push(result);
      if (underWay.length >= most) yield await underWay.shift()!;
    }
    while (underWay.length > 0) yield await underWay.shift()!;
  } finally {
    await Promise.allSettled(underWay);
  }
}

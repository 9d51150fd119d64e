/**
 * Maps a list with `most` concurrent calls and yields the results in order. Pulls entries only as results are consumed.
 * Throws the first failure in its turn; a consumer that stops waits for running calls.
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
      // Thrown in its turn; until then it must not count as unhandled.
      result.catch(() => {});
      underWay.push(result);
      if (underWay.length >= most) yield await underWay.shift()!;
    }
    while (underWay.length > 0) yield await underWay.shift()!;
  } finally {
    await Promise.allSettled(underWay);
  }
}

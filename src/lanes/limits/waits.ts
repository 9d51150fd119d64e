/** The earlier of two times; null: unknown. */
export function earliest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

/** Waits for `work` or the abort. Removes its listener: all tickets of a term share one signal. */
export async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let stop: () => void = () => {};
  const abort = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener("abort", stop, { once: true });
  });
  await Promise.race([work, abort]);
  signal.removeEventListener("abort", stop);
}

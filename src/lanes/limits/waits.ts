/** The earlier of two times, of which either may not be known. */
export function earliest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

/** Waits for `work`, but not past the abort. The listener goes with it: a term has one signal for all its tickets. */
export async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let stop: () => void = () => {};
  const abort = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener("abort", stop, { once: true });
  });
  await Promise.race([work, abort]);
  signal.removeEventListener("abort", stop);
}

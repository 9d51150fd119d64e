/**
 * ISO timestamps and back. Hundreds of attempts start within one millisecond, and formatting and parsing the same text
 * for each took 5 % of a task's cost: the last one is cached.
 */
let lastMs = 0;
let lastText = new Date(0).toISOString();

export function isoOf(ms: number): string {
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
}

/** For optional times in API responses. */
export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : isoOf(ms);
}

export function msOf(iso: string): number {
  return iso === lastText ? lastMs : Date.parse(iso);
}

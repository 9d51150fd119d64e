/**
 * Times as people read them, and back. Hundreds of attempts begin within one millisecond, and making and parsing the same
 * text for each of them took a twentieth of what a task costs: the last one is remembered.
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

export function msOf(iso: string): number {
  if (iso !== lastText) {
    lastMs = Date.parse(iso);
    lastText = iso;
  }
  return lastMs;
}

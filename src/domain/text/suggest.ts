/** "Did you mean …": the nearest known word, if it is close enough to be a typo. */
export function suggest(word: string, known: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  // A third of the letters may be wrong: `priorty` finds `priority`, `foo` finds nothing.
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? longerName(wanted, known);
}

/** A part of a name suggests it: `depth` is `max_depth`, if nothing else ends so. */
function longerName(wanted: string, known: Iterable<string>): string | undefined {
  if (wanted.length < 3) return undefined;
  const found = [...known].filter((candidate) => candidate.toLowerCase().endsWith(`_${wanted}`));
  return found.length === 1 ? found[0] : undefined;
}

/** Insertions, deletions, replacements and swaps of neighbours; stops counting at `limit`. */
function editDistance(a: string, b: string, limit = Number.POSITIVE_INFINITY): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    if (Math.min(...row) >= limit) return limit;
    beforeLast = last;
    last = row;
  }
  return Math.min(limit, last[b.length] ?? 0);
}

/** Differences of two sequences: of lines, or of words. */
import { diffArrays } from "diff";

/** `[from, to)` of the first sequence became `[otherFrom, otherTo)` of the second. */
export interface Hunk {
  from: number;
  to: number;
  otherFrom: number;
  otherTo: number;
}

/** Beyond this, two sequences have nothing in common that is worth the time. */
const MAX_EDITS = 600;

/** Null: they differ too much to be compared piece by piece. */
export function hunksOf(first: readonly string[], second: readonly string[]): Hunk[] | null {
  const shorter = Math.min(first.length, second.length);
  let start = 0;
  while (start < shorter && first[start] === second[start]) start += 1;
  let end = 0;
  while (end < shorter - start && first.at(-1 - end) === second.at(-1 - end)) end += 1;
  if (start + end === first.length && start + end === second.length) return [];
  if (leastEdits(first, second) > MAX_EDITS) return null;
  const parts = diffArrays(first.slice(start, first.length - end), second.slice(start, second.length - end), {
    maxEditLength: MAX_EDITS,
  }) as { added?: boolean; removed?: boolean; count?: number; value: string[] }[] | undefined;
  if (parts === undefined) return null;
  const hunks: Hunk[] = [];
  let [at, otherAt] = [start, start];
  let open: Hunk | null = null;
  for (const { added = false, removed = false, value } of parts) {
    if (!added && !removed) {
      open = null;
      at += value.length;
      otherAt += value.length;
      continue;
    }
    if (open === null) hunks.push((open = { from: at, to: at, otherFrom: otherAt, otherTo: otherAt }));
    if (removed) at += value.length;
    else otherAt += value.length;
    open.to = at;
    open.otherTo = otherAt;
  }
  return hunks;
}

/** No fewer, whatever the order: what one of them has and the other has not. */
function leastEdits(first: readonly string[], second: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const item of first) counts.set(item, (counts.get(item) ?? 0) + 1);
  for (const item of second) counts.set(item, (counts.get(item) ?? 0) - 1);
  return [...counts.values()].reduce((sum, count) => sum + Math.abs(count), 0);
}

/** All of both sequences, where they cannot be compared piece by piece. */
export function wholeHunk(first: readonly string[], second: readonly string[]): Hunk[] {
  return [{ from: 0, to: first.length, otherFrom: 0, otherTo: second.length }];
}

/** Arranges the lines of a difference for a view with two columns. */
import type { Operations } from "../../api/types.ts";

type Diff = NonNullable<Operations["getJobChange"]["answer"]["diff"]>;
export type Hunk = Diff["hunks"][number];
export type Line = Hunk["lines"][number];

export interface Pair {
  before: Line | null;
  after: Line | null;
}

/** A removed line stands beside the added one that took its place. */
export function pairsOf(lines: readonly Line[]): Pair[] {
  const pairs: Pair[] = [];
  let removed: Line[] = [];
  let added: Line[] = [];
  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1)
      pairs.push({ before: removed[index] ?? null, after: added[index] ?? null });
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.op === "-") {
      if (added.length > 0) flush();
      removed.push(line);
    } else if (line.op === "+") added.push(line);
    else {
      flush();
      pairs.push({ before: line, after: line });
    }
  }
  flush();
  return pairs;
}

/** A value of a record in one line. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}

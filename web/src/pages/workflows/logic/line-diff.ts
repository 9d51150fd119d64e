/** Line diff of two texts. */

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
  /** Line numbers in the old and the new text; null: not in it. */
  before: number | null;
  after: number | null;
}

/** Limit of the search; texts with less in common are shown as a full replacement. */
const MOST_CHANGES = 4000;

export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const kinds: DiffLine["kind"][] = [
    ...Array.from({ length: head }, () => "same" as const),
    ...editsOf(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...Array.from({ length: tail }, () => "same" as const),
  ];
  let [x, y] = [0, 0];
  return kinds.map((kind) => {
    const line = {
      kind,
      text: (kind === "added" ? b[y] : a[x]) ?? "",
      before: kind === "added" ? null : x + 1,
      after: kind === "removed" ? null : y + 1,
    };
    if (kind !== "added") x += 1;
    if (kind !== "removed") y += 1;
    return line;
  });
}

/** The shortest edit script (Myers, 1986). */
function editsOf(a: readonly string[], b: readonly string[]): DiffLine["kind"][] {
  const most = a.length + b.length;
  const furthest = new Map<number, number>([[1, 0]]);
  const trail: Map<number, number>[] = [];
  for (let changes = 0; changes <= Math.min(most, MOST_CHANGES); changes += 1) {
    trail.push(new Map(furthest));
    for (let k = -changes; k <= changes; k += 2) {
      const down = k === -changes || (k !== changes && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
      let x = down ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(trail, a.length, b.length);
    }
  }
  return [...a.map(() => "removed" as const), ...b.map(() => "added" as const)];
}

function walkBack(trail: readonly Map<number, number>[], endX: number, endY: number): DiffLine["kind"][] {
  const kinds: DiffLine["kind"][] = [];
  let [x, y] = [endX, endY];
  for (let changes = trail.length - 1; changes >= 0; changes -= 1) {
    const furthest = trail[changes] as Map<number, number>;
    const k = x - y;
    const down = k === -changes || (k !== changes && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
    const fromK = down ? k + 1 : k - 1;
    const fromX = furthest.get(fromK) ?? 0;
    const fromY = fromX - fromK;
    while (x > fromX && y > fromY) {
      kinds.push("same");
      [x, y] = [x - 1, y - 1];
    }
    if (changes > 0) kinds.push(down ? "added" : "removed");
    [x, y] = [fromX, fromY];
  }
  return kinds.toReversed();
}

export type DiffBlock = { lines: DiffLine[] } | { hidden: DiffLine[] };

/** Changes with context lines; the rest is collapsed. */
export function blocksOf(lines: readonly DiffLine[], around = 3): DiffBlock[] {
  const near = lines.map((_line, index) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== "same"),
  );
  const blocks: DiffBlock[] = [];
  for (const [index, line] of lines.entries()) {
    const isShown = near[index] === true;
    const last = blocks.at(-1);
    if (last !== undefined && isShown && "lines" in last) last.lines.push(line);
    else if (last !== undefined && !isShown && "hidden" in last) last.hidden.push(line);
    else blocks.push(isShown ? { lines: [line] } : { hidden: [line] });
  }
  return blocks;
}

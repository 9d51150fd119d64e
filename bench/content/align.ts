/** Finds the words of a page that are its main content, given only the text of that content. */

/**
 * For each block, the number of its words that the text contains at that position. Word runs that are unique on both
 * sides are matched first, then shorter ones between them.
 */
export function alignBlocks(blocks: readonly string[][], text: readonly string[]): number[] {
  const words = blocks.flat();
  const isContent = new Uint8Array(words.length);
  match({ words, text, isContent }, { from: 0, to: words.length }, { from: 0, to: text.length }, 8);
  let at = 0;
  return blocks.map((block) => {
    const hits = isContent.subarray(at, at + block.length).reduce((sum, hit) => sum + hit, 0);
    at += block.length;
    return hits;
  });
}

interface Sides {
  words: readonly string[];
  text: readonly string[];
  isContent: Uint8Array;
}

interface Range {
  from: number;
  to: number;
}

function match(sides: Sides, left: Range, right: Range, size: number): void {
  if (left.from >= left.to || right.from >= right.to || size < 1) return;
  const smaller = size === 1 ? 0 : Math.floor(size / 2);
  const pairs = rising(commonRuns(sides, left, right, size));
  if (pairs.length === 0) return match(sides, left, right, smaller);
  let [atLeft, atRight] = [left.from, right.from];
  for (const [from, to] of pairs) {
    if (from < atLeft || to < atRight) continue;
    match(sides, { from: atLeft, to: from }, { from: atRight, to }, smaller);
    [atLeft, atRight] = [from, to];
    while (atLeft < left.to && atRight < right.to && sides.words[atLeft] === sides.text[atRight]) {
      sides.isContent[atLeft] = 1;
      atLeft += 1;
      atRight += 1;
    }
  }
  match(sides, { from: atLeft, to: left.to }, { from: atRight, to: right.to }, smaller);
}

type Pair = readonly [left: number, right: number];

/** Word runs that are unique on both sides, in the order of the left one. */
function commonRuns({ words, text }: Sides, left: Range, right: Range, size: number): Pair[] {
  const lefts = runs(words, left, size);
  const rights = runs(text, right, size);
  const pairs: Pair[] = [];
  for (const [run, from] of lefts) {
    const to = rights.get(run) ?? -1;
    if (from >= 0 && to >= 0) pairs.push([from, to]);
  }
  return pairs;
}

function runs(words: readonly string[], { from, to }: Range, size: number): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = from; at + size <= to; at += 1) {
    const run = words.slice(at, at + size).join(" ");
    found.set(run, found.has(run) ? -1 : at);
  }
  return found;
}

/** The longest increasing subsequence of pairs. */
function rising(pairs: readonly Pair[]): Pair[] {
  const ends: number[] = [];
  const before: number[] = [];
  for (const [index, [, right]] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]!]![1] < right) low = middle + 1;
      else high = middle;
    }
    before.push(low > 0 ? ends[low - 1]! : -1);
    ends[low] = index;
  }
  const chain: Pair[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index]!) chain.push(pairs[index]!);
  return chain.reverse();
}

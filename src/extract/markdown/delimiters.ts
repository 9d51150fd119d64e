/** CommonMark's delimiter algorithm for `*` and `~`, on tokens. */
import type { Token } from "./tokens.ts";

export interface Run {
  /** The index of its first token. */
  readonly at: number;
  readonly character: string;
  readonly length: number;
  readonly opens: boolean;
  readonly closes: boolean;
  /** Also in older CommonMark versions. */
  readonly opensSurely: boolean;
  readonly closesSurely: boolean;
}

interface Entry {
  run: Run;
  left: number;
}

/**
 * `opening:closing:size` of each pair that a parser recognises.
 *
 * For a partly paired run, parsers disagree about the length in the rule of three: the whole run (the specification,
 * commonmark.js) or the remaining part (micromark).
 */
export function matchDelimiters(
  tokens: readonly Token[],
  runs: ReadonlyMap<number, Run>,
  lengths: "whole" | "left",
): Set<string> {
  const pairs = new Set<string>();
  const stack: Entry[] = [];
  const links: number[] = [];
  for (const [index, token] of tokens.entries()) {
    const run = runs.get(index);
    if (run?.at === index) stack.push({ run, left: run.length });
    else if (token.kind === "open" && token.mark.kind === "link") links.push(stack.length);
    else if (token.kind === "close" && token.mark.kind === "link") {
      // Delimiters inside a link's text do not pair beyond it.
      pairUp(stack.splice(links.pop() as number), pairs, lengths);
    }
  }
  pairUp(stack, pairs, lengths);
  return pairs;
}

function pairUp(entries: Entry[], pairs: Set<string>, lengths: "whole" | "left"): void {
  for (let at = 0; at < entries.length; at += 1) {
    const closer = entries[at] as Entry;
    while (closer.run.closes && closer.left > 0) {
      const from = openerBefore(entries, at, lengths);
      if (from < 0) break;
      const opener = entries[from] as Entry;
      const size = closer.left >= 2 && opener.left >= 2 ? 2 : 1;
      pairs.add(`${opener.run.at}:${closer.run.at}:${size}`);
      opener.left -= size;
      closer.left -= size;
      // Runs between the two can no longer pair with anything.
      for (let between = from + 1; between < at; between += 1) (entries[between] as Entry).left = 0;
    }
  }
}

function openerBefore(entries: readonly Entry[], at: number, lengths: "whole" | "left"): number {
  const closer = entries[at] as Entry;
  for (let index = at - 1; index >= 0; index -= 1) {
    const opener = entries[index] as Entry;
    const isOpener = opener.left > 0 && opener.run.opens && opener.run.character === closer.run.character;
    if (isOpener && fits(opener, closer, lengths)) return index;
  }
  return -1;
}

/** The rule of three: if one run can both open and close, lengths that sum to a multiple of three do not pair. */
function fits(opener: Entry, closer: Entry, lengths: "whole" | "left"): boolean {
  if (opener.run.character === "~") return opener.left === closer.left;
  if (!opener.run.closes && !closer.run.opens) return true;
  const [first, second] = lengths === "left" ? [opener.left, closer.left] : [opener.run.length, closer.run.length];
  return (first + second) % 3 !== 0 || (first % 3 === 0 && second % 3 === 0);
}

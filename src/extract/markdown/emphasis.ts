/**
 * Chooses the syntax of each mark: CommonMark delimiters where they parse back as intended, else inline HTML tags.
 * Whether asterisks open or close depends on the surrounding characters.
 */
import { firstCharacter, isPunctuation, isSpaceCharacter, isSurelyPunctuation, lastCharacter } from "./characters.ts";
import { type Run, matchDelimiters } from "./delimiters.ts";
import type { MarkKind, Token } from "./tokens.ts";

const DELIMITERS: Partial<Record<MarkKind, string>> = { em: "*", strong: "**", del: "~~" };
/** With more pairs in a paragraph, all are written as HTML to bound the time. */
const MAX_PAIRS = 500;
const MAX_ROUNDS = 8;

interface Pair {
  from: number;
  to: number;
  kind: MarkKind;
  html: boolean;
}

/** The text of each token that opens or closes a mark, by index; without links. */
export function chooseMarks(tokens: readonly Token[]): Map<number, string> {
  const pairs = pairsOf(tokens);
  const delimited = pairs.filter((pair) => DELIMITERS[pair.kind] !== undefined);
  if (delimited.length > MAX_PAIRS) for (const pair of delimited) pair.html = true;
  for (let round = 0; replaceUnreadable(tokens, pairs); round += 1)
    if (round === MAX_ROUNDS) for (const pair of pairs) pair.html = true;
  const marks = new Map<number, string>();
  for (const { from, to, kind, html } of pairs) {
    const delimiter = html ? undefined : DELIMITERS[kind];
    marks.set(from, delimiter ?? `<${kind}>`);
    marks.set(to, delimiter ?? `</${kind}>`);
  }
  return marks;
}

function pairsOf(tokens: readonly Token[]): Pair[] {
  const pairs: Pair[] = [];
  const open: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind === "open") open.push(index);
    else if (token.kind === "close") {
      const from = open.pop() as number;
      const { kind } = token.mark;
      if (kind !== "link") pairs.push({ from, to: index, kind, html: DELIMITERS[kind] === undefined });
    }
  }
  return pairs;
}

/** True: some marks changed to HTML, which affects the neighbours of others. */
function replaceUnreadable(tokens: readonly Token[], pairs: readonly Pair[]): boolean {
  const runs = runsOf(tokens, pairs);
  if (runs.size === 0) return false;
  const readings = [matchDelimiters(tokens, runs, "whole"), matchDelimiters(tokens, runs, "left")];
  let changed = false;
  for (const pair of pairs) {
    if (pair.html) continue;
    const [opening, closing] = [runs.get(pair.from) as Run, runs.get(pair.to) as Run];
    const size = (DELIMITERS[pair.kind] as string).length;
    const name = `${opening.at}:${closing.at}:${size}`;
    if (opening.opensSurely && closing.closesSurely && readings.every((pairsRead) => pairsRead.has(name))) continue;
    pair.html = true;
    changed = true;
  }
  return changed;
}

/** Adjacent delimiters of the same character form one run. */
function runsOf(tokens: readonly Token[], pairs: readonly Pair[]): Map<number, Run> {
  const delimiterAt = new Map<number, string>();
  const htmlAt = new Set<number>();
  for (const { from, to, kind, html } of pairs) {
    for (const index of [from, to]) {
      if (html) htmlAt.add(index);
      else delimiterAt.set(index, DELIMITERS[kind] as string);
    }
  }
  const runs = new Map<number, Run>();
  for (let index = 0; index < tokens.length; index += 1) {
    const delimiter = delimiterAt.get(index);
    if (delimiter === undefined) continue;
    const character = delimiter[0] as string;
    let to = index;
    let length = delimiter.length;
    for (let next = delimiterAt.get(to + 1); next?.startsWith(character) === true; next = delimiterAt.get(to + 1)) {
      to += 1;
      length += next.length;
    }
    const before = edge(tokens, index - 1, delimiterAt, "last");
    const after = edge(tokens, to + 1, delimiterAt, "first");
    const run = { at: index, character, length, ...flanks(before, after) };
    for (; index < to; index += 1) runs.set(index, run);
    runs.set(to, run);
  }
  return runs;
}

function edge(
  tokens: readonly Token[],
  index: number,
  delimiterAt: ReadonlyMap<number, string>,
  side: "first" | "last",
): string {
  const token = tokens[index];
  if (token === undefined) return "";
  const delimiter = delimiterAt.get(index);
  if (delimiter !== undefined) return delimiter[0] as string;
  switch (token.kind) {
    case "break":
      return "\n";
    case "code":
      return "`";
    case "open":
      return token.mark.kind === "link" ? "[" : side === "first" ? "<" : ">";
    case "close":
      return token.mark.kind === "link" ? (side === "first" ? "]" : ")") : side === "first" ? "<" : ">";
    default:
      return side === "first" ? firstCharacter(token.text) : lastCharacter(token.text);
  }
}

type Flanks = Pick<Run, "opens" | "closes" | "opensSurely" | "closesSurely">;

function flanks(before: string, after: string): Flanks {
  const [spaceBefore, spaceAfter] = [isSpaceCharacter(before), isSpaceCharacter(after)];
  const [markBefore, markAfter] = [isPunctuation(before), isPunctuation(after)];
  return {
    opens: !spaceAfter && (!markAfter || spaceBefore || markBefore),
    closes: !spaceBefore && (!markBefore || spaceAfter || markAfter),
    opensSurely: !spaceAfter && (!markAfter || spaceBefore || isSurelyPunctuation(before)),
    closesSurely: !spaceBefore && (!markBefore || spaceAfter || isSurelyPunctuation(after)),
  };
}

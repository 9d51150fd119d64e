/**
 * `**Note:**text` does not parse as strong, because the delimiter has punctuation on one side and a letter on the other.
 * `**Note**:text` does, so punctuation at the edge moves out of the mark.
 */
import { firstCharacter, isPunctuation, isSpaceCharacter, lastCharacter } from "./characters.ts";
import type { Token } from "./tokens.ts";

/** Longer punctuation is not the end of a sentence, and stays. */
const MAX_LENGTH = 3;

export function movePunctuationOut(tokens: Token[]): Token[] {
  let moved = false;
  for (let index = 1; index < tokens.length - 1; index += 1) {
    if (isMark(tokens[index], "open") && movesBefore(tokens, index)) moved = true;
  }
  for (let index = tokens.length - 2; index > 0; index -= 1) {
    if (isMark(tokens[index], "close") && movesAfter(tokens, index)) moved = true;
  }
  return moved ? withoutEmpty(tokens) : tokens;
}

function isMark(token: Token | undefined, kind: "open" | "close"): boolean {
  return token?.kind === kind && token.mark.kind !== "link";
}

function isWord(character: string): boolean {
  return !isSpaceCharacter(character) && !isPunctuation(character);
}

function movesBefore(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1];
  if (before?.kind !== "text" || !isWord(lastCharacter(before.text))) return false;
  let inside = index + 1;
  while (isMark(tokens[inside], "open")) inside += 1;
  const text = tokens[inside];
  if (text?.kind !== "text") return false;
  const edge = /^[\p{P}\p{S}]+/u.exec(text.text)?.[0] ?? "";
  if (edge === "" || edge.length > MAX_LENGTH) return false;
  before.text += edge;
  text.text = text.text.slice(edge.length);
  return true;
}

function movesAfter(tokens: readonly Token[], index: number): boolean {
  const after = tokens[index + 1];
  if (after?.kind !== "text" || !isWord(firstCharacter(after.text))) return false;
  let inside = index - 1;
  while (isMark(tokens[inside], "close")) inside -= 1;
  const text = tokens[inside];
  if (text?.kind !== "text") return false;
  const edge = text.text.slice(-MAX_LENGTH - 2).match(/[\p{P}\p{S}]+$/u)?.[0] ?? "";
  if (edge === "" || edge.length > MAX_LENGTH) return false;
  after.text = edge + after.text;
  text.text = text.text.slice(0, -edge.length);
  return true;
}

/** Drops empty marks and merges adjacent texts. */
function withoutEmpty(tokens: readonly Token[]): Token[] {
  const kept: Token[] = [];
  for (const token of tokens) {
    const last = kept.at(-1);
    if (token.kind === "text" && token.text === "") continue;
    if (token.kind === "close" && last?.kind === "open") kept.pop();
    else if (token.kind === "text" && last?.kind === "text") last.text += token.text;
    else kept.push(token);
  }
  return kept;
}

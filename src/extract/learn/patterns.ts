/** Derives regular expressions for a value within a text, from the text before and after it on every page. */
interface Part {
  before: string;
  value: string;
  after: string;
}

const MAX_CONTEXT = 24;
/** From the narrowest to the widest. */
const SHAPES: readonly [RegExp, string][] = [
  [/^\d+$/, "\\d+"],
  [/^\d{4}-\d{2}-\d{2}$/, "\\d{4}-\\d{2}-\\d{2}"],
  [/^[\d.,]*\d$/, "[\\d.,]*\\d"],
  [/^[\d/.-]*\d$/, "[\\d/.-]*\\d"],
  [/^[\d()+ /.-]*\d$/, "[\\d()+ /.-]*\\d"],
  [/^\p{Sc} ?[\d.,]*\d$/u, "\\p{Sc} ?[\\d.,]*\\d"],
  [/^\S+$/, "\\S+"],
];

export function patternsFor(parts: readonly Part[]): { regex: string; cost: number }[] {
  const before = commonEnd(parts.map((part) => part.before));
  const after = commonStart(parts.map((part) => part.after));
  const values = parts.map((part) => part.value);
  const isAtStart = parts.every((part) => part.before === "");
  const isAtEnd = parts.every((part) => part.after === "");
  const lead = isAtStart ? "^" : escaped(before.slice(-MAX_CONTEXT));
  const hasLead = isAtStart || /[^\s]/.test(before);
  const tail = isAtEnd ? "$" : escaped(after.slice(0, MAX_CONTEXT));
  const hasTail = isAtEnd || /[^\s]/.test(after);
  const list: { regex: string; cost: number }[] = [];
  if (hasLead && hasTail) {
    const stop = isAtEnd ? null : after.trimStart()[0]!;
    // Up to the stop character; a value that contains it needs a lazy match instead.
    const inside = stop === null || values.some((value) => value.includes(stop)) ? ".+?" : `[^${classEscaped(stop)}]+?`;
    list.push({ regex: `${lead}(${inside})${spaced(tail)}`, cost: 1.2 });
    if (!isAtStart && /[^\s]/.test(before)) {
      const word = /[\p{L}\p{N}][^\p{L}\p{N}]*$/u.test(before) ? before : "";
      if (word !== "") list.push({ regex: `${escaped(lastWords(before))}(${inside})${spaced(tail)}`, cost: 1 });
    }
  }
  const shape = SHAPES.find(([test]) => values.every((value) => test.test(value)))?.[1];
  if (shape !== undefined) {
    const length = new Set(values.map((value) => value.length));
    const exact = shape === "\\d+" && length.size === 1 ? `\\d{${[...length][0]}}` : shape;
    if (hasLead) list.push({ regex: `${lead}(${exact})`, cost: 1.2 });
    if (hasTail) list.push({ regex: `(${exact})${spaced(tail)}`, cost: 1.6 });
    if (exact !== "\\S+" && Math.min(...length) >= 4) list.push({ regex: `\\b(${exact})`, cost: 2.4 });
  }
  return list;
}

/** The last two words of a text with what follows them: `Publisher: `. */
function lastWords(text: string): string {
  return /(?:[\p{L}\p{N}]+\s+)?[\p{L}\p{N}]+[^\p{L}\p{N}]*$/u.exec(text)?.[0] ?? text;
}

function spaced(tail: string): string {
  return tail === "$" ? "\\s*$" : tail;
}

function commonEnd(texts: readonly string[]): string {
  const reversed = texts.map((text) => [...text].reverse().join(""));
  return [...commonStart(reversed)].reverse().join("");
}

function commonStart([first = "", ...rest]: readonly string[]): string {
  let length = first.length;
  for (const text of rest) {
    let same = 0;
    while (same < length && text[same] === first[same]) same += 1;
    length = same;
  }
  return first.slice(0, length);
}

function escaped(text: string): string {
  return text
    .replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
    .replaceAll(/\s+/g, "\\s+")
    .replace(/^\\s\+/, "\\s*");
}

function classEscaped(character: string): string {
  return /[\\\]^-]/.test(character) ? `\\${character}` : character;
}

/** Generalizes digits only: `(325) 674-2000` becomes `\\(\\d{3}\\) \\d{3}-\\d{4}`. Null: no common shape. */
export function templateOf(values: readonly string[]): string | null {
  const templates = new Set(
    values.map((value) => escaped(value).replaceAll(/\d+/g, (digits) => `\\d{${digits.length}}`)),
  );
  const [only] = templates;
  return templates.size === 1 && only!.includes("\\d") ? only! : null;
}

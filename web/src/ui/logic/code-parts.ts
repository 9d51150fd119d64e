/** Line breaks of long commands and data: never within an option or a name. */

interface CodePart {
  text: string;
  /** Unbreakable. */
  whole: boolean;
  /** A line may break before it, without a space. */
  joint: boolean;
}

/** About one line of a phone: longer words may break anywhere. */
const LONGEST = 26;
/** Longer texts are not split. */
const MOST_CHARACTERS = 20_000;
/** This much stays with the \ at the end of a line. */
const TAIL = 8;

/** Short quoted text is one word. */
const WORDS = /(?:"[^"]{0,24}"|\S)+|\s+/g;
/** URLs break after their segments; the host stays with its scheme. */
const ADDRESS = /(?:[^/?&=,;]*:\/\/)?[^/?&=,;]*(?:[/?&=,;]+|$)/g;
const NAME = /[^-._]*(?:[-._]+|$)/g;
/** Other words never break by themselves. */
const BREAKS_BY_ITSELF = /[^\w"'{}[\]:,]/;

const plain = (text: string): CodePart => ({ text, whole: false, joint: false });
const whole = (text: string): CodePart => ({ text, whole: true, joint: false });

export function codeParts(text: string): CodePart[] {
  if (text.length > MOST_CHARACTERS) return [plain(text)];
  const parts = text.split("\n").flatMap((line, index) => [...(index === 0 ? [] : [plain("\n")]), ...partsOf(line)]);
  // Merges parts that need no markup.
  return parts.reduce<CodePart[]>((list, part) => {
    const last = list.at(-1);
    if (last === undefined || last.whole || part.whole || part.joint) list.push({ ...part });
    else last.text += part.text;
    return list;
  }, []);
}

function partsOf(line: string): CodePart[] {
  const [, indent = "", middle = "", end = ""] = /^(\s*)(.*?)( \\)?$/.exec(line) ?? [];
  const words = middle.match(WORDS) ?? [];
  const parts = words.flatMap((word) => (word.trim() === "" ? [plain(word)] : piecesOf(word)));
  return withEnd(withIndent(parts, indent), end);
}

/** A word in breakable pieces; a short one is one piece. */
function piecesOf(word: string): CodePart[] {
  const pieces = (word.length > LONGEST ? (word.match(ADDRESS) ?? []) : [word])
    .flatMap((piece) => (piece.length > LONGEST ? (piece.match(NAME) ?? []) : [piece]))
    .filter((piece) => piece !== "");
  return pieces.map((piece, index) => ({
    text: piece,
    whole: piece.length <= LONGEST && BREAKS_BY_ITSELF.test(piece),
    joint: index > 0,
  }));
}

/** Keeps indentation on the line of its text. */
function withIndent([first, ...rest]: CodePart[], indent: string): CodePart[] {
  if (first === undefined) return indent === "" ? [] : [plain(indent)];
  if (indent === "") return [first, ...rest];
  if (indent.length + first.text.length <= LONGEST) return [whole(indent + first.text), ...rest];
  return [whole(indent + first.text.slice(0, 1)), plain(first.text.slice(1)), ...rest];
}

/** Likewise the \ at the end. */
function withEnd(parts: CodePart[], end: string): CodePart[] {
  const last = parts.at(-1);
  if (last === undefined || end === "") return end === "" ? parts : [plain(end)];
  const before = parts.slice(0, -1);
  if (last.text.length + end.length <= LONGEST) return [...before, { ...last, text: last.text + end, whole: true }];
  const cut = last.text.length - TAIL;
  return [...before, { ...last, text: last.text.slice(0, cut), whole: false }, whole(last.text.slice(cut) + end)];
}

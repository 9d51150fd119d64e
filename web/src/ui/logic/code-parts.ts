/** Where lines of commands and data may break that are too long for their box: never within an option or a name. */

interface CodePart {
  text: string;
  /** It is shown in one line. */
  whole: boolean;
  /** A line may end before it, although there is no space. */
  joint: boolean;
}

/** About what a line of a phone holds: what is longer may break anywhere. */
const LONGEST = 26;
/** Longer texts are shown as they come. */
const MOST_CHARACTERS = 20_000;
/** So much stays with the \ at the end of a line. */
const TAIL = 8;

/** What stands between quotes is one word, if it is short. */
const WORDS = /(?:"[^"]{0,24}"|\S)+|\s+/g;
/** Addresses break behind their parts; the name of a host stays with what is before it. */
const ADDRESS = /(?:[^/?&=,;]*:\/\/)?[^/?&=,;]*(?:[/?&=,;]+|$)/g;
const NAME = /[^-._]*(?:[-._]+|$)/g;
/** Within others no line breaks by itself. */
const BREAKS_BY_ITSELF = /[^\w"'{}[\]:,]/;

const plain = (text: string): CodePart => ({ text, whole: false, joint: false });
const whole = (text: string): CodePart => ({ text, whole: true, joint: false });

export function codeParts(text: string): CodePart[] {
  if (text.length > MOST_CHARACTERS) return [plain(text)];
  const parts = text.split("\n").flatMap((line, index) => [...(index === 0 ? [] : [plain("\n")]), ...partsOf(line)]);
  // What needs no care is one text.
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

/** A word in pieces between which a line may break; a short one is one. */
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

/** The spaces that a line begins with do not stand in a line alone. */
function withIndent([first, ...rest]: CodePart[], indent: string): CodePart[] {
  if (first === undefined) return indent === "" ? [] : [plain(indent)];
  if (indent === "") return [first, ...rest];
  if (indent.length + first.text.length <= LONGEST) return [whole(indent + first.text), ...rest];
  return [whole(indent + first.text.slice(0, 1)), plain(first.text.slice(1)), ...rest];
}

/** Nor does the \ that it ends with. */
function withEnd(parts: CodePart[], end: string): CodePart[] {
  const last = parts.at(-1);
  if (last === undefined || end === "") return end === "" ? parts : [plain(end)];
  const before = parts.slice(0, -1);
  if (last.text.length + end.length <= LONGEST) return [...before, { ...last, text: last.text + end, whole: true }];
  const cut = last.text.length - TAIL;
  return [...before, { ...last, text: last.text.slice(0, cut), whole: false }, whole(last.text.slice(cut) + end)];
}

/** The words of an expression: what stands between `${{` and `}}`, cut into tokens, and the tree that is made of them. */

/** Bounds of one expression as it is written. What it may cost when it is evaluated is bounded by `Work`. */
export const EXPRESSION_LIMITS = { length: 2000, nodes: 500, depth: 40 } as const;

/** The one error of expressions, when they are read and when they are evaluated. */
export class ExpressionError extends Error {
  /** Where in the text it is, counted from 0. */
  readonly at: number;
  /** Something that is asked for is not there: what `default()` is for. */
  readonly missing: boolean;

  constructor(message: string, at: number, missing = false) {
    super(`${message} (at character ${at + 1})`);
    this.name = "ExpressionError";
    this.at = at;
    this.missing = missing;
  }
}

export type BinaryOperator = "||" | "&&" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "+" | "-" | "*" | "/" | "%";

/** One step along a path: a key, an entry, or every entry of a list. */
export type PathPart = { key: string; at: number } | { index: Node; at: number } | { each: true; at: number };

export type Node = { at: number } & (
  | { kind: "value"; value: string | number | boolean | null }
  | { kind: "list"; items: Node[] }
  | { kind: "path"; root: string | Node; parts: PathPart[] }
  | { kind: "not" | "minus"; of: Node }
  | { kind: "binary"; operator: BinaryOperator; left: Node; right: Node }
  | { kind: "choice"; condition: Node; yes: Node; no: Node }
  | { kind: "call"; name: string; args: Node[] }
);

export type Token = { at: number } & (
  | { kind: "number"; value: number }
  | { kind: "text"; value: string }
  | { kind: "name"; value: string }
  | { kind: "sign"; value: string }
  | { kind: "end"; value: "" }
);

const SPACE = /\s*/y;
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const SIGN = /&&|\|\||==|!=|<=|>=|[<>!+\-*/%?:.,()[\]]/y;
/** Those of JSON, and the single quote. */
const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  "\\": "\\",
  "/": "/",
  '"': '"',
  "'": "'",
};
const UNICODE = /u([0-9a-fA-F]{4})/y;

/** Reads tokens from `start` to `}}`, or to the end of the text where no braces are around the expression. */
export function tokensOf(text: string, start: number, braces: boolean): { tokens: Token[]; end: number } {
  const tokens: Token[] = [];
  let at = start;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  for (;;) {
    take(SPACE);
    if (at - start > EXPRESSION_LIMITS.length) {
      throw new ExpressionError(`an expression has at most ${EXPRESSION_LIMITS.length} characters`, start);
    }
    const from = at;
    if (at >= text.length) {
      if (braces) throw new ExpressionError('"${{" has no "}}"', start);
      tokens.push({ kind: "end", value: "", at });
      return { tokens, end: at };
    }
    if (braces && text.startsWith("}}", at)) {
      tokens.push({ kind: "end", value: "", at });
      return { tokens, end: at + 2 };
    }
    const quote = text[at] ?? "";
    if (quote === '"' || quote === "'") {
      const value = readText(text, at, quote);
      at = value.end;
      tokens.push({ kind: "text", value: value.text, at: from });
      continue;
    }
    const number = take(NUMBER);
    if (number !== undefined) {
      const value = Number(number);
      if (!Number.isFinite(value)) throw new ExpressionError(`${number.slice(0, 40)} is too large`, from);
      tokens.push({ kind: "number", value, at: from });
      continue;
    }
    const name = take(NAME);
    if (name !== undefined) {
      tokens.push({ kind: "name", value: name, at: from });
      continue;
    }
    const sign = take(SIGN);
    if (sign === undefined) throw new ExpressionError(`${JSON.stringify(text[at])} is not allowed here`, at);
    tokens.push({ kind: "sign", value: sign, at: from });
  }
}

function readText(text: string, start: number, quote: string): { text: string; end: number } {
  const limit = Math.min(text.length, start + EXPRESSION_LIMITS.length + 1);
  let value = "";
  for (let at = start + 1; at < limit; at += 1) {
    const char = text[at] ?? "";
    if (char === quote) return { text: value, end: at + 1 };
    if (char !== "\\") {
      value += char;
      continue;
    }
    at += 1;
    UNICODE.lastIndex = at;
    const unit = UNICODE.exec(text)?.[1];
    const escape = unit === undefined ? ESCAPES[text[at] ?? ""] : String.fromCharCode(Number.parseInt(unit, 16));
    if (escape === undefined) {
      throw new ExpressionError(
        `a backslash must be followed by one of n t r b f \\ / " ' or u and four hex digits`,
        at - 1,
      );
    }
    if (unit !== undefined) at += 4;
    value += escape;
  }
  throw new ExpressionError("a string has no closing quote", start);
}

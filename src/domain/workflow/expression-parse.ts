/** Tokens become a tree: the usual operators with the usual precedence, paths, a list and a few functions. */
import { suggest } from "../text/suggest.ts";
import {
  type BinaryOperator,
  EXPRESSION_LIMITS,
  ExpressionError,
  type Node,
  type PathPart,
  type Token,
  tokensOf,
} from "./expression-syntax.ts";

/** Every function with the number of its arguments. */
export const FUNCTIONS = { size: 1, default: 2, contains: 2, startsWith: 2, endsWith: 2, join: 2 } as const;
export type FunctionName = keyof typeof FUNCTIONS;

const PRECEDENCE: Readonly<Record<string, number>> = {
  "||": 1,
  "&&": 2,
  "==": 3,
  "!=": 3,
  "<": 3,
  "<=": 3,
  ">": 3,
  ">=": 3,
  in: 3,
  "+": 4,
  "-": 4,
  "*": 5,
  "/": 5,
  "%": 5,
};
const COMPARISON = 3;
const CONSTANTS = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** An expression without braces, as `when` takes it. */
export function parseExpression(text: string): Node {
  return new Parser(tokensOf(text, 0, false).tokens).whole();
}

/** The expression that begins at `start`, behind `${{`; `end` is behind its `}}`. */
export function parseInBraces(text: string, start: number): { node: Node; end: number } {
  const { tokens, end } = tokensOf(text, start, true);
  return { node: new Parser(tokens).whole(), end };
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #nodes = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Node {
    const node = this.#expression();
    const rest = this.#peek();
    if (rest.kind !== "end") {
      throw new ExpressionError(`expected an operator or the end, got ${shown(rest)}`, rest.at);
    }
    return node;
  }

  /** Recursion goes through here alone, so its depth is bounded here alone. */
  #expression(): Node {
    this.#depth += 1;
    if (this.#depth > EXPRESSION_LIMITS.depth) {
      throw new ExpressionError(`is nested more than ${EXPRESSION_LIMITS.depth} levels deep`, this.#peek().at);
    }
    const condition = this.#binary(1);
    const sign = this.#peek();
    let node = condition;
    if (this.#takes("?")) {
      const yes = this.#expression();
      this.#expect(":");
      node = this.#node({ kind: "choice", condition, yes, no: this.#expression(), at: sign.at });
    }
    this.#depth -= 1;
    return node;
  }

  #binary(least: number): Node {
    let left = this.#unary();
    let compared = false;
    for (;;) {
      const token = this.#peek();
      const precedence = token.kind === "sign" || token.kind === "name" ? PRECEDENCE[token.value] : undefined;
      if (precedence === undefined || precedence < least) return left;
      if (precedence === COMPARISON && compared) {
        throw new ExpressionError("comparisons cannot be chained: write a < b && b < c", token.at);
      }
      compared = precedence === COMPARISON;
      this.#next += 1;
      const right = this.#binary(precedence + 1);
      left = this.#node({ kind: "binary", operator: token.value as BinaryOperator, left, right, at: token.at });
    }
  }

  #unary(): Node {
    const signs: Token[] = [];
    for (let token = this.#peek(); this.#takes("!") || this.#takes("-"); token = this.#peek()) signs.push(token);
    let node = this.#path();
    for (const { value, at } of signs.toReversed()) {
      node = this.#node({ kind: value === "!" ? "not" : "minus", of: node, at });
    }
    return node;
  }

  #path(): Node {
    const first = this.#primary();
    const parts: PathPart[] = first.kind === "path" ? first.parts : [];
    const before = parts.length;
    for (let { at } = this.#peek(); ; { at } = this.#peek()) {
      if (this.#takes(".")) {
        const name = this.#peek();
        if (name.kind !== "name")
          throw new ExpressionError(`expected a name after the dot, got ${shown(name)}`, name.at);
        this.#next += 1;
        parts.push({ key: name.value, at: name.at });
      } else if (this.#takes("[")) {
        parts.push(this.#bracket(at));
      } else {
        break;
      }
      this.#count(at);
    }
    if (parts.length === before || first.kind === "path") return first;
    return { kind: "path", root: first, parts, at: first.at };
  }

  #bracket(at: number): PathPart {
    if (this.#takes("*")) {
      this.#expect("]");
      return { each: true, at };
    }
    const index = this.#expression();
    this.#expect("]");
    return index.kind === "value" && typeof index.value === "string" ? { key: index.value, at } : { index, at };
  }

  #primary(): Node {
    const token = this.#peek();
    this.#next += 1;
    const { at } = token;
    if (token.kind === "number" || token.kind === "text") return this.#node({ kind: "value", value: token.value, at });
    if (token.kind === "name" && token.value !== "in") return this.#named(token.value, at);
    if (token.value === "(" && token.kind === "sign") {
      const inner = this.#expression();
      this.#expect(")");
      // A path in parentheses ends there: what follows is a path on its value.
      return inner.kind === "path" ? { kind: "path", root: inner, parts: [], at } : inner;
    }
    if (token.value === "[" && token.kind === "sign") {
      return this.#node({ kind: "list", items: this.#listUntil("]"), at });
    }
    this.#next -= 1;
    throw new ExpressionError(`expected a value, got ${shown(token)}`, at);
  }

  #named(name: string, at: number): Node {
    const constant = CONSTANTS.get(name);
    if (constant !== undefined) return this.#node({ kind: "value", value: constant, at });
    if (!this.#takes("(")) return this.#node({ kind: "path", root: name, parts: [], at });
    const args = this.#listUntil(")");
    if (!Object.hasOwn(FUNCTIONS, name)) {
      const near = suggest(name.slice(0, 100), Object.keys(FUNCTIONS));
      const known = `there are ${Object.keys(FUNCTIONS).join(", ")}`;
      throw new ExpressionError(
        `unknown function ${name}()${near === undefined ? `; ${known}` : `, did you mean ${near}()?`}`,
        at,
      );
    }
    const wanted = FUNCTIONS[name as FunctionName];
    if (args.length !== wanted) {
      const words = wanted === 1 ? "one argument" : `${wanted} arguments`;
      throw new ExpressionError(`${name}() takes ${words}, got ${args.length}`, at);
    }
    return this.#node({ kind: "call", name, args, at });
  }

  #listUntil(close: string): Node[] {
    const items: Node[] = [];
    if (this.#takes(close)) return items;
    do items.push(this.#expression());
    while (this.#takes(","));
    this.#expect(close);
    return items;
  }

  #peek(): Token {
    // The last token is the end, and nothing steps behind it.
    return this.#tokens[this.#next] as Token;
  }

  #takes(sign: string): boolean {
    const token = this.#peek();
    if (token.kind !== "sign" || token.value !== sign) return false;
    this.#next += 1;
    return true;
  }

  #expect(sign: string): void {
    const token = this.#peek();
    if (!this.#takes(sign)) throw new ExpressionError(`expected "${sign}", got ${shown(token)}`, token.at);
  }

  #node(node: Node): Node {
    this.#count(node.at);
    return node;
  }

  #count(at: number): void {
    this.#nodes += 1;
    if (this.#nodes > EXPRESSION_LIMITS.nodes) throw new ExpressionError("has too many parts", at);
  }
}

function shown(token: Token): string {
  if (token.kind === "end") return "the end";
  return token.kind === "text" ? "a string" : `"${String(token.value).slice(0, 40)}"`;
}

/**
 * Evaluates an expression on plain data. It runs on the main thread, so the amount of work is bounded for any expression
 * and any data. Only own keys of objects are visible.
 */
import type { JsonValue } from "../lane/queue-item.ts";
import { suggest } from "../text/suggest.ts";
import type { FunctionName } from "./expression-parse.ts";
import { ExpressionError, type Node, type PathPart } from "./expression-syntax.ts";
import {
  calculate,
  compare,
  equal,
  includes,
  isIn,
  joined,
  number,
  shown,
  sizeOf,
  sum,
  text,
  truth,
  typeOf,
  type Work,
} from "./expression-values.ts";

/** What expressions can name. `item` and `index` are there for one entry of a `for_each` alone. */
export interface ExpressionScope {
  readonly params: Readonly<Record<string, JsonValue>>;
  readonly steps: Readonly<Record<string, { readonly output: JsonValue }>>;
  readonly item?: JsonValue;
  readonly index?: number;
}

export function evaluate(node: Node, scope: ExpressionScope, work: Work): JsonValue {
  work.spend(1, node.at);
  switch (node.kind) {
    case "value":
      return node.value;
    case "list":
      return node.items.map((item) => evaluate(item, scope, work));
    case "path": {
      const root = typeof node.root === "string" ? named(node.root, scope, node.at) : evaluate(node.root, scope, work);
      return follow(root, node, 0, false, scope, work);
    }
    case "not":
      return !truth(evaluate(node.of, scope, work), node.at);
    case "minus":
      return 0 - number(evaluate(node.of, scope, work), node.at);
    case "choice":
      return evaluate(truth(evaluate(node.condition, scope, work), node.at) ? node.yes : node.no, scope, work);
    case "binary":
      return binary(node, scope, work);
    case "call":
      return call(node, scope, work);
  }
}

function named(name: string, scope: ExpressionScope, at: number): JsonValue {
  const value = Object.hasOwn(scope, name) ? scope[name as keyof ExpressionScope] : undefined;
  if (value === undefined) throw new ExpressionError(`"${name}" is not available here`, at, true);
  return value as JsonValue;
}

type PathNode = Extract<Node, { kind: "path" }>;

/** `each`: behind a `[*]`, where an entry without the key gives null instead of a mistake. */
function follow(
  value: JsonValue,
  node: PathNode,
  from: number,
  each: boolean,
  scope: ExpressionScope,
  work: Work,
): JsonValue {
  let current = value;
  for (let next = from; next < node.parts.length; next += 1) {
    const part = node.parts[next] as PathPart;
    work.spend(1, part.at);
    if ("each" in part) {
      if (each && current === null) return null;
      if (!Array.isArray(current)) throw new ExpressionError(`[*] needs a list, got ${typeOf(current)}`, part.at);
      return current.map((entry) => follow(entry, node, next + 1, true, scope, work));
    }
    const key = "key" in part ? part.key : evaluate(part.index, scope, work);
    const inner = memberOf(current, key, part.at, each);
    if (inner === null && each) return null;
    current = inner;
  }
  return current;
}

function memberOf(value: JsonValue, key: JsonValue, at: number, each: boolean): JsonValue {
  if (Array.isArray(value)) {
    if (typeof key !== "number" || !Number.isInteger(key)) {
      throw new ExpressionError(`a list has entries 0 to ${value.length - 1}, or [*] for all; got ${shown(key)}`, at);
    }
    // Counted from the end when it is negative.
    const entry = value.at(key);
    if (entry !== undefined) return entry;
    if (each) return null;
    throw new ExpressionError(`there is no entry ${key}: the list has ${value.length}`, at, true);
  }
  if (typeof value === "object" && value !== null) {
    if (typeof key !== "string") throw new ExpressionError(`an object has keys, got ${shown(key)}`, at);
    const inner = Object.hasOwn(value, key) ? value[key] : undefined;
    if (inner !== undefined) return inner;
    if (each) return null;
    const keys = Object.keys(value).slice(0, 100);
    const near = suggest(key.slice(0, 100), keys);
    const hint = near === undefined ? "" : `, did you mean "${near}"?`;
    throw new ExpressionError(`there is no "${key.slice(0, 100)}"${hint}`, at, true);
  }
  if (value === null && each) return null;
  throw new ExpressionError(`${typeOf(value)} has no ${shown(key)}`, at, value === null);
}

function binary(node: Extract<Node, { kind: "binary" }>, scope: ExpressionScope, work: Work): JsonValue {
  const { operator, at } = node;
  const left = evaluate(node.left, scope, work);
  if (operator === "&&" || operator === "||") {
    if (truth(left, at) === (operator === "||")) return left;
    return truth(evaluate(node.right, scope, work), at);
  }
  const right = evaluate(node.right, scope, work);
  switch (operator) {
    case "==":
      return equal(left, right, at, work);
    case "!=":
      return !equal(left, right, at, work);
    case "in":
      return isIn(left, right, at, work);
    case "+":
      return sum(left, right, at, work);
    case "<":
    case "<=":
    case ">":
    case ">=":
      return compare(operator, left, right, at, work);
    default:
      return calculate(operator, number(left, at), number(right, at), at);
  }
}

function call(node: Extract<Node, { kind: "call" }>, scope: ExpressionScope, work: Work): JsonValue {
  const { at } = node;
  const [first, second] = node.args as [Node, Node];
  const name = node.name as FunctionName;
  if (name === "default") {
    const value = valueIfThere(first, scope, work);
    return value ?? evaluate(second, scope, work);
  }
  const subject = evaluate(first, scope, work);
  if (name === "size") return sizeOf(subject, at, work);
  const other = evaluate(second, scope, work);
  if (name === "contains" && Array.isArray(subject)) return isIn(other, subject, at, work);
  if (name === "join") return joined(subject, text(other, "join()", at), at, work);
  const [hay, needle] = [text(subject, `${name}()`, at), text(other, `${name}()`, at)];
  if (name === "startsWith") return hay.startsWith(needle);
  if (name === "endsWith") return hay.endsWith(needle);
  return includes(hay, needle, at, work);
}

function valueIfThere(node: Node, scope: ExpressionScope, work: Work): JsonValue {
  try {
    return evaluate(node, scope, work);
  } catch (error) {
    if (error instanceof ExpressionError && error.missing) return null;
    throw error;
  }
}

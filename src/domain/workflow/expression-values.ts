/** What the operators and functions of expressions do with plain data, and what that costs. */
import type { JsonValue } from "../lane/queue-item.ts";
import { type BinaryOperator, ExpressionError } from "./expression-syntax.ts";

/** Some tens of milliseconds. A path over a list of 100,000 entries takes a fifth of it. */
const MOST_WORK = 1_000_000;
/** A comparison of so many characters is one piece of work. */
const CHARACTERS = 64;

/** The work of all expressions that are evaluated together, such as those in the params of one step. */
export class Work {
  #left: number;

  constructor(limit = MOST_WORK) {
    this.#left = limit;
  }

  spend(amount: number, at: number): void {
    this.#left -= amount;
    if (this.#left < 0) throw new ExpressionError("needs too much computation", at);
  }

  spendOnText(length: number, at: number): void {
    this.spend(length / CHARACTERS, at);
  }

  /** Pays for every value in it, and for its texts by their length. */
  spendOn(value: JsonValue, at: number, depth = 0): void {
    this.spend(1 + (typeof value === "string" ? value.length / CHARACTERS : 0), at);
    if (typeof value !== "object" || value === null) return;
    assertDepth(depth, at);
    for (const inner of Array.isArray(value) ? value : Object.values(value)) this.spendOn(inner, at, depth + 1);
  }
}

/** Deeper data would be a danger to the stack. */
const MOST_LEVELS = 200;

function assertDepth(depth: number, at: number): void {
  if (depth > MOST_LEVELS) throw new ExpressionError(`the data is nested more than ${MOST_LEVELS} levels deep`, at);
}

export function calculate(operator: BinaryOperator, left: number, right: number, at: number): number {
  if (right === 0 && operator !== "-" && operator !== "*") throw new ExpressionError("division by zero", at);
  const result =
    operator === "-" ? left - right : operator === "*" ? left * right : operator === "/" ? left / right : left % right;
  if (!Number.isFinite(result)) throw new ExpressionError("the result is too large", at);
  // No -0, which would not survive the way through JSON.
  return result + 0;
}

export function sum(left: JsonValue, right: JsonValue, at: number, work: Work): JsonValue {
  if (typeof left === "number" && typeof right === "number") {
    if (!Number.isFinite(left + right)) throw new ExpressionError("the result is too large", at);
    return left + right;
  }
  if (typeof left === "string" && typeof right === "string") {
    work.spendOnText(left.length + right.length, at);
    return left + right;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    work.spend(left.length + right.length, at);
    return [...left, ...right];
  }
  const types = `${typeOf(left)} and ${typeOf(right)}`;
  throw new ExpressionError(`+ adds two numbers, two strings or two lists, got ${types}`, at);
}

export function compare(
  operator: "<" | "<=" | ">" | ">=",
  left: JsonValue,
  right: JsonValue,
  at: number,
  work: Work,
): boolean {
  if (typeof left === "string" && typeof right === "string") {
    work.spendOnText(Math.min(left.length, right.length), at);
  } else if (typeof left !== "number" || typeof right !== "number") {
    const types = `${typeOf(left)} and ${typeOf(right)}`;
    throw new ExpressionError(`${operator} compares two numbers or two strings, got ${types}`, at);
  }
  if (operator === "<") return left < right;
  if (operator === "<=") return left <= right;
  return operator === ">" ? left > right : left >= right;
}

export function equal(left: JsonValue, right: JsonValue, at: number, work: Work, depth = 0): boolean {
  work.spend(1, at);
  assertDepth(depth, at);
  if (typeof left === "string" && typeof right === "string") {
    work.spendOnText(Math.min(left.length, right.length), at);
    return left === right;
  }
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return left === right;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((entry, index) => equal(entry, right[index] as JsonValue, at, work, depth + 1));
  }
  const keys = Object.keys(left);
  work.spend(keys.length, at);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) => Object.hasOwn(right, key) && equal(left[key] as JsonValue, right[key] as JsonValue, at, work, depth + 1),
  );
}

export function isIn(needle: JsonValue, hay: JsonValue, at: number, work: Work): boolean {
  if (Array.isArray(hay)) return hay.some((entry) => equal(entry, needle, at, work));
  if (typeof hay === "object" && hay !== null) return typeof needle === "string" && Object.hasOwn(hay, needle);
  throw new ExpressionError(`in needs a list or an object on the right, got ${typeOf(hay)}`, at);
}

export function includes(hay: string, needle: string, at: number, work: Work): boolean {
  // At worst each character of one is compared with each of the other.
  work.spendOnText((hay.length * Math.max(1, needle.length)) / CHARACTERS, at);
  return hay.includes(needle);
}

export function joined(list: JsonValue, between: string, at: number, work: Work): string {
  if (!Array.isArray(list)) throw new ExpressionError(`join() needs a list, got ${typeOf(list)}`, at);
  work.spendOnText(list.length * between.length, at);
  return list.map((entry) => asText(entry, at, work)).join(between);
}

export function sizeOf(value: JsonValue, at: number, work: Work): number {
  if (Array.isArray(value)) return value.length;
  if (typeof value === "string") return value.length;
  if (typeof value === "object" && value !== null) {
    const { length } = Object.keys(value);
    work.spend(length, at);
    return length;
  }
  throw new ExpressionError(`size() needs a string, a list or an object, got ${typeOf(value)}`, at);
}

/** A value inside a longer text: texts as they are, null as nothing, lists and objects as JSON. */
export function asText(value: JsonValue, at: number, work: Work): string {
  work.spendOn(value, at);
  if (typeof value === "string") return value;
  return value === null ? "" : JSON.stringify(value);
}

export function truth(value: JsonValue, at: number): boolean {
  if (typeof value === "boolean") return value;
  throw new ExpressionError(`expected true or false, got ${typeOf(value)}: use a comparison`, at);
}

export function number(value: JsonValue, at: number): number {
  if (typeof value === "number") return value;
  throw new ExpressionError(`expected a number, got ${typeOf(value)}`, at);
}

export function text(value: JsonValue, where: string, at: number): string {
  if (typeof value === "string") return value;
  throw new ExpressionError(`${where} needs strings, got ${typeOf(value)}`, at);
}

export function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : typeof value === "string" ? "a string" : `a ${typeof value}`;
}

export function shown(key: JsonValue): string {
  return typeof key === "string" ? `"${key.slice(0, 100)}"` : typeof key === "number" ? `[${key}]` : typeOf(key);
}

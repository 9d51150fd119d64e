/**
 * Where expressions stand in a definition: in params as `${{ … }}`, and in `when`, where the braces may be left out. A
 * text that is one expression becomes its value, whatever that is; inside a longer text the value becomes text.
 */
import type { JsonValue } from "../lane/queue-item.ts";
import { evaluate, type ExpressionScope } from "./expression-evaluate.ts";
import { parseExpression, parseInBraces } from "./expression-parse.ts";
import { ExpressionError, type Node } from "./expression-syntax.ts";
import { asText, truth, Work } from "./expression-values.ts";

const OPEN = "${{";

/** A text with expressions in it: pieces of text and expressions in turn; `whole` when it is nothing but one expression. */
export interface Template {
  whole: Node | null;
  parts: readonly (string | Node)[];
}

/** null: there is no expression in it. Throws an ExpressionError. */
export function compileTemplate(text: string): Template | null {
  if (!text.includes(OPEN)) return null;
  const parts: (string | Node)[] = [];
  let at = 0;
  for (let open = text.indexOf(OPEN); open !== -1; open = text.indexOf(OPEN, at)) {
    if (open > at) parts.push(text.slice(at, open));
    const { node, end } = parseInBraces(text, open + OPEN.length);
    parts.push(node);
    at = end;
  }
  if (at < text.length) parts.push(text.slice(at));
  // Space around it does not make a value a text: block texts of YAML end with a line end.
  const solid = parts.filter((part) => typeof part !== "string" || part.trim() !== "");
  const [only] = solid;
  return { whole: solid.length === 1 && typeof only === "object" ? only : null, parts };
}

/** `when` takes an expression with or without braces. Throws an ExpressionError. */
export function compileWhen(text: string): Node {
  const template = compileTemplate(text);
  if (template === null) return parseExpression(text);
  if (template.whole === null) throw new ExpressionError("expected one expression and nothing else", 0);
  return template.whole;
}

/** Whether the step runs. Throws an ExpressionError. */
export function isTrue(when: string, scope: ExpressionScope): boolean {
  const node = compileWhen(when);
  return truth(evaluate(node, scope, new Work()), node.at);
}

/** An expression that went wrong, with the place in the params where it stands. */
export class ResolveError extends Error {
  /** `params.urls[2]`. */
  readonly path: string;

  constructor(path: string, cause: ExpressionError) {
    super(`${path}: ${cause.message}`, { cause });
    this.name = "ResolveError";
    this.path = path;
  }
}

/** Params with every expression replaced by its value. Throws a ResolveError. */
export function resolveParams(
  params: Readonly<Record<string, JsonValue>>,
  scope: ExpressionScope,
): Record<string, JsonValue> {
  return resolve(params, "params", scope, new Work()) as Record<string, JsonValue>;
}

/** The list that a `for_each` goes through. Throws a ResolveError. */
export function resolveList(list: JsonValue, scope: ExpressionScope): JsonValue[] {
  const path = "for_each.in";
  const value = resolve(list, path, scope, new Work());
  if (!Array.isArray(value)) throw new ResolveError(path, new ExpressionError("does not return a list", 0));
  return value;
}

function resolve(
  value: JsonValue | Readonly<Record<string, JsonValue>>,
  path: string,
  scope: ExpressionScope,
  work: Work,
): JsonValue {
  if (typeof value === "string") {
    try {
      return resolveText(value, scope, work);
    } catch (error) {
      throw error instanceof ExpressionError ? new ResolveError(path, error) : error;
    }
  }
  if (Array.isArray(value)) return value.map((entry, index) => resolve(entry, `${path}[${index}]`, scope, work));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, resolve(inner, `${path}.${key}`, scope, work)]),
  );
}

function resolveText(text: string, scope: ExpressionScope, work: Work): JsonValue {
  const template = compileTemplate(text);
  if (template === null) return text;
  if (template.whole !== null) {
    const value = evaluate(template.whole, scope, work);
    // The same data may be asked for again and again: what comes out is paid for, too.
    work.spendOn(value, template.whole.at);
    return value;
  }
  return template.parts
    .map((part) => (typeof part === "string" ? part : asText(evaluate(part, scope, work), part.at, work)))
    .join("");
}

/** XPath 1.0 on the page tree. */
import { createRequire } from "node:module";
import { suggest } from "../../domain/text/suggest.ts";
import type { Element } from "../dom/nodes.ts";
import { budget } from "./budget.ts";
import { AttributeView, type NodeView, viewOf } from "./xpath-view.ts";

/** An element, or the value of an attribute, a text node or an expression. */
type XPathMatch = { element: Element } | { value: string | number | boolean };

interface XPathQuery {
  select(within: Element, limit: number): XPathMatch[];
}

interface Evaluated {
  toUnsortedArray?(): (NodeView | AttributeView)[];
  /** Exactly one of these is the result's value. */
  num?: number;
  b?: boolean;
  str?: string;
}
interface NodeSet {
  nodes: unknown[];
  size: number;
  tree: unknown;
  addArray(nodes: readonly unknown[]): void;
}
interface Library {
  XNodeSet: { prototype: NodeSet };
  XPathParser: new () => Parser;
  parse(expression: string): { evaluate(options: Record<string, unknown>): Evaluated };
}
interface Parser {
  tokenize(expression: string): [types: number[], values: string[]];
  parse(expression: string): unknown;
}

// The package's types would add the DOM globals to every file of the program.
const library = createRequire(import.meta.url)("xpath") as Library;

// The original compares all pairs of nodes: 5 s for 100,000 links, without spending the budget.
library.XNodeSet.prototype.addArray = function addArray(this: NodeSet, nodes: readonly unknown[]): void {
  budget.spend(this.nodes.length + nodes.length);
  const all = new Set(this.nodes);
  for (const node of nodes) all.add(node);
  this.nodes = [...all];
  this.size = all.size;
  this.tree = null;
};

const MAX_LENGTH = 1000;
/** Characters of an expression in an error message. */
const MOST_SHOWN = 100;
const FUNCTIONS = new Set(
  "last position count id local-name namespace-uri name string concat starts-with contains substring-before substring-after substring string-length normalize-space translate boolean not true false lang number sum floor ceiling round text node comment processing-instruction".split(
    " ",
  ),
);

export function compileXPath(expression: string): XPathQuery {
  if (expression.length > MAX_LENGTH) throw new Error(`is longer than ${MAX_LENGTH} characters`);
  if (expression.trim() === "") throw new Error("must not be empty");
  checkNames(expression);
  const parsed = parse(expression);
  return {
    select(within, limit) {
      const result = parsed.evaluate({
        node: viewOf(within),
        isHtml: !within.document.xml,
        namespaces: (prefix: string) => prefix,
      });
      if (result.toUnsortedArray === undefined) return [{ value: result.num ?? result.b ?? result.str ?? "" }];
      // The library's sort takes seconds for 100,000 nodes.
      const nodes = [...new Set(result.toUnsortedArray())].sort((a, b) => a.order - b.order);
      budget.spend(nodes.length);
      return nodes.slice(0, limit).map(toMatch);
    },
  };
}

function parse(expression: string): ReturnType<Library["parse"]> {
  try {
    return library.parse(expression);
  } catch (error) {
    throw new Error(`invalid XPath ${cut(expression)}: ${problemOf(expression, error)}`, { cause: error });
  }
}

function cut(expression: string): string {
  return expression.length > MOST_SHOWN ? `${expression.slice(0, MOST_SHOWN)}…` : expression;
}

/** The library says only "XPath parse error": parses once more, and notes which token is read last. */
function problemOf(expression: string, error: unknown): string {
  const parser = new library.XPathParser();
  let last = 0;
  let values: string[] = [];
  try {
    const tokens = parser.tokenize(expression);
    values = tokens[1];
    const types = new Proxy(tokens[0], {
      get(target, key) {
        last = Number(key);
        return target[last];
      },
    });
    parser.tokenize = () => [types, values];
    parser.parse(expression);
  } catch (again) {
    // Not even the tokens could be read: a wrong character, or a quote that is not closed.
    if (values.length === 0) return messageOf(again);
  }
  const token = values[last];
  if (token === undefined) return messageOf(error);
  if (last === values.length - 1) return "it ends too early";
  let at = 0;
  for (const before of values.slice(0, last)) at = expression.indexOf(before, at) + before.length;
  return `unexpected "${token}" at character ${expression.indexOf(token, at) + 1}`;
}

/** The library ends the text that it reads with a NUL. */
function messageOf(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).replaceAll("\0", "");
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function toMatch(view: NodeView | AttributeView): XPathMatch {
  if (view instanceof AttributeView) return { value: view.value };
  return view.node.kind === 3 ? { value: view.node.data } : { element: view.node };
}

/** The library reports unknown functions only when it evaluates them. */
function checkNames(expression: string): void {
  const code = expression.replace(/"[^"]*"|'[^']*'/g, "''");
  if (code.includes("$")) throw new Error("variables are not available");
  for (const match of code.matchAll(/([\w.-]+(?::[\w.-]+)?)\s*\(/g)) {
    const name = match[1] as string;
    if (FUNCTIONS.has(name) || ["and", "or", "div", "mod"].includes(name)) continue;
    const near = suggest(name, FUNCTIONS);
    throw new Error(`unknown function "${name}()"${near === undefined ? "" : `, did you mean "${near}()"?`}`);
  }
}

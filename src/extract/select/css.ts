/** CSS selectors on the page tree. */
import { compile, selectAll, type Options } from "css-select";
import { messageOf } from "../../base/errors.ts";
import { type Element, following, type Node } from "../dom/nodes.ts";
import { rawText } from "../dom/text.ts";
import { budget } from "./budget.ts";

export interface CssQuery {
  /** Matches inside an element, in document order. */
  select(within: Element, limit: number): Element[];
}

type Test = (element: Element) => boolean;

function childrenOf(node: Node): Node[] {
  const list: Node[] = [];
  if (node.kind === 1) for (let child = node.first; child !== null; child = child.next) list.push(child);
  budget.spend(list.length + 1);
  return list;
}

/** Cache: `:nth-child` requests the siblings of every sibling in turn. */
let lastParent: Element | null = null;
let lastChildren: Node[] = [];

const adapter: NonNullable<Options<Node, Element>["adapter"]> = {
  isTag: (node): node is Element => {
    budget.spend(1);
    return node.kind === 1;
  },
  getAttributeValue: (element, name) => element.attr(name),
  hasAttrib: (element, name) => element.attr(name) !== undefined,
  getName: (element) => element.tag.name,
  getChildren: childrenOf,
  getParent: (node) => {
    budget.spend(1);
    // The document is not an element: `:root` is the html element.
    return node.parent === node.document.root ? null : node.parent;
  },
  getSiblings: (node) => {
    if (node.parent === null) return [node];
    if (lastParent !== node.parent) {
      lastChildren = childrenOf(node.parent);
      lastParent = node.parent;
    }
    return lastChildren;
  },
  prevElementSibling: (node) => {
    let before = node.prev;
    while (before !== null && before.kind !== 1) before = before.prev;
    budget.spend(1);
    return before;
  },
  getText: (node) => {
    const text = node.kind === 3 ? node.data : rawText(node);
    budget.spend(text.length);
    return text;
  },
  removeSubsets: (nodes) => {
    const set = new Set<Node | null>(nodes);
    return [...set].filter((node): node is Node => {
      for (let up = node?.parent ?? null; up !== null; up = up.parent) if (set.has(up)) return false;
      return node !== null;
    });
  },
};

const SIMPLE = /^([a-zA-Z][\w-]*)?((?:[.#][a-zA-Z_][\w-]*)*)(?:\[([a-zA-Z][\w-]*)\])?$/;
const MAX_LENGTH = 2000;

/** Throws an Error with a message for the user. */
export function compileCss(selector: string): CssQuery {
  if (selector.length > MAX_LENGTH) throw new Error(`is longer than ${MAX_LENGTH} characters`);
  if (selector.trim() === "") throw new Error("must not be empty");
  const simple = SIMPLE.exec(selector.trim());
  if (simple !== null) return new TreeScan(simpleTest(simple), null);
  const options: Options<Node, Element> = { adapter, xmlMode: false };
  budget.reset();
  const test = compileSelector(selector, options);
  if (/:scope\b|(^|,)\s*[>+~]/.test(selector)) return new RelativeQuery(selector);
  return new TreeScan(test, selector);
}

function compileSelector(selector: string, options: Options<Node, Element>): Test {
  try {
    return compile<Node, Element>(selector, options) as Test;
  } catch (error) {
    throw new Error(brokenSelector(messageOf(error)), { cause: error });
  }
}

/** The parser's message ends with the rest of the selector, which is empty at its end. */
function brokenSelector(message: string): string {
  if (/successive traversals/.test(message)) return "invalid selector: two combinators in a row, such as > >";
  const [, expected, found] = /^Expected ([^,]+), found\s?(.*)$/s.exec(message) ?? [];
  if (expected === undefined) return `invalid selector: ${message}`;
  const what = expected === "name" ? "a name" : expected;
  return found === undefined || found === ""
    ? `invalid selector: it ends where ${what} is missing`
    : `invalid selector: ${what} is missing before ${found}`;
}

/** Fast path for a tag, classes, an id and one attribute: nine of ten selectors, in a third of the time. */
function simpleTest(match: RegExpExecArray): Test {
  const [, tag, rest = "", attribute] = match;
  const name = tag?.toLowerCase();
  const classes = [...rest.matchAll(/\.([^.#]+)/g)].map((part) => part[1] as string);
  const ids = [...rest.matchAll(/#([^.#]+)/g)].map((part) => part[1] as string);
  const attributeName = attribute?.toLowerCase();
  return (element) => {
    if (name !== undefined && element.tag.name !== name && element.tag.name.toLowerCase() !== name) return false;
    if (classes.length > 0) {
      const value = element.attr("class");
      if (value === undefined) return false;
      for (const wanted of classes) if (!hasWord(value, wanted)) return false;
    }
    for (const id of ids) if (element.attr("id") !== id) return false;
    return attributeName === undefined || element.attr(attributeName) !== undefined;
  };
}

export function hasWord(list: string, word: string): boolean {
  for (let at = list.indexOf(word); at >= 0; at = list.indexOf(word, at + 1)) {
    const after = at + word.length;
    if ((at === 0 || isGap(list.charCodeAt(at - 1))) && (after === list.length || isGap(list.charCodeAt(after)))) {
      return true;
    }
  }
  return false;
}

function isGap(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

class TreeScan implements CssQuery {
  readonly #test: Test;
  readonly #selector: string | null;
  #xmlTest: Test | null = null;

  constructor(test: Test, selector: string | null) {
    this.#test = test;
    this.#selector = selector;
  }

  select(within: Element, limit: number): Element[] {
    const test = within.document.xml ? this.#forXml() : this.#test;
    const found: Element[] = [];
    lastParent = null;
    // Inlined `elementsBelow` without the cost of a generator: most plans spend their time here.
    for (let node = within.first; node !== null;) {
      if (node.kind === 1) {
        budget.spend(1);
        if (test(node)) {
          found.push(node);
          if (found.length >= limit) break;
        }
      }
      node = (node.kind === 1 ? node.first : null) ?? following(node, within);
    }
    return found;
  }

  /** XML is case-sensitive. */
  #forXml(): Test {
    if (this.#selector === null) return this.#test;
    return (this.#xmlTest ??= compile<Node, Element>(this.#selector, { adapter, xmlMode: true }) as Test);
  }
}

/** `> a` and `:scope > a` depend on the start element. */
class RelativeQuery implements CssQuery {
  readonly #selector: string;

  constructor(selector: string) {
    this.#selector = selector;
  }

  select(within: Element, limit: number): Element[] {
    lastParent = null;
    const options: Options<Node, Element> = { adapter, xmlMode: within.document.xml, context: within };
    return selectAll<Node, Element>(this.#selector, within, options).slice(0, limit);
  }
}

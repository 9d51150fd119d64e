/** JSONPath rules for a value: in a JSON body, in JSON-LD, or in script data. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { isObject } from "../../domain/text/input-reader.ts";
import { squeeze } from "../dom/text.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { JSON_SOURCES } from "../rules/extractors.ts";

export type Segment = string | number;

interface JsonMatch {
  /** A key of JSON_SOURCES. */
  from: string;
  root: JsonValue;
  segments: readonly Segment[];
}

interface JsonRule {
  rule: Record<string, JsonValue>;
  cost: number;
}

const MAX_MATCHES = 12;
const MAX_NODES = 200_000;
/** Data for search engines changes less often than data for the page's scripts. */
const SOURCE_COSTS: Readonly<Record<string, number>> = { body: 0.8, "json-ld": 1.1, "next-data": 2.5, "nuxt-data": 3 };
const LEVEL_COST = 0.15;
const INDEX_COST = 1.2;

export function* jsonRules(facts: PageFacts, value: string, isList: boolean): Generator<JsonRule> {
  for (const match of findInJson(facts, value)) {
    for (const { path, cost } of pathsOf(match, isList)) yield ruleOf(match.from, path, cost);
  }
}

function ruleOf(from: string, jsonpath: string, cost: number): JsonRule {
  const rule = from === "body" ? { jsonpath } : { jsonpath, from };
  return { rule, cost: (SOURCE_COSTS[from] ?? 3) + cost };
}

/** Finds the value as a string or number. */
export function findInJson(facts: PageFacts, value: string): JsonMatch[] {
  const found: JsonMatch[] = [];
  for (const [from, source] of Object.entries(JSON_SOURCES)) {
    for (const root of source(facts)) {
      if (root === undefined) continue;
      for (const segments of pathsTo(root, value)) {
        found.push({ from, root, segments });
        if (found.length >= MAX_MATCHES) return found;
      }
    }
  }
  return found;
}

function* pathsTo(root: JsonValue, value: string): Generator<Segment[]> {
  const pending: { node: JsonValue; segments: Segment[] }[] = [{ node: root, segments: [] }];
  for (let seen = 0; seen < MAX_NODES; seen += 1) {
    const next = pending.pop();
    if (next === undefined) return;
    const { node, segments } = next;
    if (Array.isArray(node)) {
      for (let index = node.length - 1; index >= 0; index -= 1)
        pending.push({ node: node[index]!, segments: [...segments, index] });
    } else if (isObject(node)) {
      for (const [key, child] of Object.entries(node).toReversed())
        pending.push({ node: child as JsonValue, segments: [...segments, key] });
    } else if (node !== null && squeeze(String(node)) === value) yield segments;
  }
}

/** The exact path; one with a type filter instead of an index; and, for lists, with wildcards. */
function* pathsOf({ root, segments }: JsonMatch, isList: boolean): Generator<{ path: string; cost: number }> {
  const levels = segments.length * LEVEL_COST;
  const positions = segments.filter((segment) => typeof segment === "number").length;
  if (isList) {
    const all = segments.map((segment) => (typeof segment === "number" ? "[*]" : key(segment)));
    yield { path: `$${all.join("")}`, cost: levels };
    const last = segments.findLastIndex((segment) => typeof segment === "number");
    const lastOnly = segments.map((segment, index) => (index === last ? "[*]" : key(segment)));
    if (positions > 1) yield { path: `$${lastOnly.join("")}`, cost: levels + (positions - 1) * INDEX_COST };
    return;
  }
  yield { path: jsonPathOf(segments), cost: levels + positions * INDEX_COST };
  const typed = byType(root, segments);
  if (typed !== null) yield { path: typed, cost: levels + 0.2 };
}

/** `$["@graph"][?@["@type"] == "Product"].name`: the order of such a list is arbitrary. */
function byType(root: JsonValue, segments: readonly Segment[]): string | null {
  let node: JsonValue = root;
  let path = "$";
  let typed = 0;
  for (const segment of segments) {
    const child: JsonValue = Array.isArray(node)
      ? node[segment as number]!
      : (node as Record<string, JsonValue>)[segment]!;
    const type = Array.isArray(node) && isObject(child) ? child["@type"] : null;
    if (typeof type === "string") typed += 1;
    path += typeof type === "string" ? `[?@["@type"] == ${JSON.stringify(type)}]` : key(segment);
    node = child;
  }
  return typed > 0 ? path : null;
}

export function jsonPathOf(segments: readonly Segment[]): string {
  return `$${segments.map(key).join("")}`;
}

function key(segment: Segment): string {
  if (typeof segment === "number") return `[${segment}]`;
  return /^[A-Za-z_]\w*$/.test(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
}

/** Finds the list in a JSON response that the page displays. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { isObject } from "./json-body.ts";
import { writePath } from "./path.ts";
import { addWords } from "./words.ts";

export interface FoundItems {
  /** `$.data.products[*]`. */
  path: string;
  /** The first objects that the path matches. */
  samples: Record<string, JsonValue>[];
  count: number;
  /** Words of the page that occur in them. */
  covered: number;
}

interface Coverage {
  /** Words of the page that occur anywhere in the response. */
  covered: number;
  /** The list of objects with the most of them; null: none. */
  items: FoundItems | null;
}

interface List {
  names: string[];
  samples: Record<string, JsonValue>[];
  count: number;
  words: Set<string>;
}

const MAX_VALUES = 200_000;
const MAX_DEPTH = 30;
const MAX_LISTS = 500;
const SAMPLES = 50;
/** The wildcard index in a path; not a realistic JSON key. */
const ANY = "\0";

export function coverageOf(json: JsonValue, visible: ReadonlySet<string>): Coverage {
  const lists = new Map<string, List>();
  const coveredWords = new Set<string>();
  let budget = MAX_VALUES;

  const walk = (value: JsonValue, names: string[], enclosing: readonly List[]): void => {
    budget -= 1;
    if (budget < 0 || names.length > MAX_DEPTH) return;
    if (typeof value === "string" || typeof value === "number") return note(String(value), enclosing);
    if (Array.isArray(value)) {
      const list = value.some(isObject) ? listAt([...names, ANY]) : null;
      const enclosingHere = list === null ? enclosing : [...enclosing, list];
      for (const element of value) {
        if (list !== null && isObject(element)) {
          list.count += 1;
          if (list.samples.length < SAMPLES) list.samples.push(element);
        }
        walk(element, [...names, ANY], enclosingHere);
      }
    } else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) walk(inner, [...names, key], enclosing);
    }
  };
  const note = (text: string, enclosing: readonly List[]) => {
    const words = new Set<string>();
    addWords(text, words);
    for (const word of words) {
      if (!visible.has(word)) continue;
      coveredWords.add(word);
      for (const list of enclosing) list.words.add(word);
    }
  };
  const listAt = (names: string[]): List | null => {
    const key = names.join("\u0001");
    const found = lists.get(key);
    if (found !== undefined || lists.size >= MAX_LISTS) return found ?? null;
    const list = { names, samples: [], count: 0, words: new Set<string>() };
    lists.set(key, list);
    return list;
  };

  walk(json, [], []);
  const best = choose([...lists.values()]);
  return { covered: coveredWords.size, items: best === null ? null : toItems(best) };
}

/** The list with the most words, preferring several items over one; or a longer nested list with nearly all of them. */
function choose(lists: readonly List[]): List | null {
  const weight = (list: List) => list.words.size * (list.count > 1 ? 1 : 0.3);
  let best = lists.toSorted((a, b) => weight(b) - weight(a) || a.names.length - b.names.length)[0] ?? null;
  for (const list of lists) {
    if (best === null || !isWithin(list, best) || list.count <= best.count) continue;
    if (list.words.size >= best.words.size * 0.8) best = list;
  }
  return best === null || best.words.size === 0 ? null : best;
}

function isWithin(inner: List, outer: List): boolean {
  return inner.names.length > outer.names.length && outer.names.every((name, index) => inner.names[index] === name);
}

function toItems(list: List): FoundItems {
  const { count } = list;
  const covered = list.words.size;
  // GraphQL edges: wrappers with only the node and its cursor.
  const nodes = list.samples.map((sample) => sample["node"]);
  if (nodes.every(isObject) && list.samples.every((sample) => Object.keys(sample).length <= 3)) {
    return { path: writePath([...list.names, "node"], ANY), samples: nodes, count, covered };
  }
  return { path: writePath(list.names, ANY), samples: list.samples, count, covered };
}

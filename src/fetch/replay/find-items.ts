/** Where in an answer the list is that the page shows. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { isObject } from "./json-body.ts";
import { writePath } from "./path.ts";
import { addWords } from "./words.ts";

export interface FoundItems {
  /** `$.data.products[*]`. */
  path: string;
  /** Objects of the lists that this path names, the first ones. */
  samples: Record<string, JsonValue>[];
  count: number;
  /** Words of the page that stand in them. */
  covered: number;
}

interface Coverage {
  /** Words of the page that stand anywhere in the answer. */
  covered: number;
  /** The list of objects that has most of them; null when there is none. */
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
/** Stands for an index in a list's names; no key of JSON that anybody writes. */
const ANY = "\0";

export function coverageOf(json: JsonValue, visible: ReadonlySet<string>): Coverage {
  const lists = new Map<string, List>();
  const all = new Set<string>();
  let left = MAX_VALUES;

  const walk = (value: JsonValue, names: string[], around: readonly List[]): void => {
    left -= 1;
    if (left < 0 || names.length > MAX_DEPTH) return;
    if (typeof value === "string" || typeof value === "number") return note(String(value), around);
    if (Array.isArray(value)) {
      const list = value.some(isObject) ? listAt([...names, ANY]) : null;
      const inside = list === null ? around : [...around, list];
      for (const element of value) {
        if (list !== null && isObject(element)) {
          list.count += 1;
          if (list.samples.length < SAMPLES) list.samples.push(element);
        }
        walk(element, [...names, ANY], inside);
      }
    } else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) walk(inner, [...names, key], around);
    }
  };
  const note = (text: string, around: readonly List[]) => {
    const words = new Set<string>();
    addWords(text, words);
    for (const word of words) {
      if (!visible.has(word)) continue;
      all.add(word);
      for (const list of around) list.words.add(word);
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
  return { covered: all.size, items: best === null ? null : toItems(best) };
}

/** Most words, and rather several things than one; a list within it when that holds nearly all and is longer. */
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
  // GraphQL's edges: a wrapper with nothing but the thing itself and its cursor.
  const nodes = list.samples.map((sample) => sample["node"]);
  if (nodes.every(isObject) && list.samples.every((sample) => Object.keys(sample).length <= 3)) {
    return { path: writePath([...list.names, "node"], ANY), samples: nodes, count, covered };
  }
  return { path: writePath(list.names, ANY), samples: list.samples, count, covered };
}

/** Learns item selectors for lists of records, from values that belong together. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Element } from "../dom/nodes.ts";
import { compileItems, Problems } from "../rules/compile.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { findInJson, jsonPathOf, type Segment } from "./json-rules.ts";
import { LabelledPage } from "./labelled-page.ts";
import { learnField, type LearnedRule } from "./learn.ts";
import { findOccurrences, findParts } from "./occurrences.ts";
import { elementsAt, type Path, pathCss, pathsTo } from "./paths.ts";

/** One page and, by field, the values of its first items. */
interface ListPage {
  facts: PageFacts;
  examples: Readonly<Record<string, readonly string[]>>;
}

interface LearnedItems {
  /** The value of `items`. */
  items: Record<string, JsonValue>;
  fields: Readonly<Record<string, LearnedRule[]>>;
}

const MAX_LEVELS = 12;
const MAX_PATHS = 60;

/** Fields with equally many examples form a list of records; several of them, unless a list is asked for. */
export function isListOfItems(pages: readonly ListPage[], isAsked = false): boolean {
  return pages.some(({ examples }) => {
    const counts = Object.values(examples).map((list) => list.length);
    return counts.length > (isAsked ? 0 : 1) && counts[0]! > 1 && counts.every((count) => count === counts[0]);
  });
}

export function learnItems(pages: readonly ListPage[], isAsked = false): LearnedItems | null {
  const lists = pages.filter((page) => isListOfItems([page], isAsked));
  const [first] = lists;
  if (first === undefined) return null;
  if (first.facts.isJson) return jsonItems(lists);
  const labelled = lists.map(({ facts, examples }) => new LabelledPage(facts, examples));
  const containers = labelled.map(containersOf);
  if (containers.some((found) => found === null)) return null;
  let best: LearnedItems | null = null;
  for (const path of itemPaths(labelled[0]!, containers[0]!)) {
    const items = labelled.flatMap((page, index) => itemPages(page, path, containers[index]!) ?? [null]);
    if (items.includes(null)) continue;
    const fields = learnFields(first, items as LabelledPage[]);
    const count = Object.values(fields).filter((rules) => rules.length > 0).length;
    if (best === null || count > learnedCount(best)) best = { items: { css: pathCss(path) }, fields };
    if (count === Object.keys(fields).length) break;
  }
  return best;
}

const learnedCount = ({ fields }: LearnedItems) => Object.values(fields).filter((rules) => rules.length > 0).length;

function learnFields({ examples }: ListPage, items: readonly LabelledPage[]): Record<string, LearnedRule[]> {
  return Object.fromEntries(Object.keys(examples).map((field) => [field, learnField(field, items)]));
}

/** For each item the smallest element that contains all of its values; null: an item has none. */
function containersOf(page: LabelledPage): Element[] | null {
  const fields = Object.values(page.examples);
  const containers: Element[] = [];
  for (let item = 0; item < fields[0]!.length; item += 1) {
    const occurrences = fields.map((values) => elementsWith(page, values[item]!));
    const container = smallestCommonAncestor(occurrences, containers.at(-1) ?? null);
    if (container === null) return null;
    containers.push(container);
  }
  return containers;
}

function elementsWith(page: LabelledPage, value: string): Element[] {
  const exact = findOccurrences(page, value);
  return (exact.length > 0 ? exact : findParts(page, value)).map(({ element }) => element);
}

/** Items follow each other: the container must not include the previous one. */
function smallestCommonAncestor(occurrences: readonly Element[][], before: Element | null): Element | null {
  let best: { element: Element; levels: number } | null = null;
  const [first = [], ...others] = [...occurrences].sort((a, b) => a.length - b.length);
  for (const start of first) {
    let at: Element | null = start;
    for (let levels = 0; at !== null && levels < MAX_LEVELS; levels += 1, at = at.parent) {
      const ancestor = at;
      if (before !== null && isIn(before, ancestor)) break;
      if (best !== null && levels >= best.levels) break;
      if (others.every((elements) => elements.some((element) => isIn(element, ancestor)))) {
        best = { element: ancestor, levels };
        break;
      }
    }
  }
  return best?.element ?? null;
}

function isIn(element: Element, outer: Element): boolean {
  for (let at: Element | null = element; at !== null; at = at.parent) if (at === outer) return true;
  return false;
}

/** Paths to elements around the first item that exclude the second, most robust first. */
function itemPaths(page: LabelledPage, containers: readonly Element[]): Path[] {
  const [first, second] = containers;
  const paths: Path[] = [];
  for (let at: Element | null = first!; at !== null && !isIn(second!, at); at = at.parent)
    paths.push(...pathsTo(at, page.root).filter(({ steps }) => steps.every(({ anchor }) => anchor.nth === null)));
  return paths
    .filter((path) => {
      const found = new Set(elementsAt(page, path));
      return containers.every((container) => itemAround(container, found) !== null);
    })
    .sort((a, b) => a.cost - b.cost)
    .slice(0, MAX_PATHS);
}

/** The item around a container; null: none, or nested items. */
function itemAround(container: Element, items: ReadonlySet<Element>): Element | null {
  let found: Element | null = null;
  for (let at: Element | null = container; at !== null; at = at.parent) {
    if (!items.has(at)) continue;
    if (found !== null) return null;
    found = at;
  }
  return found;
}

/** Each item with its own examples; null: the path does not separate them. */
function itemPages(page: LabelledPage, path: Path, containers: readonly Element[]): LabelledPage[] | null {
  const found = new Set(elementsAt(page, path));
  const items = containers.map((container) => itemAround(container, found));
  if (items.includes(null) || new Set(items).size < items.length) return null;
  const select = compileItems({ css: pathCss(path) }, "items", new Problems());
  const selected = select?.({ facts: page.facts, element: page.root }, found.size + 1) ?? [];
  if (selected.length !== found.size) return null;
  return items.map((item, index) => {
    const examples = Object.entries(page.examples).map(([field, values]) => [field, [values[index]!]] as const);
    return new LabelledPage(page.facts, Object.fromEntries(examples), item!);
  });
}

/** Finds the array whose elements contain the values at the same relative paths. */
function jsonItems(pages: readonly ListPage[]): LearnedItems | null {
  const [{ facts, examples }] = pages as [ListPage];
  const byField = Object.entries(examples).map(
    ([field, values]) => [field, values.map((value) => findInJson(facts, value.trim()))] as const,
  );
  for (const { segments } of byField[0]![1][0]!) {
    for (const [cut, segment] of segments.entries()) {
      if (typeof segment !== "number") continue;
      const start = segments.slice(0, cut);
      const fields: Record<string, LearnedRule[]> = {};
      for (const [field, items] of byField) {
        const rest = sameRest(
          start,
          items.map((occurrences) => occurrences.map((place) => place.segments)),
        );
        if (rest !== null) fields[field] = [{ rule: { jsonpath: jsonPathOf(rest) }, cost: 1 }];
      }
      if (Object.keys(fields).length < byField.length) continue;
      return { items: { jsonpath: `${jsonPathOf(start)}[*]` }, fields };
    }
  }
  return null;
}

/** The common path below the array index, when all items have it at distinct indexes. */
function sameRest(start: readonly Segment[], items: readonly (readonly (readonly Segment[])[])[]): Segment[] | null {
  const below = (segments: readonly Segment[]) =>
    start.every((segment, index) => segments[index] === segment) && typeof segments[start.length] === "number";
  for (const segments of items[0]!.filter(below)) {
    const rest = JSON.stringify(segments.slice(start.length + 1));
    const positions = items.map(
      (occurrences) =>
        occurrences.find((other) => below(other) && JSON.stringify(other.slice(start.length + 1)) === rest)?.[
          start.length
        ],
    );
    if (!positions.includes(undefined) && new Set(positions).size === positions.length)
      return segments.slice(start.length + 1);
  }
  return null;
}

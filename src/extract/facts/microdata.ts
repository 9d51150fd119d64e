/** HTML microdata: items with their types and properties. */
import type { Document, Element } from "../dom/nodes.ts";
import { textOf } from "../dom/text.ts";

export interface MicrodataItem {
  types: string[];
  properties: Map<string, (string | MicrodataItem)[]>;
}

const MAX_ITEMS = 1000;

export function readMicrodata(document: Document): MicrodataItem[] {
  // Most pages have none, and the word is found faster in the text than in the tree.
  if (!/itemscope/i.test(document.source)) return [];
  const top: MicrodataItem[] = [];
  let count = 0;
  const visit = (element: Element, holder: MicrodataItem | null) => {
    for (let node = element.first; node !== null && count < MAX_ITEMS; node = node.next) {
      if (node.kind !== 1) continue;
      const names = node.attr("itemprop");
      const isItem = node.attr("itemscope") !== undefined;
      let inner = holder;
      let value: string | MicrodataItem | null = null;
      if (isItem) {
        count += 1;
        inner = { types: typesOf(node), properties: new Map() };
        value = inner;
        if (names === undefined || holder === null) top.push(inner);
      } else if (names !== undefined) value = valueOf(node);
      if (names !== undefined && holder !== null && value !== null) {
        for (const name of names.trim().split(/\s+/)) {
          const list = holder.properties.get(name);
          if (list === undefined) holder.properties.set(name, [value]);
          else list.push(value);
        }
      }
      visit(node, inner);
    }
  };
  visit(document.root, null);
  return top;
}

function typesOf(element: Element): string[] {
  const list = (element.attr("itemtype") ?? "").trim().split(/\s+/);
  return list.filter((type) => type !== "").map((type) => type.replace(/^.*[/#]/, ""));
}

const ADDRESS: Record<string, string> = {
  a: "href",
  area: "href",
  link: "href",
  img: "src",
  audio: "src",
  embed: "src",
  iframe: "src",
  source: "src",
  video: "src",
  object: "data",
};

function valueOf(element: Element): string {
  const content = element.attr("content");
  if (content !== undefined) return content.trim();
  const { name } = element.tag;
  const address = ADDRESS[name];
  if (address !== undefined) return element.attr(address) ?? "";
  if (name === "time") return element.attr("datetime") ?? textOf(element);
  if (name === "data" || name === "meter") return element.attr("value") ?? textOf(element);
  return textOf(element);
}

/** The first text under a path of property names, through nested items. */
export function microdataValue(items: readonly MicrodataItem[], path: string): string | null {
  const keys = path.split(".");
  const follow = (item: MicrodataItem, depth: number): string | null => {
    for (const value of item.properties.get(keys[depth] ?? "") ?? []) {
      if (depth === keys.length - 1) {
        if (typeof value === "string") {
          if (value !== "") return value;
        } else return first(value, "name") ?? first(value, "url");
      } else if (typeof value !== "string") {
        const found = follow(value, depth + 1);
        if (found !== null) return found;
      }
    }
    return null;
  };
  for (const item of items) {
    const found = follow(item, 0);
    if (found !== null) return found;
  }
  return null;
}

function first(item: MicrodataItem, name: string): string | null {
  const value = item.properties.get(name)?.[0];
  return typeof value === "string" && value !== "" ? value : null;
}

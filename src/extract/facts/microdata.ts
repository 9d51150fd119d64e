/**
 * HTML microdata in the entity form of JSON-LD. Machine-readable values (`content`, `datetime`, `href`) are strings;
 * visible texts carry their language: `{"@value": "1.299 €", "@language": "de"}`.
 */
import type { Document, Element } from "../dom/nodes.ts";
import { textOf } from "../dom/text.ts";
import type { JsonObject } from "./json-ld.ts";

const MAX_ITEMS = 1000;

export function readMicrodata(document: Document, language: string | null): JsonObject[] {
  // Fast path: most pages have none, and the text search is faster than a tree walk.
  if (!/itemscope/i.test(document.source)) return [];
  const top: JsonObject[] = [];
  let count = 0;
  const visit = (element: Element, holder: JsonObject | null) => {
    for (let node = element.first; node !== null && count < MAX_ITEMS; node = node.next) {
      if (node.kind !== 1) continue;
      const names = node.attr("itemprop");
      let inner = holder;
      let value: string | JsonObject | null = null;
      if (node.attr("itemscope") !== undefined) {
        count += 1;
        inner = itemOf(node);
        value = inner;
        if (names === undefined || holder === null) top.push(inner);
      } else if (names !== undefined) value = valueOf(node, language);
      if (names !== undefined && holder !== null && value !== null) {
        for (const name of names.trim().split(/\s+/)) add(holder, name, value);
      }
      visit(node, inner);
    }
  };
  visit(document.root, null);
  return top;
}

function itemOf(element: Element): JsonObject {
  const item: JsonObject = {};
  const types = (element.attr("itemtype") ?? "").trim();
  if (types !== "") item["@type"] = types.split(/\s+/);
  const id = element.attr("itemid")?.trim();
  if (id !== undefined && id !== "") item["@id"] = id;
  return item;
}

function add(item: JsonObject, name: string, value: string | JsonObject): void {
  if (name === "" || name.startsWith("@") || name === "__proto__") return;
  const list = item[name];
  if (Array.isArray(list)) list.push(value);
  else item[name] = [value];
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

function valueOf(element: Element, language: string | null): string | JsonObject | null {
  const machine = machineValue(element);
  if (machine !== undefined) return machine.trim() === "" ? null : machine.trim();
  const text = textOf(element);
  return text === "" ? null : { "@value": text, "@language": language ?? "und" };
}

function machineValue(element: Element): string | undefined {
  const content = element.attr("content");
  if (content !== undefined) return content;
  const { name } = element.tag;
  const address = ADDRESS[name];
  if (address !== undefined) return element.attr(address) ?? "";
  if (name === "time") return element.attr("datetime");
  return name === "data" || name === "meter" ? element.attr("value") : undefined;
}

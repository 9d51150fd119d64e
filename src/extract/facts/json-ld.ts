/** The JSON-LD blocks of a page, with arrays and `@graph` flattened. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Document } from "../dom/nodes.ts";
import { rawText } from "../dom/text.ts";
import { parseJson } from "../json.ts";

export type JsonObject = { [key: string]: JsonValue };

const MAX_BLOCKS = 100;

export function readJsonLd(document: Document): JsonObject[] {
  const entities: JsonObject[] = [];
  let blocks = 0;
  for (const script of document.buckets.script) {
    const type = script.attr("type");
    if (type === undefined || !/^\s*application\/ld\+json\b/i.test(type)) continue;
    blocks += 1;
    if (blocks > MAX_BLOCKS) break;
    flatten(lenientJson(rawText(script)), entities, 0);
  }
  return entities;
}

function flatten(value: JsonValue | undefined, into: JsonObject[], depth: number): void {
  if (depth > 3 || into.length >= 1000 || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) flatten(item, into, depth + 1);
    return;
  }
  const graph = value["@graph"];
  if (typeof graph === "object") flatten(graph, into, depth + 1);
  // A mere container of a graph is not an entity.
  if (graph === undefined || value["@type"] !== undefined) into.push(value);
}

/** Repairs common errors: line ends in strings, trailing commas, enclosing comments. */
function lenientJson(text: string): JsonValue | undefined {
  const strict = parseJson(text);
  if (strict !== undefined) return strict;
  const repaired = text
    .replace(/^\s*(?:<!--|\/\/\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|\/\/\s*\]\]>|\]\]>)\s*$/g, "")
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u001f]+/g, " ")
    .replace(/,\s*(?=[}\]])/g, "")
    .replace(/;\s*$/, "");
  return parseJson(repaired);
}

/** Without the vocabulary: `https://schema.org/Product` and `schema:Product` are `Product`. */
export function typesOf(entity: JsonObject): string[] {
  const type = entity["@type"];
  const list = Array.isArray(type) ? type : [type];
  return list.flatMap((name) => (typeof name === "string" ? [name.replace(/^.*[/#:]/, "")] : []));
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function listOf(value: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

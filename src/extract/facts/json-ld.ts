/** The JSON-LD blocks of a page, flattened: arrays and `@graph` give several entities. */
import type { JsonValue } from "../../domain/queue-item.ts";
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
  if (Array.isArray(graph)) flatten(graph, into, depth + 1);
  // A holder of a graph that says nothing itself is not an entity.
  if (graph === undefined || value["@type"] !== undefined) into.push(value);
}

/** Hand-made blocks have line ends in strings, trailing commas, comments around them. */
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

export function typesOf(entity: JsonObject): string[] {
  const type = entity["@type"];
  const list = Array.isArray(type) ? type : [type];
  return list.flatMap((name) => (typeof name === "string" ? [name.replace(/^.*[/#:]/, "")] : []));
}

const ARTICLE = /(Article|Posting|Report|Review|Recipe|HowTo|FAQPage|QAPage|DiscussionForumPosting)$/;
const PRODUCT =
  /^(Product\w*|Book|SoftwareApplication|Movie|Event|Course|JobPosting|Vehicle|Car|Hotel|Restaurant|VideoObject|Dataset|MusicAlbum)$/;
const PAGE = /(^|Item|About|Collection|Profile)Page$|^WebPage$/;

/** What the page is about; organisations, breadcrumbs and the site itself are not it. */
export function mainEntity(entities: readonly JsonObject[]): JsonObject | null {
  for (const wanted of [ARTICLE, PRODUCT, PAGE]) {
    const found = entities.find((entity) => typesOf(entity).some((type) => wanted.test(type)));
    if (found === undefined) continue;
    const inner = found["mainEntity"];
    if (wanted === PAGE && typeof inner === "object" && inner !== null && !Array.isArray(inner) && "@type" in inner) {
      return inner;
    }
    return found;
  }
  return null;
}

/** `offers.price`: through arrays, the first that has it. */
export function valueAt(value: JsonValue | undefined, path: string): JsonValue | undefined {
  let current = value;
  for (const key of path.split(".")) {
    while (Array.isArray(current)) current = current[0];
    if (typeof current !== "object" || current === null) return undefined;
    current = Object.hasOwn(current, key) ? current[key] : undefined;
  }
  return current;
}

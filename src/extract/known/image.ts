/** Images of a page: the main one, and all. */
import type { Element } from "../dom/nodes.ts";
import { isObject } from "../facts/json-ld.ts";
import { pageEntity } from "../facts/main-entity.ts";
import type { Entities, PageFacts } from "../facts/page-facts.ts";
import { imageSource, isPixel, isPlaceholder } from "../values/image-source.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { KnownField } from "./source.ts";

const MAX_LIST = 10_000;
const META = ["og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src"];
export const image: KnownField = {
  name: "image",
  meaning: "the address of the main picture",
  order:
    "JSON-LD `image`; microdata; `og:image`; `twitter:image`; `<link rel=image_src>`; the first picture of the article, then of the page",
  read: (facts) => {
    const named = [
      ...ofEntities(facts, facts.entities),
      ...ofEntities(facts, facts.microdata),
      ...META.map((name) => facts.meta(name)),
      facts.linkTag("image_src"),
    ];
    for (const address of named) {
      const url = pictureAddress(facts, address);
      if (url !== null) return url;
    }
    return shownImage(facts);
  },
};

export const images: KnownField = {
  name: "images",
  meaning: "the addresses of all pictures",
  order: "`og:image`, then every `<img>` (also late-loading ones)",
  list: true,
  read: (facts) => {
    const named = META.map((name) => pictureAddress(facts, facts.meta(name))).find((address) => address !== null);
    const shown = facts.document.buckets.image.slice(0, MAX_LIST).map((element) => addressOf(facts, element));
    return [...new Set([named ?? null, ...shown])].filter((address) => address !== null);
  },
};

function ofEntities(facts: PageFacts, { graph, main }: Entities): string[] {
  const page = pageEntity(graph);
  const found: string[] = [];
  for (const entity of main === page ? [main] : [main, page]) {
    if (entity === null) continue;
    for (const key of ["image", "primaryImageOfPage", "thumbnailUrl", "thumbnail"]) {
      for (const value of graph.valuesAt(entity, key).slice(0, 20)) found.push(...addressesIn(value, facts, graph));
    }
  }
  return found;
}

function addressesIn(value: JsonValue, facts: PageFacts, graph: Entities["graph"]): string[] {
  const named = typeof value === "string" ? (graph.byId(value) ?? value) : value;
  if (!isObject(named)) return [facts.clean(named) ?? ""];
  return ["contentUrl", "url", "thumbnailUrl"].flatMap((key) => {
    const [first] = Array.isArray(named[key]) ? named[key] : [named[key]];
    return facts.clean(isObject(first) ? first["@id"] : first) ?? [];
  });
}

/** Null for non-images: a page fragment, a placeholder, a URL that runs code. */
function pictureAddress(facts: PageFacts, address: string | null): string | null {
  const resolved = address === null || address.trim() === "" ? null : facts.resolve(address);
  const url = resolved === null ? null : URL.parse(resolved);
  if (resolved === null || url === null || !/^https?:$/.test(url.protocol) || isPlaceholder(url.pathname)) return null;
  if (url.hash !== "" && !/\.(?:jpe?g|png|gif|webp|avif|svg)$/i.test(url.pathname)) return null;
  return facts.addresses.includes(resolved) ? null : resolved;
}

function addressOf(facts: PageFacts, element: Element): string | null {
  return isPixel(element) ? null : pictureAddress(facts, imageSource(element));
}

const NO_CONTENT = /\.svg$|(?:^|[/_.-])(?:avatars?|logos?|icons?|sprites?)(?:[/_.-]|$)/i;

/** The first content image; drawings, logos, icons and avatars do not count. */
function shownImage(facts: PageFacts): string | null {
  const root = facts.mainContent?.root ?? null;
  let outside: string | null = null;
  for (const element of facts.document.buckets.image.slice(0, MAX_LIST)) {
    const address = addressOf(facts, element);
    if (address === null || NO_CONTENT.test(URL.parse(address)?.pathname ?? "")) continue;
    if (isInside(element, root)) return address;
    outside ??= address;
  }
  return outside;
}

function isInside(element: Element, root: Element | null): boolean {
  for (let up = element.parent; up !== null; up = up.parent) if (up === root) return true;
  return false;
}

/**
 * Reads lists of a site's pages: sitemaps and sitemap indexes (sitemaps.org), plain-text URL lists, and RSS, Atom and
 * JSON feeds. The caller has fetched, decompressed and decoded the file. Its content is untrusted, so the reader never
 * throws, and everything is bounded.
 */
import { type Element, elementsBelow } from "./dom/nodes.ts";
import { meantUrl } from "../domain/text/meant-url.ts";
import { parseXml } from "./dom/xml.ts";
import { partsOf } from "./sitemap-parts.ts";
import { parseDate } from "./values/date.ts";

export interface Sitemap {
  /** `none`: not a list of URLs; the reason is among the problems. */
  readonly kind: "urlset" | "index" | "feed" | "text" | "none";
  /** Distinct pages, in file order. */
  readonly urls: readonly SitemapUrl[];
  /** The sitemaps of an index. */
  readonly sitemaps: readonly SitemapRef[];
  /** The file was not read to its end. */
  readonly truncated: boolean;
  /** For the log; deduplicated. */
  readonly problems: readonly string[];
}

interface SitemapUrl {
  /** Absolute, http or https, without fragment. */
  readonly url: string;
  /** ISO 8601; null: absent or invalid. */
  readonly lastmod: string | null;
  /** From 0 to 1; null: absent or invalid. */
  readonly priority: number | null;
}

interface SitemapRef {
  readonly url: string;
  readonly lastmod: string | null;
}

export const SITEMAP_LIMITS = {
  /** Entries per file, by the protocol. */
  entries: 50_000,
  /** Decompressed size of a file, by the protocol; the same limit applies to its characters. */
  bytes: 50 * 1024 * 1024,
  characters: 50 * 1024 * 1024,
  /** Nesting of indexes. */
  indexDepth: 3,
  urlLength: 8192,
} as const;

interface SitemapInput {
  text: string;
  /** The base for relative URLs. */
  url: string;
  /** Number of parent indexes; 0 for a file from robots.txt or the user. */
  depth?: number;
}

export function readSitemap({ text, url, depth = 0 }: SitemapInput): Sitemap {
  const list = new SitemapBuilder(url, text.length > SITEMAP_LIMITS.characters);
  const source = withoutPartialEntry(text.replace(/^\uFEFF/, ""));
  if (/^\s*\{/.test(source)) return readJsonFeed(source, list);
  if (!isMarkup(text)) return readLines(source, list);
  const root = rootOf(source);
  const kind = root === null ? undefined : KINDS[localName(root).toLowerCase()];
  if (root === null || kind === undefined) {
    const found = root === null ? "no element" : `<${root.slice(0, 40)}>`;
    list.problem(`expected a sitemap or a feed, found ${found}`);
    return list.end("none");
  }
  if (kind === "index" && depth >= SITEMAP_LIMITS.indexDepth) {
    list.problem(`sitemap indexes are nested more than ${SITEMAP_LIMITS.indexDepth} levels deep`);
    return list.end("index");
  }
  for (const part of partsOf(source)) {
    const document = parseXml(part);
    for (const element of elementsBelow(document.root)) {
      if (list.full) break;
      ENTRIES[kind](element, root, list);
    }
    if (document.truncated) list.cut("a part of the file has too many elements");
    if (list.full) break;
  }
  return list.end(kind);
}

const KINDS: Readonly<Record<string, "urlset" | "index" | "feed">> = {
  urlset: "urlset",
  sitemapindex: "index",
  rss: "feed",
  feed: "feed",
  rdf: "feed",
};

/** Entry readers by kind. Names carry the prefix of the root. */
const ENTRIES = {
  urlset(element: Element, root: string, list: SitemapBuilder): void {
    if (!isNamed(element, prefixed(root, "url"))) return;
    const priority = Number(childText(element, prefixed(root, "priority")) || "NaN");
    for (const loc of locs(element, root)) {
      list.page(loc, childText(element, prefixed(root, "lastmod")), {
        priority: priority >= 0 && priority <= 1 ? priority : null,
      });
    }
  },
  index(element: Element, root: string, list: SitemapBuilder): void {
    if (!isNamed(element, prefixed(root, "sitemap"))) return;
    for (const loc of locs(element, root)) list.sitemap(loc, childText(element, prefixed(root, "lastmod")));
  },
  feed(element: Element, root: string, list: SitemapBuilder): void {
    const isAtom = localName(root).toLowerCase() === "feed";
    if (!isNamed(element, isAtom ? prefixed(root, "entry") : "item")) return;
    if (isAtom) {
      const date = childText(element, prefixed(root, "updated")) || childText(element, prefixed(root, "published"));
      list.page(atomLink(element, prefixed(root, "link")), date, { priority: null });
    } else {
      const date = childText(element, "pubDate") || childText(element, "dc:date");
      list.page(childText(element, "link") || permanentId(element), date, { priority: null });
    }
  },
} as const;

/** One by the protocol, but some files put several into an entry. */
function locs(entry: Element, root: string): string[] {
  const found = Array.from(childrenNamed(entry, prefixed(root, "loc")), ownText);
  return found.length === 0 ? [""] : found;
}

/** The page is the link with `rel="alternate"` or without `rel`. */
function atomLink(entry: Element, name: string): string {
  for (const link of childrenNamed(entry, name)) {
    const rel = link.attr("rel");
    if (rel === undefined || rel === "alternate") return link.attr("href") ?? "";
  }
  return "";
}

function permanentId(item: Element): string {
  const [guid] = childrenNamed(item, "guid");
  return guid === undefined || guid.attr("isPermaLink") === "false" || guid.attr("ispermalink") === "false"
    ? ""
    : ownText(guid);
}

function readJsonFeed(source: string, list: SitemapBuilder): Sitemap {
  const feed = parseJson(source) as { items?: unknown } | null;
  if (!Array.isArray(feed?.items)) {
    list.problem("expected a sitemap or a feed, found JSON without items");
    return list.end("none");
  }
  for (const item of feed.items as readonly unknown[]) {
    if (list.full) break;
    const { url, external_url, id, date_modified, date_published } = (item ?? {}) as Record<string, unknown>;
    const address = [url, external_url, id].find((text) => typeof text === "string" && /^(?:https?:)?\//i.test(text));
    const date = [date_modified, date_published].find((text) => typeof text === "string");
    list.page((address as string | undefined) ?? "", (date as string | undefined) ?? "", { priority: null });
  }
  return list.end("feed");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function readLines(source: string, list: SitemapBuilder): Sitemap {
  const first = /\S[^\r\n]*/.exec(source)?.[0].trim() ?? "";
  if (!/^https?:\/\/\S+$/i.test(first)) {
    list.problem(first === "" ? "the file is empty" : "expected a sitemap, a feed or one URL per line");
    return list.end("none");
  }
  for (const [line] of source.matchAll(/[^\r\n]+/g)) {
    if (list.full) break;
    const address = line.trim();
    // URLs in a plain-text list are absolute.
    if (address !== "") list.page(/^https?:\/\//i.test(address) ? address : "", "", { priority: null });
  }
  return list.end("text");
}

class SitemapBuilder {
  readonly #base: string;
  readonly #urls = new Map<string, SitemapUrl>();
  readonly #sitemaps = new Map<string, SitemapRef>();
  readonly #problems = new Set<string>();
  #truncated = false;
  #entries = 0;

  constructor(base: string, truncated: boolean) {
    this.#base = base;
    if (truncated) this.cut(`the file is longer than ${SITEMAP_LIMITS.characters} characters`);
  }

  /** True after one entry too many: a file with exactly the maximum is complete. */
  get full(): boolean {
    return this.#entries > SITEMAP_LIMITS.entries;
  }

  page(loc: string, lastmod: string, { priority }: { priority: number | null }): void {
    const url = this.#address(loc);
    if (url !== null && !this.#urls.has(url)) this.#urls.set(url, { url, lastmod: dateOf(lastmod), priority });
  }

  sitemap(loc: string, lastmod: string): void {
    const url = this.#address(loc);
    if (url !== null && !this.#sitemaps.has(url)) this.#sitemaps.set(url, { url, lastmod: dateOf(lastmod) });
  }

  cut(why: string): void {
    this.#truncated = true;
    this.problem(`${why}; the rest was not read`);
  }

  problem(message: string): void {
    this.#problems.add(message);
  }

  #address(loc: string): string | null {
    this.#entries += 1;
    if (this.full) {
      this.cut(`the file has more than ${SITEMAP_LIMITS.entries} entries`);
      return null;
    }
    const url = loc.length > SITEMAP_LIMITS.urlLength ? null : meantUrl(loc, this.#base);
    if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
      this.problem("entries without an http or https URL were skipped");
      return null;
    }
    url.hash = "";
    return url.href;
  }

  end(kind: Sitemap["kind"]): Sitemap {
    return {
      kind,
      urls: [...this.#urls.values()],
      sitemaps: [...this.#sitemaps.values()],
      truncated: this.#truncated,
      problems: [...this.#problems],
    };
  }
}

function isMarkup(text: string): boolean {
  return /^\uFEFF?\s*</.test(text);
}

/** Drops the last URL of a truncated file: a partial URL would be another page. */
function withoutPartialEntry(text: string): string {
  const isCut = text.length > SITEMAP_LIMITS.characters;
  const source = isCut ? text.slice(0, SITEMAP_LIMITS.characters) : text;
  if (!isMarkup(source)) return isCut ? source.slice(0, source.lastIndexOf("\n") + 1) : source;
  if (!/[^>\s]\s{0,99}$/.test(source.slice(-200))) return source;
  const closing = source.lastIndexOf("</");
  return source.slice(0, closing < 0 ? source.lastIndexOf(">") + 1 : closing);
}

/** Years and months are valid here: `2024`, `2024-05`. */
function dateOf(text: string): string | null {
  if (text === "") return null;
  return /^\d{4}(?:-(?:0[1-9]|1[0-2]))?$/.test(text) ? text : parseDate(text);
}

/** The raw name of the root element, from the first 64 KB. */
function rootOf(source: string): string | null {
  const [root] = elementsBelow(parseXml(source.slice(0, 64 * 1024)).root);
  return root?.name ?? null;
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** Written by hand, `<URL>` and `<LOC>` occur. */
function isNamed(element: Element, name: string): boolean {
  return (
    element.name === name || (element.name.length === name.length && element.name.toLowerCase() === name.toLowerCase())
  );
}

function prefixed(root: string, name: string): string {
  const colon = root.indexOf(":");
  return colon < 0 ? name : `${root.slice(0, colon + 1)}${name}`;
}

function* childrenNamed(element: Element, name: string): Generator<Element> {
  for (let node = element.first; node !== null; node = node.next)
    if (node.kind === 1 && isNamed(node, name)) yield node;
}

function childText(element: Element, name: string): string {
  const [child] = childrenNamed(element, name);
  return child === undefined ? "" : ownText(child);
}

/** Direct text only: nested elements are not part of a URL. */
function ownText(element: Element): string {
  let text = "";
  for (let node = element.first; node !== null && text.length <= SITEMAP_LIMITS.urlLength; node = node.next) {
    if (node.kind === 3) text += node.data;
  }
  return text.trim();
}

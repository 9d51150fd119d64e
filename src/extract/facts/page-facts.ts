/** Lazily computed, cached facts about one page. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { type Article, readArticle, textArticle } from "../article/article.ts";
import { contextOf } from "../main-content/context.ts";
import type { PageContext } from "../main-content/columns.ts";
import { findMainContent, type JudgedPage, type MainContent, readPageBlocks, wholeBody } from "../main-content/find.ts";
import { type PageType, pageTypeOf } from "../main-content/page-type.ts";
import { readRobotsDirectives, type RobotsDirectives } from "../../domain/site/robots-directives.ts";
import { AddressResolver } from "../dom/addresses.ts";
import type { Document, Element } from "../dom/nodes.ts";
import { rawText, squeeze, textOf } from "../dom/text.ts";
import { parseJson, parseJsonBody } from "../json.ts";
import { type Link, readLinks, readLinkUrls } from "../links.ts";
import { decodeTwice } from "./character-references.ts";
import { EntityGraph } from "./entity-graph.ts";
import { type JsonObject, readJsonLd } from "./json-ld.ts";
import { plainEntities } from "./plain-entities.ts";
import { type Evidence, mainEntity } from "./main-entity.ts";
import { readMicrodata } from "./microdata.ts";
import { PageAddresses } from "./page-address.ts";
import { regionsOf } from "./region.ts";

/** The entities of one source, and the main one. */
export interface Entities {
  graph: EntityGraph;
  main: JsonObject | null;
}

const PUBLISHED = ["article:published_time", "article:author", "author", "date", "datepublished", "parsely-pub-date"];

export class PageFacts {
  readonly document: Document;
  readonly url: string | null;
  readonly text: string;
  readonly isJson: boolean;
  readonly #isDocument: boolean;
  readonly #isText: boolean;
  #base: string | null | undefined;
  #resolver: AddressResolver | null = null;
  #meta: Map<string, string[]> | null = null;
  #jsonLd: JsonObject[] | null = null;
  #entities: Entities | null = null;
  #microdata: Entities | null = null;
  #evidence: Evidence | null = null;
  #addresses: PageAddresses | null = null;
  #language: string | null | undefined;
  #body: { value: JsonValue | undefined } | null = null;
  #links: Link[] | null = null;
  #page: JudgedPage | null | undefined;
  #context: PageContext | null = null;
  #mainContent: MainContent | null | undefined;
  #article: Article | null | undefined;

  /** `isDocument`: all of it is content, as in a PDF that was converted; `isText`: it has no markup. */
  constructor(page: {
    document: Document;
    url: string | null;
    text: string;
    isJson: boolean;
    isDocument?: boolean;
    isText?: boolean;
  }) {
    this.document = page.document;
    this.url = page.url;
    this.text = page.text;
    this.isJson = page.isJson;
    this.#isDocument = page.isDocument ?? false;
    this.#isText = page.isText ?? false;
  }

  /** The `<base>` URL, else the page's own. */
  get base(): string | null {
    if (this.#base === undefined) {
      const href = this.document.buckets.base.find((element) => element.attr("href") !== undefined)?.attr("href");
      const base = href === undefined ? null : URL.parse(href.trim(), this.url ?? undefined);
      // As in browsers, a base that is not http(s) is ignored.
      this.#base = base !== null && /^https?:$/.test(base.protocol) ? base.href : this.url;
    }
    return this.#base;
  }

  /** Addresses relative to the base. */
  get resolver(): AddressResolver {
    return (this.#resolver ??= new AddressResolver(this.base));
  }

  /** Absolute; null for `javascript:`, `data:` and the like. */
  readonly resolve = (address: string): string | null => {
    const resolved = this.resolver.resolve(address.trim());
    return resolved !== null && /^(https?|mailto|tel|ftp):$/.test(resolved.protocol) ? resolved.href : null;
  };

  /** The first non-empty content of `<meta name|property|itemprop|http-equiv>`. */
  meta(...names: string[]): string | null {
    for (const name of names) {
      const [content] = this.metaAll(name);
      if (content !== undefined) return content;
    }
    return null;
  }

  /** All contents under a name. */
  metaAll(name: string): readonly string[] {
    this.#meta ??= readMeta(this.document);
    return this.#meta.get(name) ?? [];
  }

  linkTag(rel: string): string | null {
    for (const element of this.document.buckets.linkTag) {
      const list = element.attr("rel")?.toLowerCase().split(/\s+/);
      const href = element.attr("href");
      if (href !== undefined && list?.includes(rel) === true) return this.resolve(href);
    }
    return null;
  }

  /** The text of `<title>`. */
  get title(): string | null {
    for (const element of this.document.buckets.title) {
      const text = textOf(element);
      if (text !== "") return text;
    }
    return null;
  }

  get language(): string | null {
    if (this.#language === undefined) {
      const html = this.document.root.first;
      const named = html?.kind === 1 ? [html.attr("lang"), html.attr("xml:lang")] : [];
      const others = ["content-language", "og:locale", "dc.language"].map((name) => this.meta(name));
      this.#language = [...named, ...others].map(languageTag).find((tag) => tag !== null) ?? null;
    }
    return this.#language;
  }

  /** Country codes by the page's language, `og:locale` and URL. */
  get regions(): string[] {
    return regionsOf([this.language, languageTag(this.meta("og:locale"))], this.url);
  }

  get robots(): RobotsDirectives {
    return readRobotsDirectives(this.meta("robots") ?? "");
  }

  get jsonLd(): JsonObject[] {
    return (this.#jsonLd ??= readJsonLd(this.document));
  }

  get entities(): Entities {
    return (this.#entities ??= this.#entitiesOf(plainEntities(this.jsonLd)));
  }

  get microdata(): Entities {
    return (this.#microdata ??= this.#entitiesOf(readMicrodata(this.document, this.language)));
  }

  #entitiesOf(list: JsonObject[]): Entities {
    const graph = new EntityGraph(list, this.base);
    return { graph, main: list.length === 0 ? null : mainEntity(graph, this.#mainEntityEvidence) };
  }

  get #mainEntityEvidence(): Evidence {
    if (this.#evidence === null) {
      const names = [this.meta("og:title"), this.title, ...this.headlines];
      this.#evidence = {
        isOwnAddress: this.addresses.isKnown ? (address) => this.addresses.includes(address) : null,
        names: names.filter((name) => name !== null),
        ogType: this.meta("og:type"),
      };
    }
    return this.#evidence;
  }

  /** The page's own URLs. */
  get addresses(): PageAddresses {
    if (this.#addresses === null) {
      const ogUrl = this.meta("og:url");
      const others = [this.linkTag("canonical"), ogUrl === null ? null : this.resolve(ogUrl)];
      this.#addresses = new PageAddresses(this.url, ...others);
    }
    return this.#addresses;
  }

  /** The texts of the first few `<h1>`. */
  get headlines(): string[] {
    const found = this.document.buckets.heading.slice(0, 100).filter((element) => element.tag.name === "h1");
    return found.slice(0, 3).flatMap((element) => textOf(element) || []);
  }

  /** The body as JSON. */
  get json(): JsonValue | undefined {
    this.#body ??= { value: this.isJson ? parseJsonBody(this.text) : undefined };
    return this.#body.value;
  }

  /** The JSON in `<script id>`. */
  scriptJson(id: string): JsonValue | undefined {
    const script = this.document.buckets.script.find((element) => element.attr("id") === id);
    return script === undefined ? undefined : parseJson(rawText(script));
  }

  get links(): Link[] {
    return (this.#links ??= readLinks(this.document, this.resolver, this.robots.nofollow));
  }

  /** The addresses of the links alone, each once. */
  linkUrls(limit: number): string[] {
    return readLinkUrls(this.document, this.resolver, limit);
  }

  get #blocks(): JudgedPage | null {
    if (this.#page === undefined) this.#page = readPageBlocks(this.document);
    return this.#page;
  }

  get #pageContext(): PageContext {
    return (this.#context ??= contextOf(this));
  }

  get mainContent(): MainContent | null {
    if (this.#mainContent === undefined) this.#mainContent = this.#findMainContent();
    return this.#mainContent;
  }

  #findMainContent(): MainContent | null {
    if (this.#isDocument) return wholeBody(this.document);
    const page = this.#blocks;
    return page === null ? null : findMainContent(page, this.#pageContext);
  }

  get pageType(): PageType | null {
    const page = this.#blocks;
    if (page === null) return null;
    const { url } = this;
    const isPublished = this.meta(...PUBLISHED) !== null || this.document.buckets.time.length > 0;
    return pageTypeOf({ context: this.#pageContext, page, url, generator: this.meta("generator"), isPublished });
  }

  get article(): Article | null {
    if (this.#article === undefined) {
      const found = this.#isText ? null : this.mainContent;
      const options = { language: this.language, resolve: this.resolve };
      if (this.#isText) this.#article = textArticle(this.text);
      else this.#article = found === null ? null : readArticle(found, options);
    }
    return this.#article;
  }

  /**
   * A text or a number with normalized white space. Many pages double-escape (`&#8217;`), so references are decoded,
   * unless the page's title shows the reference literally.
   */
  clean(value: JsonValue | undefined): string | null {
    if (typeof value === "number") return String(value);
    if (typeof value !== "string") return null;
    const text = squeeze(value.includes("&") ? decodeTwice(value, this.title ?? "") : value);
    return text === "" ? null : text;
  }
}

/** Normalizes `en_US` and `en-US, en` to `en-US`; null: not a language tag. */
export function languageTag(text: string | null | undefined): string | null {
  const tag = text
    ?.trim()
    .replaceAll("_", "-")
    .split(/[,;\s.@]/)[0];
  return tag !== undefined && /^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$/.test(tag) ? tag : null;
}

const MAX_SAME_META = 200;

function readMeta(document: Document): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const element of document.buckets.meta) {
    const content = element.attr("content")?.trim();
    if (content === undefined || content === "") continue;
    for (const key of ["property", "name", "itemprop", "http-equiv"]) {
      const name = element.attr(key)?.trim().toLowerCase();
      // Inside an item, `itemprop` describes that item.
      if (key === "itemprop" && name !== undefined && isInItem(element)) continue;
      const list = name === undefined ? undefined : found.get(name);
      if (name !== undefined && list === undefined) found.set(name, [content]);
      else if (list !== undefined && list.length < MAX_SAME_META) list.push(content);
    }
  }
  return found;
}

function isInItem(element: Element): boolean {
  for (let up = element.parent; up !== null; up = up.parent) if (up.attr("itemscope") !== undefined) return true;
  return false;
}

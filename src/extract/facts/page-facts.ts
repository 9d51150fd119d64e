/** Everything that can be asked about one page, each worked out once and only when somebody asks. */
import type { JsonValue } from "../../domain/queue-item.ts";
import { type Article, readArticle } from "../article/article.ts";
import { contextOf } from "../main-content/context.ts";
import { findMainContent, type MainContent } from "../main-content/find.ts";
import { readRobotsDirectives, type RobotsDirectives } from "../../domain/robots-directives.ts";
import type { Document } from "../dom/nodes.ts";
import { rawText, squeeze, textOf } from "../dom/text.ts";
import { parseJson, parseJsonBody } from "../json.ts";
import { type Link, readLinks } from "../links.ts";
import { type JsonObject, mainEntity, readJsonLd } from "./json-ld.ts";
import { type MicrodataItem, readMicrodata } from "./microdata.ts";

export class PageFacts {
  readonly document: Document;
  readonly url: string | null;
  readonly text: string;
  readonly isJson: boolean;
  #base: string | null | undefined;
  #meta: Map<string, string> | null = null;
  #jsonLd: JsonObject[] | null = null;
  #main: JsonObject | null | undefined;
  #microdata: MicrodataItem[] | null = null;
  #body: { value: JsonValue | undefined } | null = null;
  #links: Link[] | null = null;
  #mainContent: MainContent | null | undefined;
  #article: Article | null | undefined;

  constructor(page: { document: Document; url: string | null; text: string; isJson: boolean }) {
    this.document = page.document;
    this.url = page.url;
    this.text = page.text;
    this.isJson = page.isJson;
  }

  /** The page's own address, or what its `<base>` says. */
  get base(): string | null {
    if (this.#base === undefined) {
      const href = this.document.buckets.base.find((element) => element.attr("href") !== undefined)?.attr("href");
      const base = href === undefined ? null : URL.parse(href.trim(), this.url ?? undefined);
      // A base that is no web address (data:, javascript:) is ignored, as in browsers.
      this.#base = base !== null && /^https?:$/.test(base.protocol) ? base.href : this.url;
    }
    return this.#base;
  }

  /** Absolute, or null for addresses that run code or hold the thing itself. */
  readonly resolve = (address: string): string | null => {
    const url = URL.parse(address.trim(), this.base ?? undefined);
    return url !== null && /^(https?|mailto|tel|ftp):$/.test(url.protocol) ? url.href : null;
  };

  /** Of `<meta name|property|itemprop|http-equiv>`, the first with a content. */
  meta(...names: string[]): string | null {
    if (this.#meta === null) {
      this.#meta = new Map();
      for (const element of this.document.buckets.meta) {
        const content = element.attr("content")?.trim();
        if (content === undefined || content === "") continue;
        for (const key of ["property", "name", "itemprop", "http-equiv"]) {
          const name = element.attr(key)?.trim().toLowerCase();
          if (name !== undefined && !this.#meta.has(name)) this.#meta.set(name, content);
        }
      }
    }
    for (const name of names) {
      const content = this.#meta.get(name);
      if (content !== undefined) return content;
    }
    return null;
  }

  linkTag(rel: string): string | null {
    for (const element of this.document.buckets.linkTag) {
      const list = element.attr("rel")?.toLowerCase().split(/\s+/);
      const href = element.attr("href");
      if (href !== undefined && list?.includes(rel) === true) return this.resolve(href);
    }
    return null;
  }

  /** What `<title>` says. */
  get title(): string | null {
    for (const element of this.document.buckets.title) {
      const text = textOf(element);
      if (text !== "") return text;
    }
    return null;
  }

  get language(): string | null {
    const html = this.document.root.first;
    const named = html?.kind === 1 ? (html.attr("lang") ?? html.attr("xml:lang")) : undefined;
    const language = named ?? this.meta("content-language", "og:locale", "dc.language");
    const tag = language
      ?.trim()
      .replaceAll("_", "-")
      .split(/[,;\s]/)[0];
    return tag !== undefined && /^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$/.test(tag) ? tag : null;
  }

  get robots(): RobotsDirectives {
    return readRobotsDirectives(this.meta("robots") ?? "");
  }

  get jsonLd(): JsonObject[] {
    return (this.#jsonLd ??= readJsonLd(this.document));
  }

  get mainEntity(): JsonObject | null {
    if (this.#main === undefined) this.#main = mainEntity(this.jsonLd);
    return this.#main;
  }

  get microdata(): MicrodataItem[] {
    return (this.#microdata ??= readMicrodata(this.document));
  }

  /** The body itself as JSON. */
  get json(): JsonValue | undefined {
    this.#body ??= { value: this.isJson ? parseJsonBody(this.text) : undefined };
    return this.#body.value;
  }

  /** What a `<script id>` of data holds. */
  scriptJson(id: string): JsonValue | undefined {
    const script = this.document.buckets.script.find((element) => element.attr("id") === id);
    return script === undefined ? undefined : parseJson(rawText(script));
  }

  get links(): Link[] {
    return (this.#links ??= readLinks(this.document, this.base, this.robots.nofollow));
  }

  /** The part of the page that it is about. */
  get mainContent(): MainContent | null {
    if (this.#mainContent === undefined) this.#mainContent = findMainContent(this.document, contextOf(this));
    return this.#mainContent;
  }

  get article(): Article | null {
    if (this.#article === undefined) {
      const found = this.mainContent;
      const options = { language: this.language, resolve: this.resolve };
      this.#article = found === null ? null : readArticle(found, options);
    }
    return this.#article;
  }

  /** The first of these that is a text or a number; white space evened out. */
  static clean(value: JsonValue | undefined | null): string | null {
    if (typeof value === "number") return String(value);
    if (typeof value !== "string") return null;
    const text = squeeze(value);
    return text === "" ? null : text;
  }
}

/** The article of a page as text, Markdown and HTML, with its statistics. */
import { hash } from "node:crypto";
import { MAX_TEXT } from "../dom/nodes.ts";
import { squeeze } from "../dom/text.ts";
import { cleanHtml } from "../values/clean-html.ts";
import type { MainContent } from "../main-content/find.ts";
import { detectLanguage } from "./language.ts";
import { INNER, kindOf, LETTER, NUMBER, SURROGATE } from "./letters.ts";
import { toMarkdown } from "./markdown.ts";
import { toPlainText } from "./plain-text.ts";

export interface Article {
  text: string;
  markdown: string;
  /** Sanitized. */
  html: string;
  /** Words; characters in scripts without spaces. */
  wordCount: number;
  /** As declared by the page, else detected from its words; null: unclear. */
  language: string | null;
  /** SHA-256 of the text with normalized white space. */
  contentHash: string;
}

interface ArticleOptions {
  language: string | null;
  resolve(href: string): string | null;
}

export function readArticle(found: MainContent, options: ArticleOptions): Article {
  return new PageArticle(found, options);
}

/** A class, because V8 keeps what the getters of an object literal refer to, here the page, until a full collection. */
class PageArticle implements Article {
  readonly text: string;
  readonly wordCount: number;
  readonly language: string | null;
  readonly contentHash: string;
  readonly #found: MainContent;
  readonly #resolve: ArticleOptions["resolve"];
  // Lazy: Markdown and HTML cost as much as everything else, and often only the text is used.
  #markdown: string | null = null;
  #html: string | null = null;

  constructor(found: MainContent, { language, resolve }: ArticleOptions) {
    this.#found = found;
    this.#resolve = resolve;
    this.text = toPlainText(found.root, found.keepInText);
    this.wordCount = countWords(this.text);
    this.language = language ?? detectLanguage(this.text);
    this.contentHash = hash("sha256", squeeze(this.text), "hex");
  }

  get markdown(): string {
    const { root, keep } = this.#found;
    return (this.#markdown ??= toMarkdown(root, { keep, resolve: this.#resolve }));
  }

  get html(): string {
    const { root, keep } = this.#found;
    return (this.#html ??= cleanHtml(root, this.#resolve, keep).trim());
  }
}

/** Of a page without markup. */
export function textArticle(page: string): Article {
  const text = page.slice(0, MAX_TEXT).trim();
  return {
    text,
    markdown: text,
    html: `<pre>${text.replace(/&/g, "&amp;").replace(/</g, "&lt;")}</pre>`,
    wordCount: countWords(text),
    language: detectLanguage(text),
    contentHash: hash("sha256", squeeze(text), "hex"),
  };
}

const WORD = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\u0e00-\u0e7f]|[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_-]*/gu;
const SPACELESS = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f]/;

export function countWords(text: string): number {
  if (SPACELESS.test(text)) return text.match(WORD)?.length ?? 0;
  let words = 0;
  let inWord = false;
  for (let at = 0; at < text.length; at += 1) {
    const kind = kindOf(text.charCodeAt(at));
    if ((kind & (LETTER | NUMBER)) !== 0) {
      if (!inWord) words += 1;
      inWord = true;
    } else if (kind === SURROGATE) return text.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_-]*/gu)?.length ?? 0;
    else if (kind !== INNER) inWord = false;
  }
  return words;
}

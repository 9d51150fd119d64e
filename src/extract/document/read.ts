/** Builds the document of a page in the requested formats. */
import { elementToMarkdown } from "../article/markdown.ts";
import { isHidden } from "../article/visible.ts";
import { type Element, elementsBelow, MAX_TEXT } from "../dom/nodes.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { isInTemplate, linkTarget } from "../links.ts";
import { cleanElements } from "../values/clean-html.ts";
import { imageSource, isPixel } from "../values/image-source.ts";
import { readSourceSet } from "../values/source-set.ts";
import { chooseContent, type Content } from "./content.ts";
import { type Metadata, readMetadata } from "./metadata.ts";
import type { DocumentPlan } from "./spec.ts";

/** Keys as in the API. */
export interface PageDocument {
  markdown?: string;
  html?: string;
  raw_html?: string;
  links?: string[];
  images?: string[];
  metadata: Metadata;
  /** The formats that exceed the length limit. */
  truncated: string[];
}

export const MAX_URLS = 10_000;

/** A parsed page. */
interface Page {
  kind: "html" | "xml" | "json" | "text";
  text: string;
  facts: PageFacts;
}

export function readDocument({ kind, text, facts }: Page, { formats, ...plan }: DocumentPlan): PageDocument {
  const document: PageDocument = { metadata: readMetadata(facts), truncated: [] };
  const markTruncated = (name: string, isCut: boolean) => {
    if (isCut && !document.truncated.includes(name)) document.truncated.push(name);
  };
  const content = chooseContent(facts, { ...plan, formats });
  const isPage = kind === "html";
  if (formats.has("markdown")) {
    document.markdown = isPage
      ? markdownOf(content, facts, () => markTruncated("markdown", true))
      : fenced(text.slice(0, MAX_TEXT), kind);
    markTruncated("markdown", !isPage && text.length > MAX_TEXT);
  }
  if (formats.has("html")) {
    const cleaned = isPage
      ? cleanElements(content.roots, facts.resolve, { keep: content.keepsInHtml, wants: content.has })
      : { html: `<pre>${escaped(text.slice(0, MAX_TEXT))}</pre>`, cut: text.length > MAX_TEXT };
    document.html = cleaned.html;
    markTruncated("html", cleaned.cut);
  }
  if (formats.has("raw_html")) {
    document.raw_html = text.slice(0, MAX_TEXT);
    markTruncated("raw_html", text.length > MAX_TEXT);
  }
  const listed = (name: "links" | "images", addresses: Iterable<string>) => {
    const list = [...new Set(addresses)];
    document[name] = list.slice(0, MAX_URLS);
    markTruncated(name, list.length > MAX_URLS);
  };
  if (formats.has("links"))
    listed(
      "links",
      [...linksOf(facts, content)].map(({ url }) => url),
    );
  if (formats.has("images")) listed("images", imagesOf(facts, content));
  if (facts.document.truncated)
    for (const name of ["markdown", "html", "links", "images"] as const)
      markTruncated(name, document[name] !== undefined);
  return document;
}

function markdownOf(content: Content, { resolve }: PageFacts, onCut: () => void): string {
  const options = { resolve, keep: content.keepsInText, wants: content.has, onCut };
  return content.roots
    .filter((root) => !isHidden(root))
    .map((root) => elementToMarkdown(root, options))
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Non-HTML bodies are included verbatim. */
function fenced(text: string, kind: string): string {
  if (kind === "text") return text.trim();
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${kind}\n${text.trim()}\n${fence}`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

export function* linksOf(facts: PageFacts, content: Content): Generator<{ url: string; element: Element }> {
  for (const element of facts.document.buckets.link) {
    const href = element.attr("href");
    const url = href === undefined || isInTemplate(element) ? null : linkTarget(href, facts.resolver);
    if (url !== null && content.has(element)) yield { url, element };
  }
}

function* imagesOf(facts: PageFacts, content: Content): Generator<string> {
  for (const element of elementsBelow(facts.document.root)) {
    const { name } = element.tag;
    const isSource = name === "source" && element.parent?.tag.name === "picture";
    if ((name !== "img" && !isSource) || isInTemplate(element) || !content.has(element)) continue;
    if (isPixel(element)) continue;
    const offered = readSourceSet(element.attr("srcset") ?? element.attr("data-srcset") ?? "");
    for (const address of [isSource ? null : imageSource(element), ...offered.map((source) => source.address)]) {
      const url = address === null ? null : facts.resolve(address);
      if (url !== null && /^https?:/.test(url)) yield url;
    }
  }
}

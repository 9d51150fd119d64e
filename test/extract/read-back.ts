/** Markdown as a reader of CommonMark with GitHub's additions shows it, and pages as a browser does. */
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { toMarkdown } from "../../src/extract/article/markdown.ts";
import { isHidden } from "../../src/extract/article/visible.ts";
import { type Element, elementsBelow } from "../../src/extract/dom/nodes.ts";
import { textOf } from "../../src/extract/dom/text.ts";
import type { PageFacts } from "../../src/extract/facts/page-facts.ts";
import { parsePage } from "../../src/extract/page.ts";

export interface Seen {
  text: string;
  links: string[];
  pictures: string[];
}

function read(html: string): { facts: PageFacts; body: Element } {
  const { facts } = parsePage({ body: html, contentType: "text/html", url: "https://site.example/a/" });
  for (const body of elementsBelow(facts.document.root)) if (body.tag.name === "body") return { facts, body };
  throw new Error("no body");
}

export function markdownOf(html: string): string {
  const { facts, body } = read(html);
  return toMarkdown(body, { keep: (element) => !isHidden(element), resolve: facts.resolve });
}

export function seenIn(html: string): Seen {
  const { facts, body } = read(html);
  const seen: Seen = { text: textOf(body), links: [], pictures: [] };
  for (const element of elementsBelow(body)) {
    // Readers write some characters of an address as their codes.
    const address = decodeURIComponent(facts.resolve(element.attr("href") ?? element.attr("src") ?? "") ?? "");
    if (element.tag.name === "a") seen.links.push(address);
    if (element.tag.name === "img") seen.pictures.push(address);
  }
  return seen;
}

export function seenInMarkdown(markdown: string): Seen {
  return seenIn(micromark(markdown, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] }));
}

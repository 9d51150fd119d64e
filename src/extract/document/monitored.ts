/** The content of a page as a monitor compares it: one line per block, with the part of the page that it is in. */
import { encodeContent, type PageContent, type RegionTree } from "../../domain/monitor/content.ts";
import { hunksOf, wholeHunk } from "../../domain/monitor/sequence.ts";
import { toPlainText } from "../article/plain-text.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import type { Problems } from "../rules/compile.ts";
import { chooseContent } from "./content.ts";
import { linksOf, MAX_URLS, readDocument } from "./read.ts";
import { RegionNames } from "./regions.ts";
import { compileDocument, type DocumentPlan } from "./spec.ts";

/** A parsed page. */
interface Page {
  kind: "html" | "xml" | "json" | "text";
  text: string;
  facts: PageFacts;
}

const FORMS = ["text", "markdown", "links"] as const;

/** What a plan says about it. */
export interface MonitoredSpec {
  what: (typeof FORMS)[number];
  /** CSS selectors of elements that are left out. */
  exclude: string[];
  /** Of Markdown: without navigation, advertisements and the like. */
  only_main_content: boolean;
}

export interface MonitoredPlan {
  what: MonitoredSpec["what"];
  document: DocumentPlan;
}

/** Each fetch may or may not have them. */
const BANNERS = ["cookie-banner", "cookie-consent", "cookie-notice", "cookieconsent", "consent-banner"].flatMap(
  (name) => [`[id*="${name}" i]`, `[class*="${name}" i]`],
);

export function compileMonitored(spec: MonitoredSpec, problems: Problems): MonitoredPlan | null {
  const { what, exclude, only_main_content } = spec;
  const formats = what === "text" ? [] : [what];
  const request = {
    formats,
    only_main_content: what === "markdown" && only_main_content,
    exclude_tags: [...exclude, ...BANNERS],
  };
  const document = compileDocument(request, "monitor", problems);
  return document === null ? null : { what, document };
}

const MAX_CHARS = 2 * 1024 * 1024;

export function readMonitored(page: Page, { what, document }: MonitoredPlan): string {
  const { text, tree } = contentOf(page, what, document);
  return encodeContent({ text: text.slice(0, MAX_CHARS), tree });
}

function contentOf(page: Page, what: MonitoredSpec["what"], document: DocumentPlan): PageContent {
  if (what === "links") return linksIn(page, document);
  if (page.kind !== "html") return { text: page.kind === "json" ? prettyJson(page.text) : page.text, tree: null };
  const title = page.facts.title ?? "";
  const names = new RegionNames();
  if (title.trim() !== "") names.add(null);
  const { roots, keepsInText } = chooseContent(page.facts, document);
  const parts = roots.map((root) => toPlainText(root, keepsInText, (block) => names.add(block)));
  const text = [title, ...parts].join("\n");
  if (what === "text") return { text, tree: names.tree };
  const markdown = `${title}\n${readDocument(page, document).markdown ?? ""}`;
  return { text: markdown, tree: alongMarkdown(text, names.tree, markdown) };
}

function linksIn({ facts }: Page, document: DocumentPlan): PageContent {
  const names = new RegionNames();
  const content = chooseContent(facts, document);
  const urls: string[] = [];
  for (const { url, element } of linksOf(facts, content)) {
    if (urls.length === MAX_URLS) break;
    urls.push(url);
    names.add(element);
  }
  return { text: urls.join("\n"), tree: names.tree };
}

const linesOf = (text: string) => text.split("\n").filter((line) => line.trim() !== "");
/** Characters of a line that are looked at, and of its start that make it the same line. */
const MAX_BARE = 1000;
const MIN_START = 6;
/** What a line of text and its Markdown have in common; a picture has nothing. */
const bare = (line: string) =>
  line
    .slice(0, MAX_BARE)
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[^\p{L}\p{N}]+/gu, "")
    .slice(0, 200);

/** The places of the lines of Markdown: those of the same lines of the text, in order. */
function alongMarkdown(text: string, { nodes, lines }: RegionTree, markdown: string): RegionTree {
  const [texts, wanted] = [text, markdown].map((all) => linesOf(all).map(bare)) as [string[], string[]];
  const found: number[] = [];
  // Beside the line before: a picture, or the rest of a line.
  const take = (at: number) => found.push(lines[at] ?? found.at(-1) ?? -1);
  let at = 0;
  for (const { from, to, otherFrom, otherTo } of hunksOf(texts, wanted) ?? wholeHunk(texts, wanted)) {
    for (; at < from; at += 1) take(at);
    for (const line of wanted.slice(otherFrom, otherTo)) {
      const isStart = (start: string) => start.length >= MIN_START && line.startsWith(start);
      const next = texts.slice(at, to).findIndex(isStart);
      if (next >= 0) at += next + 1;
      take(next >= 0 ? at - 1 : -1);
    }
    at = to;
  }
  for (; at < lines.length; at += 1) take(at);
  return { nodes, lines: found };
}

/** A line per value, however the server writes it. */
function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
}

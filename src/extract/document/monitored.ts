/** The content of a page as a monitor compares it: one line per block. */
import { toPlainText } from "../article/plain-text.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import type { Problems } from "../rules/compile.ts";
import { chooseContent } from "./content.ts";
import { readDocument } from "./read.ts";
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
  return contentOf(page, what, document).slice(0, MAX_CHARS);
}

function contentOf(page: Page, what: MonitoredSpec["what"], document: DocumentPlan): string {
  if (what === "links") return (readDocument(page, document).links ?? []).join("\n");
  if (page.kind !== "html") return page.kind === "json" ? prettyJson(page.text) : page.text;
  const title = page.facts.title ?? "";
  if (what === "markdown") return `${title}\n${readDocument(page, document).markdown ?? ""}`;
  const { roots, keepsInText } = chooseContent(page.facts, document);
  return [title, ...roots.map((root) => toPlainText(root, keepsInText))].join("\n");
}

/** A line per value, however the server writes it. */
function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
}

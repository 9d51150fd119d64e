/** Extracts one page: records, title, links and article come from the same parse. */
import { hash } from "node:crypto";
import { hasTooManyValues, MAX_JSON_VALUES } from "../domain/text/json-size.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import { type Article, countWords } from "./article/article.ts";
import { decodeBody } from "../domain/text/charset.ts";
import { readMonitored } from "./document/monitored.ts";
import { type PageDocument, readDocument } from "./document/read.ts";
import type { Document } from "./dom/nodes.ts";
import { unwrapNoscript } from "./dom/noscript.ts";
import { parseHtml } from "./dom/parse.ts";
import { parseXml } from "./dom/xml.ts";
import type { RobotsDirectives } from "../domain/site/robots-directives.ts";
import { PageFacts } from "./facts/page-facts.ts";
import { depthOf, MAX_JSON_DEPTH } from "./json.ts";
import type { Link } from "./links.ts";
import type { Plan } from "./plan.ts";
import { recordProblems } from "./schema.ts";
import { type ExtractionProblem, evaluate } from "./rules/evaluate.ts";
import type { Scope } from "./rules/extractors.ts";
import { budget } from "./select/budget.ts";

export interface PageInput {
  /** Decompressed bytes, or text that is already decoded (a browser's). */
  body: Uint8Array | string;
  /** The raw header, or null. */
  contentType: string | null;
  /** After redirects. */
  url: string | null;
}

type PageKind = "html" | "xml" | "json" | "text";

export interface Extraction {
  kind: PageKind;
  /** The detected encoding; null: the input was text. */
  charset: string | null;
  /** The text of `<title>`. */
  title: string | null;
  /** One per item, or one for the page; empty when the plan has no fields. */
  records: Record<string, JsonValue>[];
  /** Missing or invalid required fields, and schema violations: the page fails as `extraction`. */
  errors: ExtractionProblem[];
  /** Optional fields that are present but invalid. */
  warnings: ExtractionProblem[];
  links: Link[];
  /** Absent unless the plan requests it: the addresses of the links, each once, at most MAX_LINK_URLS. */
  linkUrls?: string[];
  /** Without its HTML, which costs as much as everything else and is available as a field. */
  article: Omit<Article, "html"> | null;
  /** Absent unless the plan requests it. */
  document?: PageDocument;
  /** Absent unless the plan requests it. */
  monitored?: string;
  /** The text for another extractor; null unless the plan requests it. */
  source: PageText | null;
  meta: { language: string | null; canonicalUrl: string | null; robots: RobotsDirectives; baseUrl: string | null };
  /** The page exceeds the limits, or has too many items; its end was not read. */
  truncated: boolean;
}

interface PageText {
  /** The article as Markdown; for non-HTML bodies the text itself. */
  markdown: string;
  /** Truncated. */
  cut: boolean;
  contentHash: string;
  wordCount: number;
}

const MAX_ITEMS = 10_000;
const MAX_LINK_URLS = 1000;
const MAX_PROBLEMS = 100;
const ABSENT: ReadonlySet<string> = new Set(["nothing matches", "the page does not have it"]);

export function extractPage(input: PageInput, plan: Plan): Extraction {
  return extract(parsePage(input), plan);
}

/** A parsed page, for code that needs more than its records. */
export interface ParsedPage {
  kind: PageKind;
  text: string;
  /** The detected encoding; null: the input was text. */
  charset: string | null;
  facts: PageFacts;
}

export function parsePage({ body, contentType, url }: PageInput): ParsedPage {
  const { text, charset } = typeof body === "string" ? { text: body, charset: null } : decodeBody(body, contentType);
  const kind = kindOf(contentType, text);
  // Bytes are searched twenty times as fast as text.
  const mayHaveNulls = typeof body === "string" || body.includes(0);
  const document = parse(kind, text, mayHaveNulls);
  const form = { isJson: kind === "json", isText: kind === "text", isDocument: isDocument(contentType) };
  return { kind, text, charset, facts: new PageFacts({ document, url, text, ...form }) };
}

/** A document, such as a PDF, that was converted to HTML has this parameter. */
function isDocument(contentType: string | null): boolean {
  return /;\s*document=[a-z]+\s*(?:;|$)/.test(contentType ?? "");
}

export function extract(page: ParsedPage, plan: Plan): Extraction {
  const { kind, text, charset, facts } = page;
  const extraction: Extraction = {
    kind,
    charset,
    title: facts.title,
    records: [],
    errors: [],
    warnings: [],
    links: plan.links === true ? facts.links : [],
    ...(plan.links === "urls" ? { linkUrls: facts.linkUrls(MAX_LINK_URLS) } : {}),
    article: plan.article && facts.article !== null ? withoutHtml(facts.article) : null,
    source: plan.source === null ? null : sourceOf(kind === "html" ? facts.article : null, text, plan.source),
    meta: {
      language: facts.language,
      canonicalUrl: facts.linkTag("canonical"),
      robots: facts.robots,
      baseUrl: facts.base,
    },
    truncated: facts.document.truncated,
  };
  if (plan.document !== null) extraction.document = readDocument(page, plan.document);
  if (plan.monitored !== null) extraction.monitored = readMonitored(page, plan.monitored);
  if (plan.rules.length === 0 && !plan.whole) return extraction;
  if (kind === "json" && hasTooManyValues(text)) {
    const message = `the page has more than ${MAX_JSON_VALUES} values`;
    extraction.errors.push({ record: 0, field: "", rule: "json", message, found: null });
    extraction.truncated = true;
  } else readRecords(facts, plan, extraction);
  return extraction;
}

function withoutHtml({ text, markdown, wordCount, language, contentHash }: Article): Omit<Article, "html"> {
  return { text, markdown, wordCount, language, contentHash };
}

function sourceOf(article: Article | null, text: string, maxLength: number): PageText {
  const fullText = article?.markdown ?? text;
  const markdown = fullText.slice(0, maxLength);
  const { contentHash = hash("sha256", text, "hex"), wordCount = countWords(markdown) } = article ?? {};
  return { markdown, cut: fullText.length > maxLength, contentHash, wordCount };
}

function parse(kind: PageKind, text: string, mayHaveNulls: boolean): Document {
  if (kind === "html") {
    const document = parseHtml(text, mayHaveNulls);
    unwrapNoscript(document);
    return document;
  }
  return kind === "xml" ? parseXml(text) : parseHtml("");
}

/** By the header, unless the text clearly contradicts it. */
function kindOf(contentType: string | null, text: string): PageKind {
  const type = (contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (/[/+]json$/.test(type) || type === "application/json-seq") return "json";
  const start = /^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--[^]{0,1000}?-->\s*)?(<!doctype html|<[a-z:]+|[{[])?/i.exec(
    text.slice(0, 4000),
  );
  const first = start?.[1]?.toLowerCase() ?? "";
  if (/^<(rss|feed|urlset|sitemapindex|rdf:rdf|opml)$/.test(first)) return "xml";
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (/[/+]xml$/.test(type)) return first === "<!doctype html" || first === "<html" ? "html" : "xml";
  if (first.startsWith("<")) return "html";
  if ((first === "{" || first === "[") && type !== "text/plain") return "json";
  return type === "" ? "html" : "text";
}

function readRecords(facts: PageFacts, plan: Plan, extraction: Extraction): void {
  budget.reset();
  const page: Scope = { facts, element: facts.document.root };
  let scopes: Scope[] = [page];
  if (plan.items !== null) {
    try {
      const found = plan.items(page, MAX_ITEMS + 1);
      if (found.length > MAX_ITEMS) extraction.truncated = true;
      scopes = found
        .slice(0, MAX_ITEMS)
        .map((match) =>
          "element" in match
            ? { facts, element: match.element }
            : { facts, element: facts.document.root, json: match.value },
        );
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      extraction.errors.push({ record: 0, field: "items", rule: "items", message, found: null });
      return;
    }
  }
  for (const [index, scope] of scopes.entries()) extraction.records.push(readRecord(scope, index, plan, extraction));
}

function readRecord(scope: Scope, index: number, plan: Plan, extraction: Extraction): Record<string, JsonValue> {
  if (plan.whole && depthOf(scope.json ?? null) >= MAX_JSON_DEPTH) {
    const problem = { record: index, field: "", rule: "items", message: "is nested too deep", found: null };
    if (extraction.errors.length < MAX_PROBLEMS) extraction.errors.push(problem);
    return {};
  }
  const record: Record<string, JsonValue> = plan.whole ? wholeItem(scope) : {};
  for (const rule of plan.rules) {
    const { value, problem } = evaluate(rule, scope);
    record[rule.field] = value;
    if (problem === null) continue;
    const list = rule.required ? extraction.errors : extraction.warnings;
    // An absent optional field is no warning.
    if (!rule.required && problem.found === null && ABSENT.has(problem.message)) continue;
    if (list.length < MAX_PROBLEMS) list.push({ record: index, field: rule.field, rule: rule.shown, ...problem });
  }
  if (plan.check !== null) checkSchema(record, index, plan, extraction);
  return record;
}

/** Wraps non-objects: a record has named fields. */
function wholeItem({ json = null }: Scope): Record<string, JsonValue> {
  return typeof json === "object" && json !== null && !Array.isArray(json) ? json : { value: json };
}

function checkSchema(record: Record<string, JsonValue>, index: number, plan: Plan, extraction: Extraction): void {
  for (const problem of recordProblems(plan.check!, record, index))
    if (extraction.errors.length < MAX_PROBLEMS) extraction.errors.push(problem);
}

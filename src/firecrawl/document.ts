/** One page of a run as Firecrawl's clients know it. */
import { type DiffHunk, unifiedDiff } from "../domain/monitor/text-diff.ts";
import { parsedDiff, type Tracking } from "../domain/monitor/tracking.ts";
import { isObject } from "../domain/text/input-reader.ts";
import { shownUrl } from "../domain/text/url.ts";
import type { ResultRecord } from "../store/records/output-records.ts";
import type { FirecrawlMark } from "./deps.ts";
import { type JsonAsk, jsonOf } from "./json-values.ts";
import { toMetadata } from "./metadata.ts";

type Values = Readonly<Record<string, unknown>>;

export interface FirecrawlDocument {
  markdown?: string;
  html?: string;
  rawHtml?: string;
  links?: readonly string[];
  images?: readonly string[];
  screenshot?: string;
  json?: unknown;
  extract?: unknown;
  actions?: Record<string, unknown>;
  changeTracking?: ChangeTracking;
  warning?: string;
  metadata: Record<string, unknown>;
}

interface ChangeTracking {
  previousScrapeAt: string | null;
  changeStatus: "new" | "same" | "changed" | "removed";
  visibility: "visible" | "hidden";
  /** Of the mode `git-diff`, if it changed. */
  diff?: { text: string; json: unknown };
  /** Of the mode `json`: values before and now, by name. */
  json?: Record<string, { previous: unknown; current: unknown }>;
}

interface DocumentContext {
  /** Where this server is, as the caller named it. */
  base: string;
  mark: FirecrawlMark | null;
  /** It was got before: when. */
  cachedAt?: number;
}

export function toDocument(result: ResultRecord, { base, mark, cachedAt }: DocumentContext): FirecrawlDocument {
  const data = isObject(result.data) ? result.data : {};
  const document = isObject(data["document"]) ? data["document"] : plainDocument(data);
  const about = isObject(document["metadata"]) ? document["metadata"] : {};
  const json = mark === null || mark.json === null ? null : jsonOf(mark.json, recordOf(mark, data), about);
  const warnings = [cutWarning(document), missingWarning(json?.missing ?? [])].filter((one) => one !== null);
  return {
    ...entryOf("markdown", document["markdown"]),
    ...entryOf("html", document["html"]),
    ...entryOf("rawHtml", document["raw_html"]),
    ...entryOf("links", document["links"]),
    ...entryOf("images", document["images"]),
    ...entryOf("screenshot", fileAddress(base, document["screenshot"])),
    ...(json === null ? {} : { [mark?.json?.under ?? "json"]: json.json }),
    ...entryOf("actions", toActions(base, document["actions"])),
    ...entryOf("changeTracking", toTracking(mark, data, about)),
    ...(warnings.length === 0 ? {} : { warning: warnings.join(" ") }),
    metadata: {
      ...toMetadata({ ...addressesOf(result, data), ...about }),
      scrapeId: result.taskId,
      proxyUsed: "basic",
      cacheState: cachedAt === undefined ? "miss" : "hit",
      ...(cachedAt === undefined ? {} : { cachedAt: new Date(cachedAt).toISOString() }),
      creditsUsed: 0,
    },
  };
}

/** Of a run that was not asked for documents: its article. */
function plainDocument(data: Values): Values {
  const { markdown, links, title, language } = data;
  return { markdown, links, metadata: { title, language } };
}

/** What rules or a model have found: in a crawl and a batch apart from the rest. */
function recordOf({ kind }: FirecrawlMark, data: Values): Values {
  if (kind !== "scrape") return isObject(data["fields"]) ? data["fields"] : {};
  const { document: _document, tracking: _tracking, ...record } = data;
  return record;
}

function toTracking(mark: FirecrawlMark | null, data: Values, about: Values): ChangeTracking | null {
  const asked = mark?.tracking ?? null;
  if (mark === null || asked === null || !isObject(data["tracking"])) return null;
  const { previous_at, status, hunks, previous_record: before } = data["tracking"] as Tracking;
  const shown = hunks as unknown as DiffHunk[];
  const hasDiff = asked.modes.includes("git-diff") && status === "changed";
  const values = asked.json === null || before === null ? null : valuesOf(mark, asked.json, before, data, about);
  return {
    previousScrapeAt: previous_at,
    changeStatus: status,
    visibility: "visible",
    ...(hasDiff ? { diff: { text: unifiedDiff(shown), json: parsedDiff(shown) } } : {}),
    ...(values === null ? {} : { json: values }),
  };
}

function valuesOf(
  mark: FirecrawlMark,
  ask: JsonAsk,
  before: Values,
  data: Values,
  about: Values,
): NonNullable<ChangeTracking["json"]> {
  // Metadata of the earlier page is not kept: what only that says is compared by what rules have read.
  const previous = jsonOf(ask, recordOf(mark, before), about).json;
  const current = jsonOf(ask, recordOf(mark, data), about).json;
  return Object.fromEntries(
    Object.keys(current).map((name) => [name, { previous: previous[name] ?? null, current: current[name] ?? null }]),
  );
}

function addressesOf(result: ResultRecord, data: Values): Values {
  const asked = result.url === null ? null : shownUrl(result.url);
  const landed = typeof data["url"] === "string" ? data["url"] : asked;
  return { source_url: asked, url: landed, title: data["title"] };
}

function entryOf<Name extends string>(name: Name, value: unknown): Record<Name, never> | object {
  return value === undefined || value === null ? {} : { [name]: value };
}

function fileAddress(base: string, file: unknown): string | null {
  return isObject(file) && typeof file["artifact_id"] === "string" ? `${base}/artifacts/${file["artifact_id"]}` : null;
}

function toActions(base: string, actions: unknown): Record<string, unknown> | null {
  if (!isObject(actions)) return null;
  const { screenshots, scrapes } = actions;
  return {
    screenshots: Array.isArray(screenshots) ? screenshots.map((file) => fileAddress(base, file)) : [],
    scrapes: Array.isArray(scrapes) ? scrapes : [],
    javascriptReturns: [],
    pdfs: [],
  };
}

function cutWarning({ truncated: cut, warning }: Values): string | null {
  if (typeof warning === "string") return `${warning.replace(/^./, (letter) => letter.toUpperCase())}.`;
  return Array.isArray(cut) && cut.length > 0 ? `Too long, cut off: ${cut.join(", ")}.` : null;
}

function missingWarning(missing: readonly string[]): string | null {
  return missing.length === 0 ? null : `json: the page does not contain ${missing.join(", ")}.`;
}

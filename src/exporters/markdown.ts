/**
 * For reading, and for tools that read Markdown: YAML front matter per record, then its Markdown. A record without
 * Markdown becomes a heading and a list of its fields. A record starts with a line `---` followed by a line `url: …`;
 * this pair occurs nowhere else.
 */
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { Exporter, ExportRecord } from "./exporter.ts";
import { frontMatter, type FrontMatter } from "./front-matter.ts";
import { safeBody } from "./markdown-body.ts";
import { address, escaped, fieldList, paragraphs } from "./markdown-text.ts";
import { columnNames, inChunks } from "./stream.ts";

export const markdownExporter: Exporter = {
  name: "markdown",
  contentType: "text/markdown; charset=utf-8",
  extension: "md",
  about: "for reading: each record as front matter and Markdown",
  isText: true,
  export: (records) => inChunks(sections(records)),
};

async function* sections(records: AsyncIterable<ExportRecord>): AsyncGenerator<string> {
  let before = "";
  for await (const record of records) {
    yield `${before}${markdownRecord(record)}`;
    before = "\n";
  }
  if (before === "") yield "No results.\n";
}

type Data = Record<string, JsonValue>;

/** Document metadata that describes the page; the rest is in its Markdown, or for programs. */
const DOCUMENT_FIELDS = ["title", "author", "published_at", "description", "language"];
const LEADING_FIELDS = ["title", "author", "published_at"];

/** Ends with a line end. */
export function markdownRecord({ url, data }: ExportRecord): string {
  const document = asObject(valueOf(data, "document"));
  const body = text(data, "markdown") ?? text(document, "markdown");
  const title = titleOf({ data });
  const fields = fieldsOf(data, document, body !== null);
  const isShort = ([, value]: readonly [string, JsonValue]) => typeof value !== "object" || value === null;
  const headFields = withUniqueNames(body === null ? fields.filter(isShort) : fields);
  const head = frontMatter([["url", url], ...inOrder(headFields)]);
  if (body !== null) return `${head}\n${safeBody(body)}\n`;
  const plain = text(data, "text");
  const listFields = fields.filter(([name]) => name !== "title" || title === null);
  const parts = [`# ${title === null ? escaped(url) || "–" : escaped(title)}`, address(url)];
  if (listFields.length > 0) parts.push(fieldList(listFields));
  if (plain !== null) parts.push(paragraphs(plain));
  return `${head}\n${parts.join("\n\n")}\n`;
}

/** The extracted title, or else the page's own metadata. */
export function titleOf({ data }: Pick<ExportRecord, "data">): string | null {
  return text(data, "title") ?? text(asObject(asObject(valueOf(data, "document"))["metadata"] ?? null), "title");
}

/** Omits what the body already contains: the Markdown, its plain text or HTML, and its links. */
function fieldsOf(data: Data, document: Data, hasBody: boolean): [string, JsonValue][] {
  const omitted = new Set(["markdown", "document"]);
  if (text(data, "text") !== null) omitted.add("text");
  // The links of a crawled article; links extracted by a rule stay.
  if (hasBody && Object.hasOwn(data, "content_hash")) omitted.add("links");
  const metadata = asObject(document["metadata"] ?? null);
  const about = DOCUMENT_FIELDS.filter((name) => text(metadata, name) !== null && text(data, name) === null);
  const others = Object.entries(data).filter(([name]) => !omitted.has(name) && !about.includes(name));
  return [...about.map((name): [string, JsonValue] => [name, metadata[name] as JsonValue]), ...others];
}

function inOrder(fields: FrontMatter): FrontMatter {
  const first = LEADING_FIELDS.flatMap((name) => fields.filter(([field]) => field === name));
  return [...first, ...fields.filter(([field]) => !LEADING_FIELDS.includes(field))];
}

/** A field named `url` becomes `data_url`. */
function withUniqueNames(fields: FrontMatter): FrontMatter {
  const names = columnNames(
    fields.map(([name]) => name),
    ["url"],
  );
  return fields.map(([name, value]) => [names.get(name) ?? name, value]);
}

function valueOf(data: Data, field: string): JsonValue {
  return Object.hasOwn(data, field) ? (data[field] ?? null) : null;
}

function asObject(value: JsonValue): Data {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function text(data: Data, field: string): string | null {
  const value = valueOf(data, field);
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

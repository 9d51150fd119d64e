/**
 * For reading, and for tools that read Markdown: of each record YAML front matter, then its Markdown. A record without
 * Markdown is a heading and a list of its fields. A record begins with a line `---` that a line `url: …` follows; these two
 * lines stand nowhere else.
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

/** Of a document, what says something about the page; all else of it is in its Markdown, or for programs. */
const OF_DOCUMENTS = ["title", "author", "published_at", "description", "language"];
/** They stand first. */
const FIRST = ["title", "author", "published_at"];

/** Whole, with a line end at its end. */
export function markdownRecord({ url, data }: ExportRecord): string {
  const document = asObject(valueOf(data, "document"));
  const body = text(data, "markdown") ?? text(document, "markdown");
  const title = titleOf({ data });
  const fields = fieldsOf(data, document, body !== null);
  const isShort = ([, value]: readonly [string, JsonValue]) => typeof value !== "object" || value === null;
  const above = namedApart(body === null ? fields.filter(isShort) : fields);
  const head = frontMatter([["url", url], ...inOrder(above)]);
  if (body !== null) return `${head}\n${safeBody(body)}\n`;
  const plain = text(data, "text");
  const below = fields.filter(([name]) => name !== "title" || title === null);
  const parts = [`# ${title === null ? escaped(url) || "–" : escaped(title)}`, address(url)];
  if (below.length > 0) parts.push(fieldList(below));
  if (plain !== null) parts.push(paragraphs(plain));
  return `${head}\n${parts.join("\n\n")}\n`;
}

/** What a record is called, on its page or by what the page says of itself. */
export function titleOf({ data }: Pick<ExportRecord, "data">): string | null {
  return text(data, "title") ?? text(asObject(asObject(valueOf(data, "document"))["metadata"] ?? null), "title");
}

/** Without what the body says: the Markdown, the same as plain text or HTML, and its links. */
function fieldsOf(data: Data, document: Data, hasBody: boolean): [string, JsonValue][] {
  const left = new Set(["markdown", "document"]);
  if (text(data, "text") !== null) left.add("text");
  // An article of a crawl; links that a rule has found are something else.
  if (hasBody && Object.hasOwn(data, "content_hash")) left.add("links");
  const metadata = asObject(document["metadata"] ?? null);
  const about = OF_DOCUMENTS.filter((name) => text(metadata, name) !== null && text(data, name) === null);
  const others = Object.entries(data).filter(([name]) => !left.has(name) && !about.includes(name));
  return [...about.map((name): [string, JsonValue] => [name, metadata[name] as JsonValue]), ...others];
}

function inOrder(fields: FrontMatter): FrontMatter {
  const first = FIRST.flatMap((name) => fields.filter(([field]) => field === name));
  return [...first, ...fields.filter(([field]) => !FIRST.includes(field))];
}

/** A field that is called `url`, too, becomes `data_url`. */
function namedApart(fields: FrontMatter): FrontMatter {
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

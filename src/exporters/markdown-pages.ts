/** A Markdown file per page: in a ZIP file, or for a folder. */
import { createHash } from "node:crypto";
import type { Exporter, ExportRecord, PackedFile } from "./exporter.ts";
import { markdownRecord, titleOf } from "./markdown.ts";
import { zip } from "./zip.ts";
import { decodePercent } from "../domain/text/url.ts";

export const markdownZipExporter: Exporter = {
  name: "markdown-zip",
  contentType: "application/zip",
  extension: "zip",
  about: "a ZIP file with a Markdown file per page",
  isText: false,
  export: (records) => zip(packed(pagesOf(rendered(records)))),
};

export interface MarkdownPage {
  fileName: string;
  text: string;
}

interface RenderedRecord {
  url: string;
  title: string | null;
  text: string;
}

async function* rendered(records: AsyncIterable<ExportRecord>): AsyncGenerator<RenderedRecord> {
  for await (const record of records) yield { url: record.url, title: titleOf(record), text: markdownRecord(record) };
}

async function* packed(pages: AsyncIterable<MarkdownPage>): AsyncGenerator<PackedFile> {
  for await (const { fileName, text } of pages) {
    const bytes = Buffer.from(text);
    yield {
      path: fileName,
      size: bytes.length,
      shrinks: true,
      async *open() {
        yield bytes;
      },
    };
  }
}

/** Splits a `markdown` export into its pages, as a stream. */
export function pagesIn(exported: AsyncIterable<Uint8Array>): AsyncGenerator<MarkdownPage> {
  return pagesOf(readRecords(exported));
}

const BOUNDARY = "\n---\nurl: ";

async function* readRecords(exported: AsyncIterable<Uint8Array>): AsyncGenerator<RenderedRecord> {
  const decoder = new TextDecoder();
  let left = "";
  let searched = 0;
  for await (const chunk of exported) {
    left += decoder.decode(chunk, { stream: true });
    for (let at = left.indexOf(BOUNDARY, searched); at >= 0; at = left.indexOf(BOUNDARY)) {
      yield readHead(left.slice(0, at));
      left = left.slice(at + 1);
    }
    searched = Math.max(0, left.length - BOUNDARY.length);
  }
  left += decoder.decode();
  // Without records the file only says "No results."
  if (left.startsWith(BOUNDARY.slice(1))) yield readHead(left);
}

function readHead(text: string): RenderedRecord {
  const head = text.slice(0, text.indexOf("\n---\n", 4) + 1);
  const read = (name: string) => new RegExp(`^${name}: (".*")$`, "m").exec(head)?.[1];
  const title = read("title");
  return {
    url: JSON.parse(read("url") ?? '""') as string,
    title: title === undefined ? null : (JSON.parse(title) as string),
    text,
  };
}

/** Consecutive records of one page share a file; a page that recurs later gets another. */
async function* pagesOf(records: AsyncIterable<RenderedRecord>): AsyncGenerator<MarkdownPage> {
  const usedNames = new Set<number>();
  let page: (MarkdownPage & Pick<RenderedRecord, "url">) | undefined;
  for await (const { url, title, text } of records) {
    if (page !== undefined && page.url === url && url !== "") {
      page.text += `\n${text}`;
      continue;
    }
    if (page !== undefined) yield page;
    page = { url, fileName: uniqueName(pageName(url, title), usedNames), text };
  }
  if (page !== undefined) yield page;
}

function uniqueName(name: string, usedNames: Set<number>): string {
  for (let n = 1; ; n += 1) {
    const candidate = n === 1 ? name : `${name}-${n}`;
    // Case-insensitive file systems exist; a number takes less memory than a name.
    const key = Number.parseInt(hashOf(candidate.toLowerCase()).slice(0, 13), 16);
    if (usedNames.has(key)) continue;
    usedNames.add(key);
    return `${candidate}.md`;
  }
}

const MAX_NAME_BYTES = 80;
const MAX_SOURCE_LENGTH = 400;

/**
 * The words of the title or the URL, and 8 digits of the URL's hash. So two pages with one title have two names, and a
 * page has the same name in every export, in whatever order pages come.
 */
function pageName(url: string, title: string | null): string {
  const words = wordsOf(title ?? "") || wordsOf(pathOf(url)) || "page";
  return `${words}-${hashOf(url).slice(0, 8)}`;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Lower-case letters and digits of all scripts, with dashes between words. */
function wordsOf(text: string): string {
  const words = text
    .slice(0, MAX_SOURCE_LENGTH)
    .normalize("NFC")
    .toLowerCase()
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}\p{M}_]+/gu, "-")
    .replace(/^[-\p{M}]+/u, "");
  return truncate(words).replace(/-+$/, "");
}

function truncate(text: string): string {
  let bytes = 0;
  let end = 0;
  for (const letter of text) {
    bytes += Buffer.byteLength(letter);
    if (bytes > MAX_NAME_BYTES) break;
    end += letter.length;
  }
  return text.slice(0, end);
}

/** The last two path segments, or the host of a home page. */
function pathOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  const parts = parsed.pathname.split("/").filter((part) => part !== "" && !/^index\.\w+$/.test(part));
  const last = parts
    .slice(-2)
    .join("-")
    .replace(/\.\w{1,5}$/, "");
  return decodePercent(last) || parsed.hostname;
}

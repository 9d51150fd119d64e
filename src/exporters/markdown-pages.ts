/** A Markdown file per page: in a ZIP file, or for a folder. */
import { createHash } from "node:crypto";
import type { Exporter, ExportRecord, PackedFile } from "./exporter.ts";
import { markdownRecord, titleOf } from "./markdown.ts";
import { zip } from "./zip.ts";

export const markdownZipExporter: Exporter = {
  name: "markdown-zip",
  contentType: "application/zip",
  extension: "zip",
  about: "a ZIP file with a Markdown file per page",
  isText: false,
  export: (records) => zip(packed(pagesOf(named(records)))),
};

export interface MarkdownPage {
  fileName: string;
  text: string;
}

interface Named {
  url: string;
  title: string | null;
  text: string;
}

async function* named(records: AsyncIterable<ExportRecord>): AsyncGenerator<Named> {
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

/** The pages of an export in `markdown`, as its bytes come. */
export function pagesIn(exported: AsyncIterable<Uint8Array>): AsyncGenerator<MarkdownPage> {
  return pagesOf(readRecords(exported));
}

const BOUNDARY = "\n---\nurl: ";

async function* readRecords(exported: AsyncIterable<Uint8Array>): AsyncGenerator<Named> {
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
  // Without a record the file says so.
  if (left.startsWith(BOUNDARY.slice(1))) yield readHead(left);
}

function readHead(text: string): Named {
  const head = text.slice(0, text.indexOf("\n---\n", 4) + 1);
  const read = (name: string) => new RegExp(`^${name}: (".*")$`, "m").exec(head)?.[1];
  const title = read("title");
  return {
    url: JSON.parse(read("url") ?? '""') as string,
    title: title === undefined ? null : (JSON.parse(title) as string),
    text,
  };
}

/** Records of the same page that follow each other share a file; one that comes back later has another. */
async function* pagesOf(records: AsyncIterable<Named>): AsyncGenerator<MarkdownPage> {
  const taken = new Set<number>();
  let page: (MarkdownPage & Pick<Named, "url">) | undefined;
  for await (const { url, title, text } of records) {
    if (page !== undefined && page.url === url && url !== "") {
      page.text += `\n${text}`;
      continue;
    }
    if (page !== undefined) yield page;
    page = { url, fileName: freeName(pageName(url, title), taken), text };
  }
  if (page !== undefined) yield page;
}

function freeName(name: string, taken: Set<number>): string {
  for (let n = 1; ; n += 1) {
    const free = n === 1 ? name : `${name}-${n}`;
    // As file systems that do not tell capitals apart see it; a number takes less memory than a name.
    const key = Number.parseInt(hashOf(free.toLowerCase()).slice(0, 13), 16);
    if (taken.has(key)) continue;
    taken.add(key);
    return `${free}.md`;
  }
}

const LONGEST_BYTES = 80;
const MOST_READ = 400;

/**
 * The words of the title, or of the address, and a few characters of the address's hash. So two pages with one title have
 * two names, and a page has the same name each time, in whatever order pages come.
 */
function pageName(url: string, title: string | null): string {
  const words = wordsOf(title ?? "") || wordsOf(pathOf(url)) || "page";
  return `${words}-${hashOf(url).slice(0, 8)}`;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Letters and digits of all scripts in small letters, with dashes between words. */
function wordsOf(text: string): string {
  const words = text
    .slice(0, MOST_READ)
    .normalize("NFC")
    .toLowerCase()
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}\p{M}_]+/gu, "-")
    .replace(/^[-\p{M}]+/u, "");
  return cut(words).replace(/-+$/, "");
}

function cut(text: string): string {
  let bytes = 0;
  let end = 0;
  for (const letter of text) {
    bytes += Buffer.byteLength(letter);
    if (bytes > LONGEST_BYTES) break;
    end += letter.length;
  }
  return text.slice(0, end);
}

/** The end of the path, or the host of a home page. */
function pathOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  const parts = parsed.pathname.split("/").filter((part) => part !== "" && !/^index\.\w+$/.test(part));
  const last = parts
    .slice(-2)
    .join("-")
    .replace(/\.\w{1,5}$/, "");
  try {
    return decodeURIComponent(last) || parsed.hostname;
  } catch {
    return last;
  }
}

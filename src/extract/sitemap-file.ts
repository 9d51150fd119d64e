/** A fetched sitemap: often gzipped, sometimes twice, always untrusted. */
import { gunzipSync } from "node:zlib";
import { systemCode } from "../base/errors.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import { decodeBody } from "../domain/text/charset.ts";
import { readSitemap, SITEMAP_LIMITS, type Sitemap } from "./sitemap.ts";

export interface SitemapFile {
  body: Uint8Array;
  /** The raw header, or null. */
  contentType: string | null;
  /** After redirects. */
  url: string;
  /** Number of parent indexes. */
  depth: number;
}

/** Only the URLs, because there may be many. */
export interface SitemapReading extends Pick<Sitemap, "kind" | "truncated" | "problems"> {
  urls: string[];
  sitemaps: string[];
}

export function readSitemapFile({ body, contentType, url, depth }: SitemapFile): SitemapReading {
  const { text } = decodeBody(decompress(body), contentType);
  const { urls, sitemaps, ...rest } = readSitemap({ text, url, depth });
  return { ...rest, urls: urls.map((entry) => entry.url), sitemaps: sitemaps.map((entry) => entry.url) };
}

/** Some servers gzip a file that is already gzipped. */
const MAX_LAYERS = 2;

/** Detected from the bytes: neither the name nor the type of such a file is reliable. */
function decompress(body: Uint8Array): Uint8Array {
  let bytes = body;
  for (let layer = 0; layer < MAX_LAYERS && isGzip(bytes); layer += 1) bytes = gunzip(bytes);
  return bytes;
}

function isGzip([first, second]: Uint8Array): boolean {
  return first === 0x1f && second === 0x8b;
}

function gunzip(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: SITEMAP_LIMITS.bytes });
  } catch (error) {
    if (systemCode(error) === "ERR_BUFFER_TOO_LARGE")
      throw new FetchFailure(
        "decompression_limit",
        `the decompressed file has more than ${SITEMAP_LIMITS.bytes} bytes`,
      );
    if (systemCode(error) === "Z_BUF_ERROR")
      throw new FetchFailure("truncated_body", "the compressed file is incomplete", { cause: error });
    throw new FetchFailure("decompression_failed", "the compressed file is damaged", { cause: error });
  }
}

/** The root element determines the format. */
const LIST_ROOT = /^<(?:[\w-]{1,40}:)?(?:urlset|sitemapindex|rss|feed|RDF)[\s>]/i;
const SNIFFED_BYTES = 8 * 1024;

/** Whether a file lists pages rather than being one; detected from its beginning. */
export function looksLikeList(body: Uint8Array | string, contentType: string | null): boolean {
  if (typeof body === "string") return false;
  const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (isGzip(body)) return !type.startsWith("text/html");
  const start = Buffer.from(body.subarray(0, SNIFFED_BYTES)).toString("utf8");
  if (LIST_ROOT.test(withoutProlog(start))) return true;
  if (/[/+]json$/.test(type)) return isJsonFeed(body, type);
  return type === "text/plain" && /^\uFEFF?\s*https?:\/\/\S+\s*(?:\r?\n|$)/i.test(start);
}

/** Constructs before the root element, with their ends. */
const PROLOG = [
  ["<!--", "-->"],
  ["<?", "?>"],
  ["<!", ">"],
] as const;

/** Linear: the input is untrusted. */
function withoutProlog(text: string): string {
  let at = 0;
  for (;;) {
    while (/[\s\uFEFF]/.test(text[at] ?? "")) at += 1;
    const part = PROLOG.find(([begin]) => text.startsWith(begin, at));
    if (part === undefined) return text.slice(at, at + 100);
    const end = text.indexOf(part[1], at + part[0].length);
    if (end < 0) return "";
    at = end + part[1].length;
  }
}

/** The version URL of JSON Feed, anywhere in the file, is unique. */
function isJsonFeed(body: Uint8Array, type: string): boolean {
  return type === "application/feed+json" || Buffer.from(body).includes("jsonfeed.org/version/");
}

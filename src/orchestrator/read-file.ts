/** Reads a file that the caller has sent, like a page that has been fetched; nothing is stored. */
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { Recipe } from "../domain/run/recipe.ts";
import type { PageAnswer } from "../fetch/page.ts";
import type { AddressPolicy } from "../net/address.ts";
import { withDocument } from "../pages/document.ts";
import { getPage, type PageDeps, type PageGot } from "../pages/get-page.ts";
import { invalid } from "./invalid.ts";
import { requireExtractor } from "./jobs/extractor-input.ts";
import { type JobInput, pageJobFrom } from "./jobs/input.ts";
import type { JobDeps } from "./jobs/deps.ts";

export interface FileInput {
  bytes: Uint8Array;
  /** Decides where the bytes do not: `prices.csv`. */
  name: string;
  contentType: string | null;
}

interface FileReading {
  got: PageGot;
  /** With the document, if it was requested. */
  records: readonly Record<string, JsonValue>[];
}

/** Nothing is fetched. */
const NO_ADDRESSES: AddressPolicy = { privateNetworks: true, listed: [] };

/** `.invalid` is never a host. */
const FILE_HOST = "file.invalid";

/** The URL of a file that has none. */
export function fileUrl(name: string): string {
  const [last = ""] = name.split(/[/\\]/).slice(-1);
  return `https://${FILE_HOST}/${encodeURIComponent(last)}`;
}

/** The name of a file by its URL; null: it is the URL of a page. */
export function fileNameOf(url: string): string | null {
  const { host, pathname } = URL.parse(url) ?? { host: "", pathname: "" };
  return host === FILE_HOST ? decodeURIComponent(pathname.slice(1)) : null;
}

/** The response that a server with this file would send. */
export function fileAnswer({ bytes, name, contentType }: FileInput): PageAnswer {
  return {
    status: 200,
    finalUrl: fileUrl(name),
    redirects: [],
    headers: {},
    contentType: contentType ?? textTypeOf(name),
    body: bytes,
    durationMs: 0,
    requests: 0,
  };
}

/** A browser would ask the file's name, too. */
function textTypeOf(name: string): string | null {
  if (/\.html?$/i.test(name)) return "text/html";
  if (/\.json$/i.test(name)) return "application/json";
  if (/\.xml$/i.test(name)) return "application/xml";
  return /\.(?:txt|md)$/i.test(name) ? "text/plain" : "application/octet-stream";
}

export async function readFile(
  deps: JobDeps & { pages(): Promise<PageDeps> },
  file: FileInput,
  input: Omit<JobInput, "target_url">,
  signal: AbortSignal,
): Promise<FileReading> {
  if (file.bytes.byteLength === 0) throw invalid([{ path: "file", message: "is empty" }]);
  if (!file.name.isWellFormed())
    throw invalid([{ path: "file_name", message: "has half of a character (a lone surrogate); send valid Unicode" }]);
  const url = fileUrl(file.name);
  const job = pageJobFrom({ ...input, target_url: url }, { ...deps, policy: NO_ADDRESSES });
  await requireExtractor(deps, input);
  const pages = await deps.pages();
  const given = { name: "http" as const, fetch: async () => fileAnswer(file) };
  const got = await getPage(
    { ...pages, strategies: { ...pages.strategies, http: given } },
    {
      recipe: { ...(job.recipe as Recipe), strategy: "http", escalate: false },
      plan: { way: "http", probe: false, evidence: { rule: "explicit", because: "the file was supplied" } },
      url,
      credentialsFor: async () => null,
      signal,
    },
  );
  const noPictures = { picture: () => Promise.reject(new Error("a file has no screenshot")) };
  const { results } = await withDocument(noPictures, got, got.judgement?.records ?? [], url);
  return { got, records: results };
}

/** `search`: results of the operator's search server, and their pages, each an ordinary run. */
import { isOrbError } from "../base/errors.ts";
import { InputReader } from "../domain/text/input-reader.ts";
import {
  MAX_DOMAINS,
  MAX_RESULTS,
  NO_SEARCH,
  SEARCH_SOURCES,
  type SearchOrder,
  type SearchResult,
  type SearchSource,
  searchWeb,
} from "../orchestrator/search.ts";
import type { FirecrawlDeps } from "./deps.ts";
import { FirecrawlFault, faultOf, rejectInvalid } from "./fault.ts";
import { scrapePage } from "./scrape.ts";
import { readScrapeOptions, refuseLongWaits, type ScrapeAsk, type Version } from "./scrape-options.ts";

interface SearchAsk {
  order: SearchOrder;
  /** Null: the pages are not fetched. */
  scrape: ScrapeAsk | null;
  timeoutMs: number;
  warnings: string[];
}

const DEFAULT_LIMIT = { v1: 5, v2: 10 } as const;
const TIMEOUT_MS = 60_000;
const LONGEST_MS = 600_000;
/** Pages of one search at a time; each site has its own limits besides. */
const AT_ONCE = 5;
const RANGES: Readonly<Record<string, NonNullable<SearchOrder["timeRange"]>>> = {
  h: "day",
  d: "day",
  w: "week",
  m: "month",
  y: "year",
};
const CATEGORIES = ["github", "research", "pdf"] as const;

export function readSearch(body: unknown, version: Version, known: { llm: boolean }): SearchAsk {
  const reader = new InputReader(body);
  reader.require("query");
  const warnings: string[] = [];
  const query = reader.text("query", { empty: false, max: 500 }) ?? "";
  const include = reader.texts("includeDomains") ?? [];
  const exclude = reader.texts("excludeDomains") ?? [];
  const categories = namesIn(reader, "categories", CATEGORIES);
  const language = languageOf(reader, warnings);
  const timeRange = timeRangeOf(reader, warnings);
  const extra = [
    ...(categories.includes("github") ? ["site:github.com"] : []),
    ...(categories.includes("pdf") ? ["filetype:pdf"] : []),
  ].join(" OR ");
  const options = reader.child("scrapeOptions");
  const ask: SearchAsk = {
    order: {
      query: extra === "" ? query : `${query} ${extra}`,
      sources: sourcesIn(reader),
      limit: reader.number("limit", { min: 1, max: MAX_RESULTS }) ?? DEFAULT_LIMIT[version],
      ...(language === null ? {} : { language }),
      ...(timeRange === null ? {} : { timeRange }),
      ...(categories.includes("research") ? { category: "science" } : {}),
      ...(include.length === 0 ? {} : { includeDomains: include }),
      ...(exclude.length === 0 ? {} : { excludeDomains: exclude }),
    },
    scrape: options === undefined ? null : readPageOptions(options, version, known),
    timeoutMs: reader.number("timeout", { min: 1, max: LONGEST_MS }) ?? TIMEOUT_MS,
    warnings,
  };
  for (const [key, list] of Object.entries({ includeDomains: include, excludeDomains: exclude }))
    if (list.length > MAX_DOMAINS) reader.addError(key, `must have at most ${MAX_DOMAINS} entries`);
  if (include.length > 0 && exclude.length > 0)
    reader.addError("excludeDomains", "cannot be combined with includeDomains");
  if (reader.text("location") !== undefined) warnings.push("location is ignored: use lang and country");
  reader.ignore("origin", "integration", "ignoreInvalidURLs", "highlights", "filter", "toolDetail");
  reader.reject("enterprise", "is not supported: results are not kept elsewhere anyway", []);
  reader.reject("domainTools", "is not supported");
  reader.reject("threatProtection", "is not supported", []);
  rejectInvalid(reader);
  return ask;
}

/** Without formats, the pages are not fetched. */
function readPageOptions(reader: InputReader, version: Version, known: { llm: boolean }): ScrapeAsk | null {
  const formats = reader.value("formats");
  const ask = readScrapeOptions(reader, version, known);
  reader.rejectUnknownKeys();
  if (reader.errors.length > 0) return null;
  refuseLongWaits(ask, ask.timeoutMs, "timeout", "scrapeOptions.");
  return Array.isArray(formats) && formats.length === 0 ? null : ask;
}

/** Names, or objects with a type. */
function namesIn<const T extends string>(reader: InputReader, key: string, choices: readonly T[]): T[] {
  const names = (reader.list(key) ?? []).map((one) =>
    typeof one === "object" && one !== null ? (one as { type?: unknown }).type : one,
  );
  const wrong = names.find((name) => !(choices as readonly unknown[]).includes(name));
  if (wrong !== undefined) reader.addError(key, `expected a list of ${choices.join(", ")}`);
  return names as T[];
}

function sourcesIn(reader: InputReader): SearchSource[] {
  const sources = namesIn(reader, "sources", SEARCH_SOURCES);
  return sources.length === 0 ? ["web"] : sources;
}

function languageOf(reader: InputReader, warnings: string[]): string | null {
  const lang = reader.text("lang", { max: 20 });
  const country = reader.text("country", { max: 20 });
  if (lang === undefined) {
    if (country !== undefined) warnings.push("country is ignored without lang: the search server knows languages only");
    return null;
  }
  const language = country === undefined || lang.includes("-") ? lang : `${lang}-${country.toUpperCase()}`;
  if (/^[a-z]{2,3}(-[A-Za-z]{2,4})?$/.test(language)) return language;
  reader.addError("lang", "expected the code of a language, such as en or de");
  return null;
}

function timeRangeOf(reader: InputReader, warnings: string[]): SearchOrder["timeRange"] | null {
  const tbs = reader.text("tbs", { max: 100 });
  if (tbs === undefined || tbs === "") return null;
  const [, unit = "", count = ""] = /^qdr:([hdwmy])(\d*)$/.exec(tbs) ?? [];
  const range = RANGES[unit];
  if (range === undefined) {
    reader.addError(
      "tbs",
      "expected qdr:d, qdr:w, qdr:m or qdr:y: the search server knows a day, week, month and year",
    );
    return null;
  }
  if (unit === "h" || count !== "") warnings.push(`tbs ${tbs} is searched as the last ${range}`);
  return range;
}

export async function search(
  deps: FirecrawlDeps,
  { order, scrape, timeoutMs, warnings }: SearchAsk,
  version: Version,
  base: string,
  gone: AbortSignal,
): Promise<object> {
  const server = await deps.search();
  if (server === null)
    throw new FirecrawlFault(501, `Web search is not supported: ${NO_SEARCH}`, { code: "NOT_AVAILABLE" });
  const late = new AbortController();
  const deadline = deps.clock.now() + timeoutMs;
  const timer = deps.clock.after(timeoutMs, () => late.abort(), { keepAlive: true });
  const signal = AbortSignal.any([late.signal, gone]);
  try {
    const { found, warnings: more } = await searchWeb(server, order, signal);
    const read = async (list: SearchResult[] | undefined, shape: (result: SearchResult, index: number) => object) => {
      if (list === undefined) return undefined;
      const pages = scrape === null ? [] : await scrapeAll(deps, scrape, list, { base, gone, deadline });
      return list.map((result, index) => ({ ...shape(result, index), ...pages[index] }));
    };
    const web = await read(found.web, webResult);
    const news = await read(found.news, newsResult);
    const images = found.images?.map(imageResult);
    const data = { ...(web && { web }), ...(news && { news }), ...(images && { images }) };
    const warning = [...warnings, ...more].join("; ");
    return {
      success: true,
      ...(warning === "" ? {} : { warning }),
      data: version === "v1" ? (web ?? news ?? images ?? []) : data,
    };
  } catch (error) {
    if (late.signal.aborted && !gone.aborted)
      throw new FirecrawlFault(408, `the search server did not answer within ${timeoutMs} ms (timeout)`, {
        code: "SEARCH_TIMEOUT",
      });
    // The server was set up wrongly: the same call is of no use.
    if (isOrbError(error, "search_unavailable"))
      throw new FirecrawlFault(500, error.message, { code: "SEARCH_UNAVAILABLE" });
    throw error;
  } finally {
    timer.cancel();
  }
}

/** A page that cannot be read has its error; the others are returned all the same. */
async function scrapeAll(
  deps: FirecrawlDeps,
  scrape: ScrapeAsk,
  list: readonly SearchResult[],
  { base, gone, deadline }: { base: string; gone: AbortSignal; deadline: number },
): Promise<object[]> {
  const documents: object[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < list.length; index = next++) {
      const { url } = list[index]!;
      const timeoutMs = Math.min(scrape.timeoutMs, deadline - deps.clock.now());
      if (timeoutMs < 1) {
        const error = "not fetched: the timeout of the search is over. Raise timeout, or lower limit";
        documents[index] = { metadata: { sourceURL: url, url, statusCode: 408, error } };
        continue;
      }
      try {
        const { warning: _, ...document } = await scrapePage(deps, { ...scrape, url, timeoutMs }, base, gone);
        documents[index] = document;
      } catch (error) {
        gone.throwIfAborted();
        const { status, body } = faultOf(error, "");
        documents[index] = { metadata: { sourceURL: url, url, statusCode: status, error: body.error } };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, list.length) }, work));
  return documents;
}

const webResult = ({ url, title, description }: SearchResult, index: number) => ({
  url,
  title,
  description,
  position: index + 1,
});

const newsResult = ({ url, title, description, published, image }: SearchResult, index: number) => ({
  url,
  title,
  snippet: description,
  ...(published === null ? {} : { date: published }),
  ...(image === null ? {} : { imageUrl: image }),
  position: index + 1,
});

function imageResult({ url, title, image, resolution }: SearchResult, index: number): object {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(resolution ?? "") ?? [];
  return {
    url,
    title,
    ...(image === null ? {} : { imageUrl: image }),
    ...(width === undefined ? {} : { imageWidth: Number(width), imageHeight: Number(height) }),
    position: index + 1,
  };
}

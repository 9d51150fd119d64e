/** Ranks the requests of a page by how much of the displayed text their responses contain. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Exchange } from "./exchange.ts";
import { coverageOf, type FoundItems } from "./find-items.ts";
import { groupPages, paginationOf } from "./group-pages.ts";
import { guessPagination } from "./guess-pagination.ts";
import { readJson } from "./json-body.ts";
import type { RankedExchange } from "./ranked.ts";
import { wordsOf } from "./words.ts";

const MAX_EXCHANGES = 1000;
const MAX_SAMPLES = 100;
/** For a response that is not a list: texts of the page, or a single item. */
const NO_LIST_FACTOR = 0.5;
const NOISE_FACTOR = 0.1;
/** Analytics, logging, settings and translations also return JSON. */
const NOISE_PATH =
  /(?:^|[/._-])(?:analytics|beacon|collect|consent|cookies?|config(?:uration)?|events?-?log|feature-?flags?|flags|gtm|heartbeat|i18n|locales?|logs?|metrics|ping|pixel|rum|sentry|settings|stats|telemetry|track(?:ing|er)?|translations?)(?:[/._-]|$)/i;
const NOISE_HOST =
  /(?:^|\.)(?:amplitude|clarity|criteo|datadoghq|doubleclick|facebook|fullstory|google-analytics|googletagmanager|hotjar|intercom|launchdarkly|mixpanel|newrelic|nr-data|onetrust|optimizely|segment|sentry)\.\w+$/i;

/** Best first; only successful JSON responses to GET or POST. Deterministic. */
export function rankExchanges(exchanges: readonly Exchange[], visibleText: string): RankedExchange[] {
  const visible = wordsOf(visibleText);
  const single = exchanges.slice(0, MAX_EXCHANGES).flatMap((exchange) => rankOne(exchange, visible) ?? []);
  const ranked = groupPages(single).flatMap((pages) => merged(pages, visible) ?? []);
  return ranked.sort((a, b) => b.score - a.score || b.coverage - a.coverage);
}

/** Without the displayed text: the longest lists come first. */
export function rankUnseen(exchanges: readonly Exchange[]): RankedExchange[] {
  const single = exchanges
    .slice(0, MAX_EXCHANGES)
    .flatMap((exchange) => rankOne(exchange, wordsOf(exchange.response.body)) ?? []);
  const ranked = groupPages(single).flatMap((pages) => merged(pages, null) ?? []);
  const weight = ({ score, items }: RankedExchange) => score * (items?.count ?? 1);
  return ranked.sort((a, b) => weight(b) - weight(a));
}

/** Merges the pages of one list. */
function merged(pages: readonly RankedExchange[], visible: ReadonlySet<string> | null): RankedExchange | null {
  const [first] = pages;
  if (first === undefined || pages.length === 1) return first ?? null;
  // The same page may have been requested twice.
  const distinct = [...new Map(pages.map((page) => [page.exchange.response.body, page])).values()];
  const lists = distinct.flatMap(({ items }) => items ?? []);
  const path = first.items?.path ?? lists[0]?.path;
  const same = lists.filter((list) => list.path === path);
  const covered = visible === null ? null : coverageOf(distinct.map(({ json }) => json) as JsonValue, visible).covered;
  const items =
    path === undefined
      ? null
      : {
          path,
          samples: same.flatMap(({ samples }) => samples).slice(0, MAX_SAMPLES),
          count: same.reduce((sum, { count }) => sum + count, 0),
          covered: Math.max(0, ...same.map((list) => list.covered)),
        };
  const coverage = covered === null || visible === null || visible.size === 0 ? first.coverage : covered / visible.size;
  const score = scoreOf(coverage, items, first.exchange);
  return { ...first, pages: pages.length, score, coverage, items, pagination: paginationOf(pages) };
}

function rankOne(exchange: Exchange, visible: ReadonlySet<string>): RankedExchange | null {
  const { request, response } = exchange;
  if (response.status < 200 || response.status > 299) return null;
  if (request.method !== "GET" && request.method !== "POST") return null;
  const json = jsonOf(response);
  if (typeof json !== "object" || json === null) return null;
  const { covered, items } = coverageOf(json, visible);
  const coverage = visible.size === 0 ? 0 : covered / visible.size;
  const pagination = guessPagination(exchange, json, items?.count ?? 0);
  return { exchange, pages: 1, json, score: scoreOf(coverage, items, exchange), coverage, items, pagination };
}

function scoreOf(coverage: number, items: FoundItems | null, { request }: Exchange): number {
  const isList = items !== null && items.count > 1;
  return coverage * (isList ? 1 : NO_LIST_FACTOR) * (isNoise(request.url) ? NOISE_FACTOR : 1);
}

function jsonOf({ contentType, body }: Exchange["response"]): JsonValue | undefined {
  // Servers label JSON with many types, but not with these.
  if (/\b(?:html|css|image|font|video|audio|octet-stream|wasm)\b/i.test(contentType ?? "")) return undefined;
  return readJson(body);
}

function isNoise(url: string): boolean {
  const { hostname, pathname } = new URL(url);
  return NOISE_HOST.test(hostname) || NOISE_PATH.test(pathname);
}

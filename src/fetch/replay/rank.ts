/** Which of the requests that a page made brought what the page shows. */
import type { JsonValue } from "../../domain/queue-item.ts";
import type { Exchange } from "./exchange.ts";
import { coverageOf, type FoundItems } from "./find-items.ts";
import { type GuessedPagination, guessPagination } from "./guess-pagination.ts";
import { readJson } from "./json-body.ts";
import { wordsOf } from "./words.ts";

export interface RankedExchange {
  exchange: Exchange;
  json: JsonValue;
  /** 0 to 1: how likely this is the one. */
  score: number;
  /** The share of the page's words that stand in the answer, 0 to 1. */
  coverage: number;
  items: FoundItems | null;
  pagination: GuessedPagination | null;
}

const MAX_EXCHANGES = 1000;
/** An answer that is no list of things, but a page's texts or one thing. */
const NO_LIST = 0.5;
const NOISE = 0.1;
/** Measuring, logging, settings, translations: they answer in JSON too. */
const NOISE_PATH =
  /(?:^|[/._-])(?:analytics|beacon|collect|consent|cookies?|config(?:uration)?|events?-?log|feature-?flags?|flags|gtm|heartbeat|i18n|locales?|logs?|metrics|ping|pixel|rum|sentry|settings|stats|telemetry|track(?:ing|er)?|translations?)(?:[/._-]|$)/i;
const NOISE_HOST =
  /(?:^|\.)(?:amplitude|clarity|criteo|datadoghq|doubleclick|facebook|fullstory|google-analytics|googletagmanager|hotjar|intercom|launchdarkly|mixpanel|newrelic|nr-data|onetrust|optimizely|segment|sentry)\.\w+$/i;

/** Best first; only answers of JSON with a status of success, by GET or POST. Pure: the same input, the same order. */
export function rankExchanges(exchanges: readonly Exchange[], visibleText: string): RankedExchange[] {
  const visible = wordsOf(visibleText);
  const ranked = exchanges.slice(0, MAX_EXCHANGES).flatMap((exchange) => rankOne(exchange, visible) ?? []);
  return ranked.sort((a, b) => b.score - a.score || b.coverage - a.coverage);
}

function rankOne(exchange: Exchange, visible: ReadonlySet<string>): RankedExchange | null {
  const { request, response } = exchange;
  if (response.status < 200 || response.status > 299) return null;
  if (request.method !== "GET" && request.method !== "POST") return null;
  const json = jsonOf(response);
  if (typeof json !== "object" || json === null) return null;
  const { covered, items } = coverageOf(json, visible);
  const coverage = visible.size === 0 ? 0 : covered / visible.size;
  const isList = items !== null && items.count > 1;
  const score = coverage * (isList ? 1 : NO_LIST) * (isNoise(request.url) ? NOISE : 1);
  return { exchange, json, score, coverage, items, pagination: guessPagination(exchange, json, items?.count ?? 0) };
}

function jsonOf({ contentType, body }: Exchange["response"]): JsonValue | undefined {
  // Servers call JSON many things; what is called a page, a picture or a program is none.
  if (/\b(?:html|css|image|font|video|audio|octet-stream|wasm)\b/i.test(contentType ?? "")) return undefined;
  return readJson(body);
}

function isNoise(url: string): boolean {
  const { hostname, pathname } = new URL(url);
  return NOISE_HOST.test(hostname) || NOISE_PATH.test(pathname);
}

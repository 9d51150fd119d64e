import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Exchange } from "./exchange.ts";
import type { FoundItems } from "./find-items.ts";
import type { GuessedPagination } from "./guess-pagination.ts";

/** A call, or all calls for pages of the same list; the exchange is then that of the first page. */
export interface RankedExchange {
  exchange: Exchange;
  /** How many responses were merged. */
  pages: number;
  json: JsonValue;
  /** 0 to 1: likelihood of being the right call. */
  score: number;
  /** The share of the page's words that occur in the response, 0 to 1. */
  coverage: number;
  items: FoundItems | null;
  pagination: GuessedPagination | null;
}

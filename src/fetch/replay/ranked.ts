import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Exchange } from "./exchange.ts";
import type { FoundItems } from "./find-items.ts";
import type { GuessedPagination } from "./guess-pagination.ts";

/** A call, or all calls that were pages of the same list; then the exchange is that of the first page. */
export interface RankedExchange {
  exchange: Exchange;
  /** How many answers it stands for. */
  pages: number;
  json: JsonValue;
  /** 0 to 1: how likely this is the one. */
  score: number;
  /** The share of the page's words that stand in the answer, 0 to 1. */
  coverage: number;
  items: FoundItems | null;
  pagination: GuessedPagination | null;
}

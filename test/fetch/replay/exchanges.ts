/** What a page of a shop asked for, made up. */
import assert from "node:assert/strict";
import type { JsonValue } from "../../../src/domain/lane/queue-item.ts";
import type { Exchange } from "../../../src/fetch/replay/exchange.ts";
import { rankExchanges } from "../../../src/fetch/replay/rank.ts";
import type { RankedExchange } from "../../../src/fetch/replay/ranked.ts";

export const NAMES = ["Walnut table", "Linen curtain", "Copper kettle", "Woollen blanket", "Oak bench"];
export const PRODUCTS = NAMES.map((name, index) => ({
  sku: `SKU-10${index}`,
  name,
  price: { amount: 19.5 + index, currency: "EUR" },
}));
export const VISIBLE = `Example Shop  Home  Basket\n${PRODUCTS.map(({ name, price }) => `${name} ${price.amount} EUR`).join("\n")}\nImprint`;

export interface Made {
  url?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | null;
  status?: number;
  type?: string;
  answerHeaders?: Record<string, string>;
}

export function made(json: JsonValue | string, more: Made = {}): Exchange {
  return {
    request: {
      method: more.method ?? "GET",
      url: more.url ?? "https://shop.example/api/products",
      headers: more.headers ?? {},
      body: more.body ?? null,
    },
    response: {
      status: more.status ?? 200,
      headers: more.answerHeaders ?? {},
      contentType: more.type ?? "application/json",
      body: typeof json === "string" ? json : JSON.stringify(json),
    },
  };
}

export function best(json: JsonValue, more: Made = {}): RankedExchange {
  const [first] = rankExchanges([made(json, more)], VISIBLE);
  assert.ok(first !== undefined);
  return first;
}

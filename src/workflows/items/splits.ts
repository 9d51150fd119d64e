/**
 * Assigns items to the splits of a dataset. Only content and seed decide: the same content always lands in the same
 * split, in any order and dataset, so that no test data leaks into training data.
 */
import { createHash } from "node:crypto";
import { hashOf, labelOf } from "./item-keys.ts";
import { textAt } from "./item-values.ts";
import type { Item } from "../step-kind.ts";

export type Ratios = Readonly<Record<string, number>>;

/** Uniform in 0 to 1, by content and seed. */
export function drawOf(item: Item, seed: string): number {
  const content = hashOf(item) ?? textAt(item, "content_hash") ?? JSON.stringify(item);
  const digest = createHash("sha256").update(`${seed}\n${content}`).digest();
  return Number(digest.readBigUInt64BE() >> 11n) / 2 ** 53;
}

export interface Splitter {
  splitOf(item: Item): string;
}

/** Splits of approximately the requested sizes, in one pass. */
export function splitByDraw(ratios: Ratios, seed: string): Splitter {
  const parts = partsOf(ratios);
  const bounds = parts.map(({ upTo }) => upTo);
  return { splitOf: (item) => nameAt(parts, bounds, drawOf(item, seed)) };
}

/**
 * Splits of exactly the requested sizes within every label, as far as items are divisible; items of the same content
 * stay together. Needs a pass over all items first and keeps one number per item.
 */
export async function splitByLabel(ratios: Ratios, seed: string, items: AsyncIterable<Item>): Promise<Splitter> {
  const parts = partsOf(ratios);
  const draws = new Map<string, number[]>();
  for await (const item of items) {
    const label = labelOf(item) ?? "";
    const list = draws.get(label);
    if (list === undefined) draws.set(label, [drawOf(item, seed)]);
    else list.push(drawOf(item, seed));
  }
  const boundsOf = new Map([...draws].map(([label, list]) => [label, boundsAmong(list, parts)]));
  return { splitOf: (item) => nameAt(parts, boundsOf.get(labelOf(item) ?? "") ?? [], drawOf(item, seed)) };
}

interface Part {
  name: string;
  /** Upper bound, 0 to 1. */
  upTo: number;
}

function partsOf(ratios: Ratios): Part[] {
  const sum = Object.values(ratios).reduce((total, ratio) => total + ratio, 0);
  let upTo = 0;
  return Object.entries(ratios).map(([name, ratio]) => ({ name, upTo: (upTo += ratio / sum) }));
}

/** The draws at which the split changes, so that each gets its share. */
function boundsAmong(draws: number[], parts: readonly Part[]): number[] {
  draws.sort((a, b) => a - b);
  return parts.map(({ upTo }) => draws[Math.round(upTo * draws.length)] ?? Infinity);
}

function nameAt(parts: readonly Part[], bounds: readonly number[], draw: number): string {
  const index = bounds.findIndex((bound) => draw < bound);
  // Sums of ratios may end slightly below 1.
  return (parts[index] ?? parts.at(-1))!.name;
}

/**
 * Which part of a dataset an item belongs to. Only its content and the seed decide: the same content is always in the
 * same part, in any order and company, so that no test data was in the training data.
 */
import { createHash } from "node:crypto";
import { hashOf, labelOf } from "./item-keys.ts";
import { textAt } from "./item-values.ts";
import type { Item } from "../step-kind.ts";

export type Ratios = Readonly<Record<string, number>>;

/** From 0 to 1, evenly, by content and seed. */
export function drawOf(item: Item, seed: string): number {
  const content = hashOf(item) ?? textAt(item, "content_hash") ?? JSON.stringify(item);
  const digest = createHash("sha256").update(`${seed}\n${content}`).digest();
  return Number(digest.readBigUInt64BE() >> 11n) / 2 ** 53;
}

export interface Splitter {
  splitOf(item: Item): string;
}

/** Parts of about the sizes that were asked for, without having seen the items. */
export function splitByDraw(ratios: Ratios, seed: string): Splitter {
  const parts = partsOf(ratios);
  const bounds = parts.map(({ upTo }) => upTo);
  return { splitOf: (item) => nameAt(parts, bounds, drawOf(item, seed)) };
}

/**
 * Parts of exactly the sizes that were asked for within every label, as far as whole items can be divided; items of the same
 * content stay together. All items are seen once before: a number is kept of each.
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
  /** Where it ends, from 0 to 1. */
  upTo: number;
}

function partsOf(ratios: Ratios): Part[] {
  const sum = Object.values(ratios).reduce((total, ratio) => total + ratio, 0);
  let upTo = 0;
  return Object.entries(ratios).map(([name, ratio]) => ({ name, upTo: (upTo += ratio / sum) }));
}

/** Between which draws the parts change, so that each has its share of these. */
function boundsAmong(draws: number[], parts: readonly Part[]): number[] {
  draws.sort((a, b) => a - b);
  return parts.map(({ upTo }) => draws[Math.round(upTo * draws.length)] ?? Infinity);
}

function nameAt(parts: readonly Part[], bounds: readonly number[], draw: number): string {
  const index = bounds.findIndex((bound) => draw < bound);
  // Sums of ratios may end a hair below 1.
  return (parts[index] ?? parts.at(-1))!.name;
}

/**
 * MinHash with locality-sensitive hashing. A text is the set of its shingles: all runs of some words. The share of equal
 * minima over many hash functions estimates the Jaccard similarity of two sets. The minima are cut into bands of rows;
 * two texts are compared if any band is equal, which happens with probability 1 - (1 - s^rows)^bands at similarity s.
 */
import { mix } from "./words.ts";

/** How minima are cut for a threshold. */
export interface Banding {
  bands: number;
  rows: number;
}

const MOST_MINIMA = 128;
/** Longer bands find fewer unrelated texts, and hardly more similar ones. */
const MOST_ROWS = 16;
/** Share of the pairs right at the threshold that are compared at least; of more similar ones, nearly all. */
const RECALL = 0.99;

/** The longest bands that find enough. */
export function bandingFor(threshold: number): Banding {
  for (let rows = MOST_ROWS; rows > 1; rows -= 1) {
    const bands = Math.floor(MOST_MINIMA / rows);
    if (1 - (1 - threshold ** rows) ** bands >= RECALL) return { bands, rows };
  }
  return { bands: MOST_MINIMA, rows: 1 };
}

/** Distinct shingles, sorted. A text with fewer words than a shingle is one shingle. */
export class Shingles {
  readonly #size: number;
  #all = new Int32Array(1024);
  /** The shingles of the last text, valid up to the returned count. */
  sorted = this.#all;

  constructor(size: number) {
    this.#size = size;
  }

  read(words: Int32Array, count: number): number {
    const size = Math.min(this.#size, count);
    const runs = count - size + 1;
    if (this.#all.length < runs) this.#all = new Int32Array(runs * 2);
    const all = this.#all;
    for (let from = 0; from < runs; from += 1) {
      let hash = size;
      for (let at = from; at < from + size; at += 1) hash = (Math.imul(hash, 0x9e3779b1) ^ words[at]!) + (hash >>> 15);
      all[from] = mix(hash | 0);
    }
    const sorted = all.subarray(0, runs).sort();
    let distinct = 0;
    for (let at = 0; at < runs; at += 1) if (at === 0 || sorted[at] !== sorted[at - 1]) all[distinct++] = sorted[at]!;
    this.sorted = all;
    return distinct;
  }
}

/** Fixed, so that the same texts always give the same result. */
const SEED = 0x0b5eed;
const EMPTY = 0x7fffffff;

/**
 * Each row of the bands hashes every shingle once, into as many bins as there are bands, and a bin has its least value.
 * That is twenty times as fast as one hash function per minimum, and as good: of the shingles that two texts have in a
 * bin together, the least is in both with the probability of their similarity. A bin without shingles, which only texts
 * of a few dozen words have, gets the minimum of a hash function of its own.
 */
export class MinHash {
  readonly #banding: Banding;
  readonly #rowMasks: Int32Array;
  readonly #masks: Int32Array;
  /** The minima of the last text. */
  readonly minima: Int32Array;
  /** Its bands. */
  readonly bands: Int32Array;

  constructor(banding: Banding) {
    const count = banding.bands * banding.rows;
    this.#banding = banding;
    this.minima = new Int32Array(count);
    this.bands = new Int32Array(banding.bands);
    this.#rowMasks = Int32Array.from({ length: banding.rows }, (_, at) => mix(SEED - 1 - at));
    this.#masks = Int32Array.from({ length: count }, (_, at) => mix(SEED + at));
  }

  read(shingles: Int32Array, count: number): void {
    const { minima, bands } = this;
    const { rows } = this.#banding;
    const bins = bands.length;
    minima.fill(EMPTY);
    for (let row = 0; row < rows; row += 1) {
      const mask = this.#rowMasks[row]!;
      const from = row * bins;
      for (let next = 0; next < count; next += 1) {
        const value = mix(shingles[next]! ^ mask);
        const bin = from + (((value >>> 16) * bins) >>> 16);
        if (value < minima[bin]!) minima[bin] = value;
      }
    }
    for (let at = 0; at < minima.length; at += 1)
      if (minima[at] === EMPTY) minima[at] = this.#least(shingles, count, at);
    for (let band = 0; band < bins; band += 1) {
      let hash = band;
      for (let row = 0; row < rows; row += 1) hash = mix(Math.imul(hash, 0x9e3779b1) ^ minima[row * bins + band]!);
      bands[band] = hash;
    }
  }

  #least(shingles: Int32Array, count: number, at: number): number {
    const mask = this.#masks[at]!;
    let least = EMPTY;
    for (let next = 0; next < count; next += 1) {
      const value = mix(shingles[next]! ^ mask);
      if (value < least) least = value;
    }
    return least;
  }
}

/** Of two sorted lists of distinct numbers. */
export function jaccard(one: Int32Array, other: Int32Array): number {
  let [a, b, both] = [0, 0, 0];
  while (a < one.length && b < other.length) {
    const difference = one[a]! - other[b]!;
    if (difference === 0) both += 1;
    if (difference <= 0) a += 1;
    if (difference >= 0) b += 1;
  }
  return both / (one.length + other.length - both);
}

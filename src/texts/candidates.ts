/** The kept texts by their bands: which of them a text is to be compared with. */
import type { Banding } from "./minhash.ts";
import { Rows } from "./rows.ts";

/**
 * Bounds of one text. Pages made of one template may all share bands without being similar enough; without a bound, the
 * time would grow with the square of their number. Every band has its share of the visits: a band that all pages have in
 * common must not use up those of the bands that only copies share.
 */
export const MOST_VISITS = 20_000;
const MOST_CANDIDATES = 64;
/** The estimate of a pair at the threshold deviates by more once in some ten thousand times. */
const DEVIATIONS = 4;
const BITS = 1 << 8;

export class Candidates {
  readonly #banding: Banding;
  readonly #bands: Rows<Int32Array>;
  /** One byte of each minimum. */
  readonly #sketches: Rows<Uint8Array>;
  /** By band: the last kept text of a slot, plus one; and per text its predecessor. */
  readonly #heads: Int32Array;
  readonly #slots: number;
  readonly #before: Rows<Int32Array>;
  readonly #leastEqual: number;
  /** The last text that looked at a text, plus one. */
  readonly #seen: Int32Array;
  readonly #found: { text: number; equal: number }[] = [];
  readonly #visitsPerBand: number;
  #visits = 0;

  constructor(banding: Banding, threshold: number, bands: Rows<Int32Array>, sketches: Rows<Uint8Array>) {
    this.#banding = banding;
    this.#bands = bands;
    this.#sketches = sketches;
    const minima = banding.bands * banding.rows;
    const least = threshold - DEVIATIONS * Math.sqrt((threshold * (1 - threshold)) / minima);
    this.#leastEqual = Math.floor(minima * Math.max(0, least));
    this.#slots = 2 ** Math.ceil(Math.log2(Math.max(1024, bands.count)));
    this.#heads = new Int32Array(banding.bands * this.#slots);
    this.#before = new Rows(banding.bands, (length) => new Int32Array(length));
    for (let text = 0; text < bands.count; text += 1) this.#before.add();
    this.#seen = new Int32Array(bands.count);
    this.#visitsPerBand = Math.floor(MOST_VISITS / banding.bands);
  }

  /** How many texts were looked at so far. */
  get visits(): number {
    return this.#visits;
  }

  add(text: number): void {
    const [bands, before] = [this.#bands.chunkOf(text), this.#before.chunkOf(text)];
    const [from, to] = [this.#bands.at(text), this.#before.at(text)];
    for (let band = 0; band < this.#banding.bands; band += 1) {
      const head = band * this.#slots + (bands[from + band]! & (this.#slots - 1));
      before[to + band] = this.#heads[head]!;
      this.#heads[head] = text + 1;
    }
  }

  /** The likeliest first; the list is reused. */
  of(text: number): readonly { text: number; equal: number }[] {
    const [own, from] = [this.#bands.chunkOf(text), this.#bands.at(text)];
    const found = this.#found;
    found.length = 0;
    for (let band = 0; band < this.#banding.bands; band += 1) {
      const value = own[from + band]!;
      let next = this.#heads[band * this.#slots + (value & (this.#slots - 1))]!;
      let visits = 0;
      while (next !== 0 && visits < this.#visitsPerBand) {
        const other = next - 1;
        // Another band in the same slot does not count: how many share one depends on the number of texts.
        if (this.#bands.chunkOf(other)[this.#bands.at(other) + band] === value) {
          visits += 1;
          if (this.#seen[other] !== text + 1) {
            this.#seen[other] = text + 1;
            const equal = this.#equalMinima(text, other);
            if (equal >= this.#leastEqual) found.push({ text: other, equal });
          }
        }
        next = this.#before.chunkOf(other)[this.#before.at(other) + band]!;
      }
      this.#visits += visits;
    }
    found.sort((a, b) => b.equal - a.equal || a.text - b.text);
    if (found.length > MOST_CANDIDATES) found.length = MOST_CANDIDATES;
    return found;
  }

  #equalMinima(one: number, other: number): number {
    const [a, b] = [this.#sketches.chunkOf(one), this.#sketches.chunkOf(other)];
    const [from, to] = [this.#sketches.at(one), this.#sketches.at(other)];
    const minima = this.#banding.bands * this.#banding.rows;
    let equal = 0;
    for (let at = 0; at < minima; at += 1) if (a[from + at] === b[to + at]) equal += 1;
    return equal;
  }
}

/** One byte per minimum. */
export function sketch(minima: Int32Array, into: Uint8Array, at: number): void {
  for (let next = 0; next < minima.length; next += 1) into[at + next] = minima[next]! & (BITS - 1);
}

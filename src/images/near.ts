/**
 * Exact nearest-neighbour search over 64-bit hashes (multi-index hashing), without comparing all pairs.
 *
 * A hash is cut into four bands of 16 bits. If two hashes differ in d = 4r + a bits, then at least one of the first a + 1
 * bands differs in at most r bits, or one of the others in at most r - 1. Each band has a table of the hashes by its
 * value, and only values within that distance are looked up.
 *
 * Against a linear scan and a BK-tree, 20,000 random hashes: within 8 bits 0.3 s, 2.3 s and 54 s; within 16 bits 1.0 s
 * and 0.9 s, the tree even slower, because random 64-bit hashes are nearly equidistant. 200,000 hashes within 8 bits
 * take 4 to 14 s.
 */

const BANDS = 4;
const BAND_VALUES = 1 << 16;
/** Beyond it, unrelated images would match. */
export const MOST_DISTANCE = 16;

interface Flips {
  /** All 16-bit masks with at most four bits set, fewest first: the bit flips to try in a band. */
  masks: Uint16Array;
  /** By bit count: how many masks have at most that many bits. */
  within: readonly number[];
}

let known: Flips | null = null;

/** Computed on first use: it takes 10 ms, and most commands compare no images. */
function bitFlips(): Flips {
  if (known !== null) return known;
  const masks = Uint16Array.from(
    Array.from({ length: BAND_VALUES }, (_, bits) => bits)
      .filter((bits) => ones(bits) <= MOST_DISTANCE / BANDS)
      .sort((a, b) => ones(a) - ones(b) || a - b),
  );
  const within = Array.from({ length: MOST_DISTANCE / BANDS + 1 }, (_, most) =>
    masks.reduce((sum, bits) => sum + (ones(bits) <= most ? 1 : 0), 0),
  );
  return (known = { masks, within });
}

interface Nearest {
  /** The index returned by `add`. */
  at: number;
  distance: number;
}

export class NearIndex {
  readonly #distance: number;
  /** Masks to try per band. */
  readonly #flips: number[];
  #size = 0;
  #high = new Uint32Array(1024);
  #low = new Uint32Array(1024);
  /** Linked lists per band: the last added hash with this value, plus one; and for each hash its predecessor. */
  readonly #heads = Array.from({ length: BANDS }, () => new Uint32Array(BAND_VALUES));
  readonly #before = Array.from({ length: BANDS }, () => new Uint32Array(1024));

  constructor(distance: number) {
    if (!Number.isInteger(distance) || distance < 0 || distance > MOST_DISTANCE)
      throw new RangeError(`a distance is a whole number from 0 to ${MOST_DISTANCE}`);
    this.#distance = distance;
    const [r, a] = [Math.floor(distance / BANDS), distance % BANDS];
    this.#flips = Array.from({ length: BANDS }, (_, band) => bitFlips().within[band <= a ? r : r - 1] ?? 0);
  }

  get size(): number {
    return this.#size;
  }

  /** Takes 16 hexadecimal digits, returns the index. */
  add(hash: string): number {
    const at = this.#size;
    if (at === this.#high.length) this.#grow();
    this.#size += 1;
    const [high, low] = wordsOf(hash);
    this.#high[at] = high;
    this.#low[at] = low;
    for (let band = 0; band < BANDS; band += 1) {
      const heads = this.#heads[band] as Uint32Array;
      const value = bandOf(band, high, low);
      (this.#before[band] as Uint32Array)[at] = heads[value] ?? 0;
      heads[value] = at + 1;
    }
    return at;
  }

  /** The nearest hash within the distance, the first one added on a tie; null: none. */
  nearest(hash: string): Nearest | null {
    const [high, low] = wordsOf(hash);
    let best = this.#distance + 1;
    let found = -1;
    const { masks } = bitFlips();
    for (let band = 0; band < BANDS; band += 1) {
      const [heads, before] = [this.#heads[band] as Uint32Array, this.#before[band] as Uint32Array];
      const value = bandOf(band, high, low);
      const tries = this.#flips[band] ?? 0;
      for (let flip = 0; flip < tries; flip += 1) {
        for (let next = heads[value ^ (masks[flip] ?? 0)] ?? 0; next !== 0; next = before[next - 1] ?? 0) {
          const at = next - 1;
          const distance = ones((this.#high[at] ?? 0) ^ high) + ones((this.#low[at] ?? 0) ^ low);
          if (distance > best || (distance === best && (found < 0 || at >= found))) continue;
          best = distance;
          found = at;
        }
      }
    }
    return found < 0 ? null : { at: found, distance: best };
  }

  #grow(): void {
    const larger = (words: Uint32Array<ArrayBuffer>) => {
      const copy = new Uint32Array(words.length * 2);
      copy.set(words);
      return copy;
    };
    this.#high = larger(this.#high);
    this.#low = larger(this.#low);
    for (let band = 0; band < BANDS; band += 1)
      this.#before[band] = larger(this.#before[band] as Uint32Array<ArrayBuffer>);
  }
}

/** Hamming distance. */
export function hashDistance(a: string, b: string): number {
  const [[high, low], [otherHigh, otherLow]] = [wordsOf(a), wordsOf(b)];
  return ones(high ^ otherHigh) + ones(low ^ otherLow);
}

export function isHash(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{16}$/.test(value);
}

function wordsOf(hash: string): [number, number] {
  if (!isHash(hash)) throw new RangeError("a hash has 16 hexadecimal digits");
  return [Number.parseInt(hash.slice(0, 8), 16), Number.parseInt(hash.slice(8), 16)];
}

function bandOf(band: number, high: number, low: number): number {
  const word = band < 2 ? high : low;
  return band % 2 === 0 ? word >>> 16 : word & 0xffff;
}

function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

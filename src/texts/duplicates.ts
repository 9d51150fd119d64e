/**
 * Removal of duplicate texts.
 *
 * Texts are processed best first: by rank, then in the order of the list. A text that is similar enough to a kept one is
 * a duplicate of the most similar kept one; all others are kept. So every duplicate is similar to the kept text itself (a
 * chain of small steps cannot merge different texts), and the result depends only on the texts, their ranks and order:
 * applied to what was kept, nothing more is removed.
 *
 * Per text, memory holds a few hundred bytes: bands and one byte of each minimum. The shingles, four bytes each, are on
 * disk; candidates are compared by them exactly.
 */
import { hash } from "node:crypto";
import { NearIndex } from "../images/near.ts";
import { Candidates, sketch } from "./candidates.ts";
import { bandingFor, type Banding, jaccard, MinHash, Shingles } from "./minhash.ts";
import { Rows } from "./rows.ts";
import { simhashOf } from "./simhash.ts";
import { SpillFile } from "./spill-file.ts";
import { WordReader } from "./words.ts";

export type SearchMethod =
  | { method: "exact" }
  | { method: "minhash"; threshold: number; shingle: number }
  | { method: "simhash"; distance: number };

/** Values of `Verdicts.match`. */
export const MATCH = { kept: 0, exact: 1, near: 2, empty: 3 } as const;

/** By text, in the order of the list. */
export interface Verdicts {
  match: Uint8Array;
  /** The kept text that replaces it; of a kept one, itself. */
  of: Int32Array;
  /** Jaccard similarity, or with simhash the number of differing bits; 1 or 0 for exact copies. */
  likeness: Float32Array;
}

/** Called between texts; may throw to stop. */
type OnProgress = (done: number) => void;

/** Compares texts with the kept ones. */
interface NearSearch extends Disposable {
  /** Reads the words of the next text. */
  add(words: Int32Array, count: number): void;
  /** The most similar kept text; null: none is similar enough. */
  find(text: number): { of: number; likeness: number } | null;
  keep(text: number): void;
}

const DIGEST_WORDS = 3;

export class TextDuplicates implements Disposable {
  readonly #words = new WordReader();
  readonly #digests = new Rows(DIGEST_WORDS, (length) => new Int32Array(length));
  readonly #ranks = new Rows(1, (length) => new Float64Array(length));
  /** 1: the text has words. */
  readonly #comparable = new Rows(1, (length) => new Uint8Array(length));
  readonly #near: NearSearch | null;
  readonly #same: number;

  constructor(search: SearchMethod, folder: string) {
    this.#near =
      search.method === "minhash"
        ? new MinHashSearch(search.threshold, search.shingle, folder)
        : search.method === "simhash"
          ? new SimHashSearch(search.distance)
          : null;
    this.#same = search.method === "simhash" ? 0 : 1;
  }

  /** `rank`: of duplicates, the highest is kept, then the first. */
  add(text: string, rank: number): void {
    const count = this.#words.read(text);
    const at = this.#digests.add();
    this.#ranks.set(this.#ranks.add(), rank);
    this.#comparable.set(this.#comparable.add(), count > 0 ? 1 : 0);
    const { hashes, bytes } = this.#words;
    // Of the words, not of their hashes: different texts must not be exact copies.
    const digest = hash("sha256", bytes, "buffer");
    const [into, from] = [this.#digests.chunkOf(at), this.#digests.at(at)];
    for (let word = 0; word < DIGEST_WORDS; word += 1) into[from + word] = digest.readInt32LE(word * 4);
    this.#near?.add(hashes, count);
  }

  decide(onProgress: OnProgress = () => {}): Verdicts {
    const { count } = this.#digests;
    const match = new Uint8Array(count);
    const of = new Int32Array(count);
    const likeness = new Float32Array(count);
    const firsts = new FirstByDigest(this.#digests);
    const order = this.#order();
    for (let done = 0; done < count; done += 1) {
      const text = order[done]!;
      onProgress(done);
      of[text] = text;
      likeness[text] = this.#same;
      if (this.#comparable.get(text) === 0) {
        match[text] = MATCH.empty;
        continue;
      }
      const first = firsts.of(text);
      if (first !== text) {
        // A copy of a removed text replaces nothing: its own original is the kept one.
        match[text] = match[first] === MATCH.kept ? MATCH.exact : match[first]!;
        of[text] = of[first]!;
        likeness[text] = likeness[first]!;
        continue;
      }
      const near = this.#near?.find(text) ?? null;
      if (near === null) {
        this.#near?.keep(text);
        continue;
      }
      match[text] = MATCH.near;
      of[text] = near.of;
      likeness[text] = near.likeness;
    }
    return { match, of, likeness };
  }

  #order(): Uint32Array {
    const order = Uint32Array.from({ length: this.#digests.count }, (_, at) => at);
    const ranks = this.#ranks;
    let isSorted = true;
    for (let at = 1; at < order.length && isSorted; at += 1) isSorted = ranks.get(at) <= ranks.get(at - 1);
    if (isSorted) return order;
    // Not a difference: missing ranks are infinite.
    return order.sort((a, b) => {
      const [one, other] = [ranks.get(a), ranks.get(b)];
      return one === other ? a - b : one > other ? -1 : 1;
    });
  }

  [Symbol.dispose](): void {
    this.#near?.[Symbol.dispose]();
  }
}

/** The first text with the same digest, by an open-addressing table. */
class FirstByDigest {
  readonly #digests: Rows<Int32Array>;
  readonly #table: Int32Array;

  constructor(digests: Rows<Int32Array>) {
    this.#digests = digests;
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(16, digests.count * 2))));
  }

  of(text: number): number {
    const mask = this.#table.length - 1;
    let slot = this.#digests.get(text) & mask;
    for (;;) {
      const there = this.#table[slot]! - 1;
      if (there === -1) {
        this.#table[slot] = text + 1;
        return text;
      }
      if (this.#areEqual(text, there)) return there;
      slot = (slot + 1) & mask;
    }
  }

  #areEqual(one: number, other: number): boolean {
    const [a, b] = [this.#digests.chunkOf(one), this.#digests.chunkOf(other)];
    const [from, to] = [this.#digests.at(one), this.#digests.at(other)];
    for (let word = 0; word < DIGEST_WORDS; word += 1) if (a[from + word] !== b[to + word]) return false;
    return true;
  }
}

class MinHashSearch implements NearSearch {
  readonly #threshold: number;
  readonly #banding: Banding;
  readonly #shingles: Shingles;
  readonly #minhash: MinHash;
  readonly #bands: Rows<Int32Array>;
  readonly #sketches: Rows<Uint8Array>;
  readonly #spill: SpillFile;
  /** Position and number of a text's shingles on disk. */
  readonly #positions = new Rows(2, (length) => new Float64Array(length));
  #candidates: Candidates | null = null;

  constructor(threshold: number, shingle: number, folder: string) {
    this.#threshold = threshold;
    this.#banding = bandingFor(threshold);
    this.#shingles = new Shingles(shingle);
    this.#minhash = new MinHash(this.#banding);
    this.#bands = new Rows(this.#banding.bands, (length) => new Int32Array(length));
    this.#sketches = new Rows(this.#minhash.minima.length, (length) => new Uint8Array(length));
    this.#spill = new SpillFile(folder);
  }

  add(words: Int32Array, count: number): void {
    const distinct = count === 0 ? 0 : this.#shingles.read(words, count);
    const { sorted } = this.#shingles;
    this.#minhash.read(sorted, distinct);
    const text = this.#bands.add();
    this.#bands.chunkOf(text).set(this.#minhash.bands, this.#bands.at(text));
    this.#sketches.add();
    sketch(this.#minhash.minima, this.#sketches.chunkOf(text), this.#sketches.at(text));
    this.#positions.add();
    const [positions, at] = [this.#positions.chunkOf(text), this.#positions.at(text)];
    positions[at] = this.#spill.append(new Uint8Array(sorted.buffer, 0, distinct * 4));
    positions[at + 1] = distinct;
  }

  find(text: number): { of: number; likeness: number } | null {
    const candidates = this.#kept().of(text);
    if (candidates.length === 0) return null;
    const own = this.#read(text);
    let best: { of: number; likeness: number } | null = null;
    for (const { text: other } of candidates) {
      const likeness = this.#likeness(own, other, best?.likeness ?? this.#threshold);
      if (likeness < this.#threshold) continue;
      if (best === null || likeness > best.likeness || (likeness === best.likeness && other < best.of))
        best = { of: other, likeness };
    }
    return best;
  }

  keep(text: number): void {
    this.#kept().add(text);
  }

  /** Made when all texts are known. */
  #kept(): Candidates {
    return (this.#candidates ??= new Candidates(this.#banding, this.#threshold, this.#bands, this.#sketches));
  }

  /** 0 if the numbers of shingles alone rule out `least`. */
  #likeness(own: Int32Array, other: number, least: number): number {
    const count = this.#positions.chunkOf(other)[this.#positions.at(other) + 1]!;
    if (Math.min(count, own.length) / Math.max(count, own.length) < least) return 0;
    return jaccard(own, this.#read(other));
  }

  #read(text: number): Int32Array {
    const [positions, at] = [this.#positions.chunkOf(text), this.#positions.at(text)];
    const shingles = new Int32Array(positions[at + 1]!);
    this.#spill.read(positions[at]!, new Uint8Array(shingles.buffer));
    return shingles;
  }

  [Symbol.dispose](): void {
    this.#spill[Symbol.dispose]();
  }
}

class SimHashSearch implements NearSearch {
  readonly #hashes = new Rows(8, (length) => new Uint8Array(length));
  readonly #index: NearIndex;
  /** The text of each entry of the index. */
  readonly #kept: number[] = [];

  constructor(distance: number) {
    this.#index = new NearIndex(distance);
  }

  add(words: Int32Array, count: number): void {
    const text = this.#hashes.add();
    this.#hashes.chunkOf(text).set(Buffer.from(simhashOf(words, count), "hex"), this.#hashes.at(text));
  }

  find(text: number): { of: number; likeness: number } | null {
    const near = this.#index.nearest(this.#hash(text));
    return near === null ? null : { of: this.#kept[near.at]!, likeness: near.distance };
  }

  keep(text: number): void {
    this.#kept[this.#index.add(this.#hash(text))] = text;
  }

  #hash(text: number): string {
    const at = this.#hashes.at(text);
    return Buffer.from(this.#hashes.chunkOf(text).subarray(at, at + 8)).toString("hex");
  }

  [Symbol.dispose](): void {}
}

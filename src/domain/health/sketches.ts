/** Summaries of a stream in bounded memory, exact for small runs. Deterministic: no random sample. */

/** Every value at first; when full, every second of the kept ones, then every fourth of the stream, and so on. */
export class ValueSample {
  readonly #most: number;
  #values: number[] = [];
  #stride = 1;
  #seen = 0;

  constructor(most = 1024) {
    this.#most = most;
  }

  add(value: number): void {
    if (this.#seen++ % this.#stride !== 0) return;
    this.#values.push(value);
    if (this.#values.length < this.#most) return;
    this.#values = this.#values.filter((_, index) => index % 2 === 0);
    this.#stride *= 2;
  }

  get values(): readonly number[] {
    return this.#values;
  }
}

/**
 * Number of distinct texts. Beyond the cap only hashes with so many zero bits are kept (Wegman's adaptive sampling): the
 * estimate is then off by about 1.6 %.
 */
export class DistinctCount {
  readonly #most: number;
  #hashes = new Set<number>();
  #level = 0;

  constructor(most = 4096) {
    this.#most = most;
  }

  add(text: string): void {
    const hash = hashOf(text);
    if (!isOfLevel(hash, this.#level)) return;
    this.#hashes.add(hash);
    while (this.#hashes.size > this.#most) {
      this.#level += 1;
      this.#hashes = new Set([...this.#hashes].filter((kept) => isOfLevel(kept, this.#level)));
    }
  }

  get count(): number {
    return this.#hashes.size * 2 ** this.#level;
  }

  get isExact(): boolean {
    return this.#level === 0;
  }
}

const isOfLevel = (hash: number, level: number) => (hash & (2 ** level - 1)) === 0;

/** Of a long text the two ends and the length: pages of text differ there, too. */
const LONGEST_HASHED = 512;

/** FNV-1a with the finaliser of murmur3: its low bits are used. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5 ^ text.length;
  const tail = text.length - LONGEST_HASHED / 2;
  for (let index = 0; index < text.length; index += 1) {
    if (index === LONGEST_HASHED / 2 && tail > index) index = tail;
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A table of numbers that grows without copying: rows of one width, in chunks. */

const CHUNK_BITS = 14;
const CHUNK_ROWS = 1 << CHUNK_BITS;

type Numbers = Int32Array | Uint8Array | Float64Array;

export class Rows<T extends Numbers> {
  readonly #width: number;
  readonly #chunk: (length: number) => T;
  readonly #chunks: T[] = [];
  #count = 0;

  constructor(width: number, chunk: (length: number) => T) {
    this.#width = width;
    this.#chunk = chunk;
  }

  get count(): number {
    return this.#count;
  }

  /** Appends an empty row and returns its number. */
  add(): number {
    if (this.#count % CHUNK_ROWS === 0) this.#chunks.push(this.#chunk(CHUNK_ROWS * this.#width));
    this.#count += 1;
    return this.#count - 1;
  }

  /** The chunk of a row; the row begins at `at`. */
  chunkOf(row: number): T {
    return this.#chunks[row >>> CHUNK_BITS]!;
  }

  at(row: number): number {
    return (row & (CHUNK_ROWS - 1)) * this.#width;
  }

  get(row: number): number {
    return this.chunkOf(row)[this.at(row)]!;
  }

  set(row: number, value: number): void {
    this.chunkOf(row)[this.at(row)] = value;
  }
}

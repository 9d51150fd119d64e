/** Numbers or texts that are read again at random and would not fit into memory: a temporary file without a name. */
import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

const BUFFER_BYTES = 1 << 20;

export class SpillFile implements Disposable {
  readonly #file: number;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #buffered = 0;
  #written = 0;

  constructor(folder: string) {
    const path = join(folder, `w-texts-${randomUUID()}`);
    this.#file = openSync(path, "wx+", 0o600);
    // Removed at once: a killed process leaves nothing behind, or at most an empty file, which the store removes.
    unlinkSync(path);
  }

  /** Returns its position. */
  append(bytes: Uint8Array): number {
    const at = this.#written + this.#buffered;
    if (this.#buffered + bytes.byteLength > BUFFER_BYTES) this.#flush();
    if (bytes.byteLength > BUFFER_BYTES) this.#write(bytes);
    else {
      this.#buffer.set(bytes, this.#buffered);
      this.#buffered += bytes.byteLength;
    }
    return at;
  }

  read(at: number, into: Uint8Array): void {
    if (at + into.byteLength > this.#written) this.#flush();
    for (let done = 0; done < into.byteLength;) {
      const read = readSync(this.#file, into, done, into.byteLength - done, at + done);
      if (read === 0) throw new Error("the temporary file of the text comparison is shorter than what was written");
      done += read;
    }
  }

  #flush(): void {
    const bytes = this.#buffer.subarray(0, this.#buffered);
    this.#buffered = 0;
    this.#write(bytes);
  }

  #write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.byteLength;)
      done += writeSync(this.#file, bytes, done, bytes.byteLength - done, this.#written + done);
    this.#written += bytes.byteLength;
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

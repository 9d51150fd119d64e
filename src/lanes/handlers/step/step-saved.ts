import type { Log } from "../../../base/log.ts";
import { messageOf } from "../../../base/errors.ts";
import type { TaskArtifact } from "../../../domain/run/outcome.ts";
import type { Store } from "../../../store/ports/port.ts";

/** Per transaction. */
const BATCH_SIZE = 1000;

/**
 * The files that an attempt has stored. Files that are not part of its result get no row: they are recorded as orphaned,
 * and a sweep removes them when they are old enough, unless a row refers to the same content by then. A kill during the
 * attempt leaves them unrecorded.
 */
export class SavedFiles {
  readonly #store: Store;
  readonly #log: Log;
  readonly #hashes = new Set<string>();
  #over = false;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  add(hash: string): void {
    this.#hashes.add(hash);
    // An abandoned step may still be running after its timeout.
    if (this.#over) void this.close([]);
  }

  /** Never throws: the outcome of the attempt does not depend on it. */
  async close(kept: readonly TaskArtifact[]): Promise<void> {
    this.#over = true;
    for (const { hash } of kept) this.#hashes.delete(hash);
    const orphaned = [...this.#hashes];
    this.#hashes.clear();
    try {
      for (let at = 0; at < orphaned.length; at += BATCH_SIZE)
        await this.#store.recordOrphanedFiles(orphaned.slice(at, at + BATCH_SIZE));
    } catch (error) {
      this.#log.warn("cannot record the orphaned files of a step", {
        files: orphaned.length,
        error: messageOf(error),
      });
    }
  }
}

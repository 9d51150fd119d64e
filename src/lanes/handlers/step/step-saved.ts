import type { Log } from "../../../base/log.ts";
import { messageOf } from "../../../base/errors.ts";
import type { TaskArtifact } from "../../../domain/run/outcome.ts";
import type { Store } from "../../../store/ports/port.ts";

/** At most so many in one transaction. */
const AT_ONCE = 1000;

/**
 * The files that a try has stored. Those that it does not hand over when it ends get no row: they are noted as orphaned, and
 * a sweep removes them when they are old enough, unless a row names the same content by then. A kill in mid-try leaves
 * them unnoted.
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
    // A step that was left behind at the end of its time may still be at work.
    if (this.#over) void this.close([]);
  }

  /** What becomes of the try does not depend on it. */
  async close(handedOver: readonly TaskArtifact[]): Promise<void> {
    this.#over = true;
    for (const { hash } of handedOver) this.#hashes.delete(hash);
    const left = [...this.#hashes];
    this.#hashes.clear();
    try {
      for (let at = 0; at < left.length; at += AT_ONCE)
        await this.#store.recordOrphanedFiles(left.slice(at, at + AT_ONCE));
    } catch (error) {
      this.#log.warn("files of a step that nothing names could not be noted", {
        files: left.length,
        error: messageOf(error),
      });
    }
  }
}

import { renameSync, rmSync, writeFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { systemCode } from "../base/errors.ts";
import { fileMode } from "../base/files/file-modes.ts";
import { onDisk, onDiskAsync } from "./disk.ts";
import type { Folder } from "./layout.ts";

/** Bodies up to here wait in memory and are kept in one step. */
export const SMALL_BYTES = 64 * 1024;

export interface Draft {
  handle: FileHandle;
  path: string;
  size: number;
}

/** The destination of complete files; a name appears only when its file is complete. */
export interface ArtifactSink {
  keepSmall(name: string, body: Buffer): void | Promise<void>;
  /** The draft is gone afterwards; the caller closes its handle. */
  keepFile(name: string, draft: Draft): Promise<void>;
}

export class FolderSink implements ArtifactSink {
  readonly #folder: Folder;

  constructor(folder: Folder) {
    this.#folder = folder;
  }

  /**
   * Straight to the final name, created exclusively, in one write: 50 µs of CPU for 1 KiB, against 65 µs with a rename
   * and 120 µs with fs.promises. A kill between the two can leave a shorter file, but never one that is referenced (we
   * had not returned), and never one of the full size; the next writer of the same content repairs it, and if the
   * content was stored before and is in the archive tier now, that one is read.
   */
  keepSmall(name: string, body: Buffer): void {
    onDisk(() => {
      const path = this.#folder.prepare(name);
      try {
        writeFileSync(path, body, { flag: "wx", mode: fileMode() });
      } catch (error) {
        if (systemCode(error) === "EEXIST") return this.#repairUnlessWhole(path, body);
        rmSync(path, { force: true });
        throw error;
      }
    });
  }

  keepFile(name: string, draft: Draft): Promise<void> {
    return onDiskAsync(async () => {
      // A large file costs more than its sync: a settled file survives a power cut.
      await draft.handle.datasync();
      const path = this.#folder.prepare(name);
      if (this.#folder.findAgain(path, draft.size)) rmSync(draft.path, { force: true });
      else renameSync(draft.path, path);
    });
  }

  #repairUnlessWhole(path: string, body: Buffer): void {
    if (this.#folder.findAgain(path, body.length)) return;
    const draft = this.#folder.temporary();
    try {
      writeFileSync(draft, body, { flag: "wx", mode: fileMode() });
      renameSync(draft, path);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
  }
}

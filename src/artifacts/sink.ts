import { renameSync, rmSync, writeFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { systemCode } from "../base/errors.ts";
import { fileMode } from "../base/files/file-modes.ts";
import { onDisk, onDiskAsync } from "./disk.ts";
import type { Folder } from "./layout.ts";

/** Bodies up to this size are buffered in memory and written at once. */
export const SMALL_BYTES = 64 * 1024;

export interface Draft {
  handle: FileHandle;
  path: string;
  size: number;
}

/** The destination of complete files; a name appears only when its file is complete. */
export interface ArtifactSink {
  keepSmall(name: string, body: Buffer): void | Promise<void>;
  /** Consumes the draft; the caller closes its handle. */
  keepFile(name: string, draft: Draft): Promise<void>;
}

export class FolderSink implements ArtifactSink {
  readonly #folder: Folder;

  constructor(folder: Folder) {
    this.#folder = folder;
  }

  /**
   * Writes straight to the final name, created exclusively, in one write: 50 µs of CPU for 1 KiB, against 65 µs with a
   * rename and 120 µs with fs.promises. A kill between create and write can leave a truncated file, but never a
   * referenced one (we had not returned) and never one of full size. The next writer of the same content repairs it; if
   * the content was stored before and is in the archive tier, readers use that copy.
   */
  keepSmall(name: string, body: Buffer): void {
    onDisk(() => {
      const path = this.#folder.prepare(name);
      try {
        writeFileSync(path, body, { flag: "wx", mode: fileMode() });
      } catch (error) {
        if (systemCode(error) === "EEXIST") return this.#repairIfTruncated(path, body);
        rmSync(path, { force: true });
        throw error;
      }
    });
  }

  keepFile(name: string, draft: Draft): Promise<void> {
    return onDiskAsync(async () => {
      // Fetching a large file costs more than its sync: a settled file survives a power cut.
      await draft.handle.datasync();
      const path = this.#folder.prepare(name);
      if (this.#folder.findAgain(path, draft.size)) rmSync(draft.path, { force: true });
      else renameSync(draft.path, path);
    });
  }

  #repairIfTruncated(path: string, body: Buffer): void {
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

import { closeSync, copyFileSync, ftruncateSync, openSync, readSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { fileMode, makeFolder } from "../../base/files/file-modes.ts";
import type { Log } from "../../base/log.ts";

export interface LogRules {
  maxBytes: number;
  /** Number of rotated files: `NAME.log.1` is the newest. */
  keep: number;
  lookMs: number;
}

export const LOG_RULES: LogRules = { maxBytes: 10 * 1024 * 1024, keep: 5, lookMs: 5000 };

/**
 * The log of a child. The child appends to it directly (so it continues when the supervisor is gone) and cannot be made
 * to open another file: a full one is copied and truncated.
 */
export class LogFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  get size(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** For a child to write to; the caller closes it. */
  open(): number {
    makeFolder(dirname(this.path));
    // The output may contain secrets.
    return openSync(this.path, "a", fileMode());
  }

  rotate({ maxBytes, keep }: LogRules): void {
    if (this.size < maxBytes) return;
    const fresh = `${this.path}.new`;
    // Operations that may fail come first: a file that cannot be copied or truncated must not displace older ones.
    const file = openSync(this.path, "r+");
    try {
      // Under a temporary name: a copy interrupted by a kill must not look complete.
      copyFileSync(this.path, fresh);
      rmSync(`${this.path}.${keep}`, { force: true });
      for (let older = keep - 1; older >= 1; older -= 1)
        if (statSync(`${this.path}.${older}`, { throwIfNoEntry: false }) !== undefined)
          renameSync(`${this.path}.${older}`, `${this.path}.${older + 1}`);
      renameSync(fresh, `${this.path}.1`);
      ftruncateSync(file);
    } finally {
      closeSync(file);
      rmSync(fresh, { force: true });
    }
  }

  /** The last line written after the file had this size. */
  lastLine(since: number): string | null {
    const size = this.size;
    const from = Math.max(since > size ? 0 : since, size - 4096);
    if (size <= from) return null;
    const bytes = Buffer.alloc(size - from);
    const file = openSync(this.path, "r");
    try {
      readSync(file, bytes, 0, bytes.length, from);
    } finally {
      closeSync(file);
    }
    return bytes.toString().trim().split("\n").at(-1)?.trim() || null;
  }
}

/** Checks the files periodically until the signal aborts. */
export async function keepRotating(
  files: Iterable<LogFile>,
  { clock, log, rules }: { clock: Clock; log: Log; rules: LogRules },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const file of files) {
      try {
        file.rotate(rules);
      } catch (error) {
        log.warn("cannot rotate a log file; retrying", { file: file.path, error: messageOf(error) });
      }
    }
    await sleep(clock, rules.lookMs, signal);
  }
}

import type { ArtifactStore } from "../../artifacts/port.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ArchivePolicy } from "../../domain/run/retention.ts";
import type { Store } from "../../store/ports/port.ts";
import type { ArtifactRecord } from "../../store/records/output-records.ts";
import type { Duty } from "../duties.ts";

/** Rows per query. */
const AT_ONCE = 200;
const REST_MS = 20;
/**
 * A file that is referenced again becomes young again: a full scan runs this often; in between only files that reach
 * the age are checked.
 */
const ALL_FILES_MS = 86_400_000;

interface ArchiveDeps {
  store: Pick<Store, "artifactsSince">;
  artifacts: ArtifactStore;
  clock: Clock;
  log: Log;
  policy: ArchivePolicy;
}

/** Moves files that are old and large enough to the archive tier. They stay readable. */
export function archiveFiles({ store, artifacts, clock, log, policy }: ArchiveDeps): Duty {
  let after = 0;
  let beganAt = Number.NEGATIVE_INFINITY;

  async function isDue({ hash, size }: ArtifactRecord): Promise<boolean> {
    if (size < policy.minBytes) return false;
    // Null: archived already, or deleted.
    const ageMs = await artifacts.ageOf(hash);
    return ageMs !== null && ageMs >= policy.afterMs;
  }

  return {
    name: "move old files to the archive",
    everyMs: 3_600_000,
    async run(signal) {
      if (policy.afterMs === 0) return;
      const before = clock.now() - policy.afterMs;
      if (clock.monotonic() - beganAt >= ALL_FILES_MS) [after, beganAt] = [0, clock.monotonic()];
      const moved = { files: 0, bytes_before: 0, bytes_after: 0 };
      let failed: unknown;
      for (let isOver = false; !isOver && !signal.aborted;) {
        const page = await store.artifactsSince(0, after, AT_ONCE);
        isOver = page.length < AT_ONCE;
        for (const file of page) {
          if (signal.aborted) break;
          // Sorted by creation time.
          if (file.createdAt > before) {
            isOver = true;
            break;
          }
          try {
            const sizes = (await isDue(file)) ? await artifacts.coolDown(file.hash) : null;
            if (sizes !== null) {
              moved.files += 1;
              moved.bytes_before += sizes.before;
              moved.bytes_after += sizes.after;
            }
          } catch (error) {
            // A file that cannot be moved does not block the others; it is retried within a day.
            failed = error;
          }
          after = file.row;
        }
        if (!isOver) await sleep(clock, REST_MS, signal);
      }
      if (moved.files > 0) log.info("old files were moved to the archive", moved);
      if (failed !== undefined)
        log.warn("cannot move some files to the archive; retrying tomorrow", {
          error: messageOf(failed),
        });
    },
  };
}

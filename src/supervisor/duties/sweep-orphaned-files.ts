import type { ArtifactStore } from "../../artifacts/port.ts";
import type { Store } from "../../store/ports/port.ts";
import type { Duty } from "../duties.ts";

const AT_ONCE = 200;

/** Deletes files whose rows were deleted, unless another row references the same content. */
export function sweepOrphanedFiles({ store, artifacts }: { store: Store; artifacts: ArtifactStore }): Duty {
  return {
    name: "remove unreferenced files",
    everyMs: 10 * 60_000,
    async run(signal) {
      for (let after: string | null | undefined; after !== null && !signal.aborted;) {
        const page = await store.orphanedFiles({ ...(after === undefined ? {} : { after }), limit: AT_ONCE });
        const gone: string[] = [];
        for (const hash of page.orphaned)
          if (await artifacts.removeOrphaned(hash, () => store.isOrphaned(hash))) gone.push(hash);
        if (gone.length > 0) await store.forgetOrphanedFiles(gone);
        after = page.last;
      }
    },
  };
}

/** Moves files to the cold place, several at a time, and tells of each; somebody kills it in the middle. */
import { createArtifactStore } from "../../src/artifacts/store.ts";
import { systemClock } from "../../src/base/clock.ts";

const [dir = "", ...hashes] = process.argv.slice(2);
const store = createArtifactStore({ dir, clock: systemClock });
const left = hashes.values();
const waiting = new Map<unknown, () => void>();
process.on("message", (hash) => waiting.get(hash)?.());
await Promise.all(
  Array.from({ length: 4 }, async () => {
    for (const hash of left) {
      await store.coolDown(hash);
      // Whoever is told may take its time to kill: nobody runs away from that.
      await new Promise<void>((resolve) => {
        waiting.set(hash, resolve);
        process.send?.(hash);
      });
    }
  }),
);
process.disconnect?.();

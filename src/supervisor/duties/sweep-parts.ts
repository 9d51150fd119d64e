import type { ArtifactStore } from "../../artifacts/port.ts";
import type { Store } from "../../store/ports/port.ts";

const CHUNK = 200;

/** Partial downloads are kept for the next attempt; those of ended tasks are deleted. */
export async function sweepParts({ store, artifacts }: { store: Store; artifacts: ArtifactStore }): Promise<number> {
  let swept = 0;
  let keys: string[] = [];
  const sweep = async () => {
    const open = await store.openTasks(keys);
    for (const key of keys) {
      if (open.has(key)) continue;
      artifacts.dropPart(key);
      swept += 1;
    }
    keys = [];
  };
  for await (const key of artifacts.parts()) {
    keys.push(key);
    if (keys.length >= CHUNK) await sweep();
  }
  if (keys.length > 0) await sweep();
  return swept;
}

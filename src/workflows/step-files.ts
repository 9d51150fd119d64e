import type { ArtifactStore } from "../artifacts/port.ts";
import type { StepFiles } from "./step-kind.ts";

/**
 * The artifact store for steps. `origin` plus the name is the URL of saved files; `saved` is called with each stored
 * file.
 */
export function stepFiles(
  artifacts: ArtifactStore,
  origin: string,
  saved: (hash: string) => void = () => {},
): StepFiles {
  return {
    temporary: artifacts.temporary,
    has: (hash) => artifacts.has(hash),
    sizeOf: (hash) => artifacts.sizeOf(hash),
    pathOf: (hash) => artifacts.pathOf(hash),
    async *open(hash) {
      yield* await artifacts.open(hash);
    },
    adopt: ({ hash }) => saved(hash),
    coolDown: (hash) => artifacts.coolDown(hash),
    ageOf: (hash) => artifacts.ageOf(hash),
    async warmUp(hash) {
      if (!(await artifacts.has(hash))) return null;
      // Stored again, it is in the hot tier, which is read first.
      const writer = artifacts.writer();
      try {
        for await (const chunk of await artifacts.open(hash)) await writer.write(chunk as Buffer);
        return (await writer.finish()).size;
      } catch (error) {
        await writer.abort(false);
        throw error;
      }
    },
    async save(bytes, about) {
      const writer = artifacts.writer();
      try {
        // A written buffer must not change afterwards, and its owner may reuse its memory.
        for await (const chunk of bytes) await writer.write(Buffer.from(chunk));
        const { hash, size } = await writer.finish();
        saved(hash);
        return { hash, size, contentType: about.contentType, url: `${origin}/${encodeURIComponent(about.name)}` };
      } catch (error) {
        await writer.abort(false);
        throw error;
      }
    },
  };
}

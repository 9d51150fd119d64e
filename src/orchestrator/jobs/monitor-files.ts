/** Stored contents of monitors. */
import type { Readable } from "node:stream";
import type { Seal } from "../../base/seal.ts";
import type { MonitoredFile } from "../../domain/monitor/monitored-page.ts";
import { SEALED_FOR_MONITOR } from "../../pages/monitored.ts";

interface FileDeps {
  seal: Seal;
  openArtifact(hash: string): Promise<Readable>;
}

export async function readMonitored(
  { seal, openArtifact }: FileDeps,
  { hash, isSealed }: Pick<MonitoredFile, "hash"> & { isSealed: boolean },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await openArtifact(hash)) chunks.push(chunk as Buffer);
  const stored = Buffer.concat(chunks);
  return isSealed ? Buffer.from(seal.open(stored, SEALED_FOR_MONITOR) as string, "base64") : stored;
}

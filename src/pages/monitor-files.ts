/** Stored contents of monitors: of the pages, and of further fetches of a page. */
import type { Readable } from "node:stream";
import type { Seal } from "../base/seal.ts";
import type { MonitoredFile } from "../domain/monitor/monitored-page.ts";
import { SEALED_FOR_MONITOR } from "./monitored.ts";

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

/** Several fetches in one file. */
export function writeFetches(contents: readonly Buffer[]): Buffer {
  return Buffer.from(JSON.stringify({ fetches: contents.map((content) => content.toString("base64")) }));
}

/** Earlier versions kept one fetch as it was. */
export function readFetches(bytes: Buffer): Buffer[] {
  try {
    const { fetches } = JSON.parse(bytes.toString("utf8")) as { fetches?: unknown };
    if (Array.isArray(fetches)) return fetches.map((content) => Buffer.from(String(content), "base64"));
  } catch {
    // It is no list of fetches.
  }
  return [bytes];
}

/** Compares a page with the last time that it was read in the same way. */
import type { Readable } from "node:stream";
import { isOrbError } from "../../base/errors.ts";
import { isoOf } from "../../base/iso.ts";
import type { Seal } from "../../base/seal.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { trackedKey } from "../../domain/monitor/tracked-key.ts";
import { compareTracked, type TrackedContent, type TrackingRequest } from "../../domain/monitor/tracking.ts";
import type { Handled } from "../../domain/run/outcome.ts";
import type { Recipe } from "../../domain/run/recipe.ts";
import { isObject } from "../../domain/text/input-reader.ts";
import { SEALED_FOR_MONITOR } from "../../pages/monitored.ts";
import type { Store } from "../../store/ports/port.ts";
import type { TrackedPageRecord } from "../../store/ports/monitors/tracked-port.ts";
import { type FixtureWriter, isFetchedWithSecrets } from "./fixtures.ts";

interface TrackingDeps {
  store: Pick<Store, "trackedPage">;
  seal: Seal;
  keepFixture: FixtureWriter;
  openArtifact(hash: string): Promise<Readable>;
}

/** The outcome of a page, with how it changed; both are written together. */
export async function withTracking(
  deps: TrackingDeps,
  tracking: TrackingRequest | undefined,
  handled: Handled,
  url: string,
  recipe: Recipe,
): Promise<Handled> {
  if (tracking === undefined || handled.kind !== "completed") return handled;
  const [first, ...rest] = handled.results as readonly Record<string, JsonValue>[];
  const document = first?.["document"];
  if (first === undefined || !isObject(document) || typeof document["markdown"] !== "string") return handled;
  const { document: _document, ...record } = first;
  const now: TrackedContent = { markdown: document["markdown"], record };
  const key = trackedKey(tracking, url);
  const known = await deps.store.trackedPage(key);
  const before = known === null ? null : await contentOf(deps, known);
  const found = compareTracked(before, now, before === null ? null : isoOf(known!.readAt));
  const isSealed = isFetchedWithSecrets(recipe);
  const json = Buffer.from(JSON.stringify(now));
  const file = await deps.keepFixture(
    isSealed ? Buffer.from(deps.seal.close(json.toString("base64"), SEALED_FOR_MONITOR)) : json,
  );
  const results = [{ ...first, tracking: found }, ...rest];
  if (file === null) return { ...handled, results };
  const tracked = { key, url, ...file, isSealed, replaces: known?.hash ?? null };
  return { ...handled, results, report: { ...handled.report, tracked } };
}

/** Null: its file is missing, so that the page counts as new. */
async function contentOf(
  { seal, openArtifact }: TrackingDeps,
  { hash, isSealed }: TrackedPageRecord,
): Promise<TrackedContent | null> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of await openArtifact(hash)) chunks.push(chunk as Buffer);
    const stored = Buffer.concat(chunks);
    const json = isSealed ? Buffer.from(seal.open(stored, SEALED_FOR_MONITOR) as string, "base64") : stored;
    return JSON.parse(json.toString("utf8")) as TrackedContent;
  } catch (error) {
    if (isOrbError(error, "not_found")) return null;
    throw error;
  }
}

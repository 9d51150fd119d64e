/** Builds the document of a page from its reading, its files and its browser actions. */
import { documentWarning } from "../domain/page/document-warning.ts";
import type { TaskArtifact } from "../domain/run/outcome.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import { type PageAnswer, receivedOf } from "../fetch/page.ts";
import type { EvidenceStore } from "./evidence.ts";
import type { PageGot } from "./get-page.ts";

/** The key of the document in a record. */
const DOCUMENT = "document";

export interface PageFileKeeper {
  /** Stores a requested screenshot. */
  picture(bytes: Uint8Array, url: string): Promise<TaskArtifact>;
}

export function createPageFileKeeper(artifacts: EvidenceStore): PageFileKeeper {
  return {
    async picture(bytes, url) {
      const writer = artifacts.writer();
      await writer.write(Buffer.from(bytes));
      return { ...(await writer.finish()), contentType: "image/png", url, role: "screenshot" };
    },
  };
}

interface Documented {
  results: readonly Record<string, JsonValue>[];
  artifacts: TaskArtifact[];
}

/** Adds the page's document to its first record; `into` of each artifact is its path in the document. */
export async function withDocument(
  keeper: PageFileKeeper,
  { answer, judgement }: Pick<PageGot, "answer" | "judgement">,
  records: readonly Record<string, JsonValue>[],
  sourceUrl: string,
): Promise<Documented> {
  const read = judgement?.extraction?.document;
  if (read === undefined || answer === null) return { results: records, artifacts: [] };
  const [first = {}, ...rest] = records;
  const { metadata, truncated, ...forms } = read;
  const { finalUrl, status } = answer;
  const { contentType } = receivedOf(answer);
  // The end of a long PDF is missing in all formats.
  const warning = answer.document === undefined ? null : documentWarning(answer.document);
  const cut = warning !== null ? [...new Set([...truncated, ...Object.keys(forms)])] : truncated;
  const about = { source_url: sourceUrl, url: finalUrl, status_code: status, content_type: contentType };
  const document: Record<string, JsonValue> = {
    ...forms,
    metadata: { ...metadata, ...about },
    ...(cut.length === 0 ? {} : { truncated: cut }),
    ...(warning === null ? {} : { warning }),
  };
  const artifacts = await keepPictures(keeper, document, answer);
  return { results: [{ ...first, [DOCUMENT]: document }, ...rest], artifacts };
}

/** Characters of all pages scraped by actions. */
const MAX_SCRAPED = 2_000_000;

/** Adds the results of browser actions to the document. */
async function keepPictures(
  keeper: PageFileKeeper,
  document: Record<string, JsonValue>,
  { taken, finalUrl }: PageAnswer,
): Promise<TaskArtifact[]> {
  if (taken === undefined) return [];
  const files: TaskArtifact[] = [];
  // The artifact id is assigned when the record is written, and filled in then.
  const keep = async (bytes: Uint8Array, ...path: (string | number)[]) => {
    files.push({ ...(await keeper.picture(bytes, finalUrl)), into: [0, DOCUMENT, ...path, "artifact_id"] });
    return { artifact_id: null };
  };
  const { screenshot, actions } = taken;
  if (screenshot !== null) document["screenshot"] = await keep(screenshot, "screenshot");
  if (actions === null) return files;
  const screenshots: JsonValue[] = [];
  for (const [index, picture] of actions.screenshots.entries())
    screenshots.push(await keep(picture, "actions", "screenshots", index));
  let left = MAX_SCRAPED;
  const scrapes = actions.scrapes.map(({ url, html }) => {
    const kept = html.slice(0, Math.max(0, left));
    left -= html.length;
    return { url, html: kept };
  });
  document["actions"] = { screenshots, scrapes };
  if (left < 0) document["truncated"] = [...((document["truncated"] as string[] | undefined) ?? []), "actions.scrapes"];
  return files;
}

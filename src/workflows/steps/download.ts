import { FetchFailure } from "../../domain/run/failure.ts";
import type { TaskArtifact } from "../../domain/run/outcome.ts";
import { withoutCredentials } from "../../domain/text/sealed-text.ts";
import { ADDRESS_SCHEMA, type Address, addressesFor, distinct, FIELD_SCHEMA } from "../addresses.ts";
import { refuseUnlessEnded } from "../child-ends.ts";
import { addressOf, nameOf } from "../items/item-keys.ts";
import { readItems, writeItems } from "../items/items-file.ts";
import { PROXY_SCHEMA } from "../proxy-param.ts";
import type { ChildEnd, Item, StepContext, StepKind } from "../step-kind.ts";
import { decodePercent } from "../../domain/text/url.ts";

interface DownloadParams {
  /** Null, as an expression may produce it, counts as unset. */
  urls?: readonly string[] | null;
  field?: string;
  max_failed_ratio?: number;
  proxy?: string | null;
}

/** Maximum of one child run: its tasks are written in the transaction that puts the step to sleep. */
const MOST_AT_ONCE = 5000;
const MOST_BYTES_AT_ONCE = 1024 * 1024;

/** Keeps only the index of a file among the URLs: its item is read again at the end. */
interface Memory {
  taken: number;
  /** Files with the remaining URLs, one per further child run. */
  lists: (string | null)[];
}

/** Downloads URLs as files, under the limits of their sites. */
export const downloadStep: StepKind<DownloadParams> = {
  kind: "download",
  about: "Downloads the given URLs, or those in the incoming items.",
  params: {
    type: "object",
    properties: {
      urls: { type: ["array", "null"], items: ADDRESS_SCHEMA, maxItems: 100_000 },
      field: FIELD_SCHEMA,
      max_failed_ratio: {
        type: "number",
        minimum: 0,
        maximum: 1,
        description:
          "Share of downloads that may fail, from 0 to 1. Default: the step fails only if all downloads fail.",
      },
      proxy: PROXY_SCHEMA,
    },
    additionalProperties: false,
  },
  async run(context, params) {
    const { urls, field = "url", max_failed_ratio: ratio = 1, proxy = null } = params;
    const all = () => distinct(addressesFor(context, urls ?? undefined, field));
    if (context.child !== null && context.child.status === "cancelled") refuseUnlessEnded(context.child, "download");
    const memory = context.memory as Memory | null;
    const taken = memory?.taken ?? 0;
    const { batch, lists } = await nextBatch(context, all, memory);
    if (batch.length > 0) {
      context.progress(taken, null, `${taken} files`);
      const wanted = batch.map((url, n) => ({ url, data: { at: taken + n } }));
      const next: Memory = { taken: taken + batch.length, lists };
      return { kind: "wait", memory: { ...next }, child: { kind: "download", urls: wanted, proxy } };
    }
    const lost: Lost = { invalid: 0, failed: 0, error: null };
    const { file } = await writeItems(context.files, "failed.jsonl", failuresOf(context, all(), lost));
    const failed = lost.invalid + lost.failed;
    refuseUnlessEnough(taken - lost.failed, failed, ratio, lost.error);
    const output = { downloaded: 0, failed };
    return {
      kind: "done",
      output,
      items: filesOf(context.children, all(), output),
      files: file === null ? [] : [file],
    };
  },
};

/** Reads the URLs once: those of further child runs are saved, one file per list. */
async function nextBatch(
  context: StepContext,
  all: () => AsyncIterable<Address>,
  memory: Memory | null,
): Promise<{ batch: readonly string[]; lists: Memory["lists"] }> {
  if (memory === null) {
    const lists: (string | null)[] = [];
    let first: readonly string[] | null = null;
    for await (const batch of batchesOf(all())) {
      if (first === null) first = batch;
      // A file is not sealed: a list with credentials is rebuilt instead.
      else if (batch.some((url) => withoutCredentials(url) !== url)) lists.push(null);
      else lists.push((await writeItems(context.files, "addresses.jsonl", asItems(batch))).items.hash);
    }
    return { batch: first ?? [], lists };
  }
  const [hash, ...lists] = memory.lists;
  if (hash === undefined) return { batch: [], lists };
  return { batch: await readBatch(context, hash, all, memory.taken), lists };
}

async function readBatch(
  { files }: StepContext,
  hash: string | null,
  all: () => AsyncIterable<Address>,
  taken: number,
): Promise<readonly string[]> {
  if (hash !== null && (await files.has(hash))) {
    const batch: string[] = [];
    for await (const { url } of readItems(files, { hash })) batch.push(url ?? "");
    return batch;
  }
  // No row references such a list, so it may have been swept; it can be rebuilt.
  let before = 0;
  for await (const batch of batchesOf(all())) {
    if (before === taken) return batch;
    before += batch.length;
  }
  return [];
}

async function* batchesOf(addresses: AsyncIterable<Address>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for await (const { url } of addresses) {
    if (url === null) continue;
    batch.push(url);
    bytes += url.length;
    if (batch.length < MOST_AT_ONCE && bytes < MOST_BYTES_AT_ONCE) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

function* asItems(batch: readonly string[]): Generator<Item> {
  for (const url of batch) yield { url };
}

interface Lost {
  invalid: number;
  failed: number;
  /** The first failure: if all fail, mostly for the same reason. */
  error: string | null;
}

function refuseUnlessEnough(had: number, failed: number, ratio: number, error: string | null): void {
  if (failed === 0) return;
  const all = had + failed;
  const why = error === null ? "" : `: ${error}`;
  if (had === 0) {
    const what = all === 1 ? "the only download failed" : `all ${all} downloads failed`;
    throw new FetchFailure("step_child_failed", `${what}${why}`);
  }
  if (failed / all > ratio)
    throw new FetchFailure(
      "step_child_failed",
      `${failed} of ${all} downloads failed, more than max_failed_ratio (${ratio}) allows${why}`,
    );
}

/** One line per failed URL. */
async function* failuresOf(context: StepContext, addresses: AsyncIterable<Address>, lost: Lost): AsyncGenerator<Item> {
  for await (const { url, text } of addresses) {
    if (url !== null) continue;
    lost.invalid += 1;
    lost.error ??= "not an http or https URL";
    yield { url: withoutCredentials(text), error: "is not an http or https URL" };
  }
  for (const child of context.children) {
    for await (const { url, file, error } of child.downloads()) {
      if (file !== null) continue;
      lost.failed += 1;
      lost.error ??= error;
      yield { url, error: error ?? "it returned no file" };
    }
  }
}

/** Both are in the order of the URLs. */
async function* filesOf(
  children: readonly ChildEnd[],
  addresses: AsyncIterable<Address>,
  counts: { downloaded: number },
): AsyncGenerator<Item> {
  const items = itemsOf(addresses);
  let [place, item]: [number, Item] = [-1, {}];
  try {
    for (const child of children) {
      for await (const { url, data, file } of child.downloads()) {
        if (file === null) continue;
        for (const { at } = data as { at: number }; place < at; place += 1) item = (await items.next()).value ?? {};
        counts.downloaded += 1;
        yield fileItem(url, item, file);
      }
    }
  } finally {
    await items.return(undefined);
  }
}

async function* itemsOf(addresses: AsyncIterable<Address>): AsyncGenerator<Item, undefined> {
  for await (const { url, item } of addresses) if (url !== null) yield item;
  return undefined;
}

function fileItem(url: string, item: Item, { hash, size, contentType, id }: TaskArtifact & { id: string }): Item {
  return {
    ...item,
    ...((addressOf(item) ?? url) === url ? {} : { source_url: addressOf(item)! }),
    url,
    hash,
    bytes: size,
    content_type: contentType,
    artifact_id: id,
    name: fileName(url, item),
  };
}

/** The name of the item, or the last part of the URL. */
function fileName(url: string, item: Item): string {
  const itemName = nameOf(item);
  if (itemName !== null) return itemName;
  const last = new URL(url).pathname.split("/").at(-1) ?? "";
  return decodePercent(last) || new URL(url).hostname;
}

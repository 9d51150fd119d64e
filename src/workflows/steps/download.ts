import { FetchFailure } from "../../domain/failure.ts";
import type { JsonValue } from "../../domain/queue-item.ts";
import { ADDRESS_SCHEMA, type Address, addressesFor, distinct, FIELD_SCHEMA } from "../addresses.ts";
import { refuseUnlessEnded } from "../child-ends.ts";
import { writeItems } from "../items-file.ts";
import type { ChildEnd, Item, StepContext, StepKind } from "../step-kind.ts";

interface DownloadParams {
  /** Null, as an expression may give it, is the same as none. */
  urls?: readonly string[] | null;
  field?: string;
  max_failed_ratio?: number;
}

/** How many one child run has: they are written together with the step that goes to sleep. */
const MOST_AT_ONCE = 5000;

/** Stores what addresses give. They are fetched under the limits of their sites, as everything is. */
export const downloadStep: StepKind<DownloadParams> = {
  kind: "download",
  about: "Downloads what is at the addresses it is given, or at those in the items that come in.",
  params: {
    type: "object",
    properties: {
      urls: { type: ["array", "null"], items: ADDRESS_SCHEMA, maxItems: 100_000 },
      field: FIELD_SCHEMA,
      max_failed_ratio: {
        type: "number",
        minimum: 0,
        maximum: 1,
        description: "Which part may fail, from 0 to 1; without it the step fails only when nothing could be had.",
      },
    },
    additionalProperties: false,
  },
  async run(context, params) {
    const { urls, field = "url", max_failed_ratio: ratio = 1 } = params;
    const all = () => distinct(addressesFor(context, urls ?? undefined, field));
    if (context.child !== null && context.child.status === "cancelled") refuseUnlessEnded(context.child, "download");
    const taken = (context.memory as { taken: number } | null)?.taken ?? 0;
    const batch = await nextOf(all(), taken);
    if (batch.length > 0) {
      context.progress(taken, null, `${taken} files`);
      const wanted = batch.map(({ url, item }) => ({ url: url!, data: item as JsonValue }));
      return { kind: "wait", memory: { taken: taken + batch.length }, child: { kind: "download", urls: wanted } };
    }
    const lost = { invalid: 0, failed: 0 };
    const { file } = await writeItems(context.files, "failed.jsonl", failuresOf(context, all(), lost));
    const failed = lost.invalid + lost.failed;
    refuseUnlessEnough(taken - lost.failed, failed, ratio);
    const output = { downloaded: 0, failed };
    return { kind: "done", output, items: filesOf(context.children, output), files: file === null ? [] : [file] };
  },
};

async function nextOf(addresses: AsyncIterable<Address>, taken: number): Promise<Address[]> {
  const batch: Address[] = [];
  let seen = 0;
  for await (const address of addresses) {
    if (address.url === null) continue;
    seen += 1;
    if (seen <= taken) continue;
    batch.push(address);
    if (batch.length === MOST_AT_ONCE) break;
  }
  return batch;
}

function refuseUnlessEnough(had: number, failed: number, ratio: number): void {
  if (failed === 0) return;
  const all = had + failed;
  if (had === 0) throw new FetchFailure("step_child_failed", `none of ${all} files could be had`);
  if (failed / all > ratio)
    throw new FetchFailure(
      "step_child_failed",
      `${failed} of ${all} files could not be had: more than max_failed_ratio`,
    );
}

/** One line for each address that gave nothing. */
async function* failuresOf(
  context: StepContext,
  addresses: AsyncIterable<Address>,
  lost: { invalid: number; failed: number },
): AsyncGenerator<Item> {
  for await (const { url, given } of addresses) {
    if (url !== null) continue;
    lost.invalid += 1;
    yield { url: given, error: "is not an http or https address" };
  }
  for (const child of context.children) {
    for await (const { url, file, error } of child.downloads()) {
      if (file !== null) continue;
      lost.failed += 1;
      yield { url, error: error ?? "it gave no file" };
    }
  }
}

async function* filesOf(children: readonly ChildEnd[], counts: { downloaded: number }): AsyncGenerator<Item> {
  for (const child of children) {
    for await (const { url, data, file } of child.downloads()) {
      if (file === null) continue;
      counts.downloaded += 1;
      const { hash, size, contentType, id } = file;
      const item = data as Item;
      yield {
        ...item,
        ...(item.url === undefined || item.url === url ? {} : { source_url: item.url }),
        url,
        hash,
        bytes: size,
        content_type: contentType,
        artifact_id: id,
        name: nameOf(url, item),
      };
    }
  }
}

/** What it is called: as the item says, or the last part of the address. */
function nameOf(url: string, item: Item): string {
  if (typeof item.name === "string" && item.name !== "") return item.name;
  const last = new URL(url).pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(last) || new URL(url).hostname;
  } catch {
    return last;
  }
}

import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { addressOf, notRead } from "../items/item-keys.ts";
import { Comparison, type Differences } from "../../domain/monitor/record-comparison.ts";
import { PATH_SCHEMA } from "../items/item-values.ts";
import { untilAborted, writeItems } from "../items/items-file.ts";
import type { Item, StepContext, StepKind } from "../step-kind.ts";

interface CompareParams {
  key?: string | readonly string[];
  fields?: readonly string[];
}

/** The output lists this many changes, with long values cut; the file has all of them. */
const SHOWN = 50;
const LONGEST_SHOWN = 300;
/** Limit of earlier items held at once for comparison by value. */
const MOST_HELD_CHARS = 16 * 1024 * 1024;

/**
 * Reports changes since the last completed run of the same job or template. Its outputs are its inputs: the next run
 * compares with those.
 */
export const compareStep: StepKind<CompareParams> = {
  kind: "compare",
  about: "Compares its items with those of the last completed run and reports changed, added and removed items.",
  params: {
    type: "object",
    properties: {
      key: {
        anyOf: [PATH_SCHEMA, { type: "array", items: PATH_SCHEMA, minItems: 1, maxItems: 10 }],
        description:
          "Paths that identify an item across runs. Default: url. Items with the same key are matched by their order.",
      },
      fields: {
        type: "array",
        items: PATH_SCHEMA,
        minItems: 1,
        maxItems: 100,
        description: "Paths of the values to compare. Default: all except file ids.",
      },
    },
    additionalProperties: false,
  },
  async run(context, { key = "url", fields }) {
    const comparison = new Comparison([key].flat(), fields ?? null);
    const before = await context.itemsOfLastRun(context.step.name);
    const output = {
      first_run: before === null,
      total: 0,
      duplicates: 0,
      changed: 0,
      added: 0,
      removed: 0,
      unchanged: 0,
      not_read: 0,
      changes: [] as JsonValue[],
    };
    const changes = async function* () {
      for await (const change of before === null ? [] : changesOf(context, before, comparison, output)) {
        output[change.kind] += 1;
        if (output.changes.length < SHOWN) output.changes.push(shortened(change));
        yield change as Item;
      }
    };
    const { file } = await writeItems(context.files, "changes.jsonl", changes());
    return {
      kind: "done",
      output,
      items: counted(context, before, comparison, output),
      files: file === null ? [] : [file],
    };
  },
};

interface Change {
  [key: string]: JsonValue;
  kind: "changed" | "added" | "removed";
  url: string | null;
  title: string | null;
  key: JsonValue;
  fields: Differences;
}

/** The state of an earlier item after all current ones were read; before that, its digest. */
const [SAME, CHANGED] = ["same", "changed"];

/**
 * Holds only digests of both runs. Changed items are read again in bounded batches, so that datasets of any size can be
 * compared; added ones come before removed ones, each in the order of its run.
 */
async function* changesOf(
  context: StepContext,
  before: AsyncIterable<Item>,
  comparison: Comparison,
  counts: { unchanged: number },
): AsyncGenerator<Change> {
  const old = async function* () {
    const nameOf = comparison.names();
    for await (const item of untilAborted(before, context.signal)) if (isKnown(item)) yield { ...nameOf(item), item };
  };
  // The content of an unreadable page is unknown: it counts as neither changed nor removed.
  const missed = new Set<string>();
  const now = async function* () {
    const nameOf = comparison.names();
    for await (const item of untilAborted(context.inputs(), context.signal))
      if (notRead(item) === null) yield { ...nameOf(item), item };
      else missed.add(addressOf(item) ?? "");
  };
  const change = (kind: Change["kind"], item: Item, fields: Differences): Change => {
    return { kind, url: addressOf(item), title: titleOf(item), key: comparison.keyOf(item), fields };
  };
  const known = new Map<string, string>();
  for await (const { name, item } of old()) known.set(name, comparison.digestOf(item));
  let open = 0;
  for await (const { name, item } of now()) {
    const said = known.get(name);
    if (said === undefined) open += 1;
    else {
      const isSame = said === comparison.digestOf(item);
      known.set(name, isSame ? SAME! : CHANGED!);
      if (isSame) counts.unchanged += 1;
      else open += 1;
    }
  }
  for (let first = true; open > 0; first = false) {
    const held = await changedOf(old(), known, comparison);
    for await (const { name, item } of now()) {
      const was = held.get(name);
      const isNew = first && !known.has(name);
      if (was === undefined && !isNew) continue;
      open -= 1;
      if (was === undefined) yield change("added", item, {});
      else {
        known.set(name, SAME!);
        yield change("changed", item, comparison.differences(was, item));
      }
    }
  }
  for await (const { name, item } of old())
    if (known.get(name) !== SAME && !missed.has(addressOf(item) ?? "")) yield change("removed", item, {});
}

/** A bounded batch of changed items that were not reported yet. */
async function changedOf(
  old: AsyncIterable<{ name: string; item: Item }>,
  known: ReadonlyMap<string, string>,
  comparison: Comparison,
): Promise<Map<string, Item>> {
  const held = new Map<string, Item>();
  let chars = 0;
  for await (const { name, item } of old) {
    if (known.get(name) !== CHANGED) continue;
    const part = comparison.partOf(item);
    held.set(name, part);
    chars += JSON.stringify(part).length;
    if (chars >= MOST_HELD_CHARS) break;
  }
  return held;
}

function shortened(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, 20).map(shortened);
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 50)
      .map(([name, inner]) => [name, shortened(inner)]),
  );
}

/**
 * The inputs. For an unreadable page, the earlier item stays, so that the next run that reads it compares with that.
 */
async function* counted(
  { inputs, signal }: StepContext,
  before: AsyncIterable<Item> | null,
  comparison: Comparison,
  output: { total: number; duplicates: number; not_read: number },
): AsyncGenerator<Item> {
  const nameOf = comparison.names();
  const missed = new Map<string, string>();
  for await (const item of inputs()) {
    const why = notRead(item);
    if (why === null) {
      output.total += 1;
      if (nameOf(item).isRepeated) output.duplicates += 1;
      yield item;
    } else {
      output.not_read += 1;
      missed.set(addressOf(item) ?? "", why);
    }
  }
  const kept = new Set<string>();
  for await (const item of before === null || missed.size === 0 ? [] : untilAborted(before, signal)) {
    const url = addressOf(item) ?? "";
    const why = missed.get(url);
    if (why === undefined || !isKnown(item)) continue;
    kept.add(url);
    yield { ...item, not_read: why };
  }
  for (const [url, why] of missed) if (!kept.has(url)) yield { url, not_read: why };
}

/** Of a page that was never readable only the URL is known. */
function isKnown(item: Item): boolean {
  return notRead(item) === null || Object.keys(item).some((key) => key !== "url" && key !== "not_read");
}

function titleOf({ title }: Item): string | null {
  return typeof title === "string" ? title : null;
}

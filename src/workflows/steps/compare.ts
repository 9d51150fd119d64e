import { createHash } from "node:crypto";
import type { JsonValue } from "../../domain/queue-item.ts";
import { addressOf } from "../item-keys.ts";
import { PATH_SCHEMA, valueAt } from "../item-values.ts";
import { writeItems } from "../items-file.ts";
import type { Item, StepContext, StepKind } from "../step-kind.ts";

interface CompareParams {
  key?: string | readonly string[];
  fields?: readonly string[];
}

/** So many changes stand in the output, the longest values cut; all of them are in the file. */
const SHOWN = 50;
const LONGEST_SHOWN = 300;

/**
 * Says what has changed since the last completed run of the same job or template. Its items are what came in: the next run
 * compares with those.
 */
export const compareStep: StepKind<CompareParams> = {
  kind: "compare",
  about: "Compares its items with those of the last completed run, and says which changed, came or went.",
  params: {
    type: "object",
    properties: {
      key: {
        anyOf: [PATH_SCHEMA, { type: "array", items: PATH_SCHEMA, minItems: 1, maxItems: 10 }],
        description: "What makes an item the same as one of before: paths within it. url unless told.",
      },
      fields: {
        type: "array",
        items: PATH_SCHEMA,
        minItems: 1,
        maxItems: 100,
        description: "Which values are compared: paths within the item. All but the key unless told.",
      },
    },
    additionalProperties: false,
  },
  async run(context, { key = "url", fields }) {
    const keys = [key].flat();
    const before = await context.itemsOfLastRun(context.step.name);
    const output = { first_run: before === null, total: 0, changed: 0, added: 0, removed: 0, unchanged: 0 };
    const shown: JsonValue[] = [];
    const changes = before === null ? [] : compared(context, before, keys, fields ?? null);
    const told = async function* () {
      for await (const change of changes) {
        output[change.kind] += 1;
        if (change.kind === "unchanged") continue;
        if (shown.length < SHOWN) shown.push(shortened(change));
        yield change as Item;
      }
    };
    const { file } = await writeItems(context.files, "changes.jsonl", told());
    return {
      kind: "done",
      output: Object.assign(output, { changes: shown }),
      items: counted(context, output),
      files: file === null ? [] : [file],
    };
  },
};

interface Change {
  [key: string]: JsonValue;
  kind: "changed" | "added" | "removed" | "unchanged";
  url: string | null;
  key: JsonValue;
  fields: Record<string, { before: JsonValue; after: JsonValue }>;
}

/** Of what was before, the values are kept, by key; what is now goes by. Of items with the same key the first counts. */
async function* compared(
  context: StepContext,
  before: AsyncIterable<Item>,
  keys: readonly string[],
  fields: readonly string[] | null,
): AsyncGenerator<Change> {
  const known = new Map<string, Item>();
  for await (const item of before) {
    context.signal.throwIfAborted();
    const name = nameOf(item, keys);
    if (!known.has(name)) known.set(name, keptOf(item, keys, fields));
  }
  const seen = new Set<string>();
  for await (const item of context.inputs()) {
    context.signal.throwIfAborted();
    const name = nameOf(item, keys);
    if (seen.has(name)) continue;
    seen.add(name);
    const old = known.get(name);
    if (old === undefined) yield changeOf("added", item, keys, {});
    else {
      const different = differences(old, keptOf(item, keys, fields), fields);
      yield changeOf(Object.keys(different).length === 0 ? "unchanged" : "changed", item, keys, different);
    }
  }
  for (const [name, item] of known) if (!seen.has(name)) yield changeOf("removed", item, keys, {});
}

function nameOf(item: Item, keys: readonly string[]): string {
  const values = JSON.stringify(keys.map((key) => valueAt(item, key) ?? null));
  return createHash("sha256").update(values).digest("base64");
}

/** What names it to people, and what is compared. */
function keptOf(item: Item, keys: readonly string[], fields: readonly string[] | null): Item {
  if (fields === null) return item;
  const kept: Item = addressOf(item) === null ? {} : { url: addressOf(item)! };
  for (const path of [...keys, ...fields]) kept[`=${path}`] = valueAt(item, path) ?? null;
  return kept;
}

function differences(
  before: Item,
  after: Item,
  fields: readonly string[] | null,
): Record<string, { before: JsonValue; after: JsonValue }> {
  const names = fields ?? [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const found: Record<string, { before: JsonValue; after: JsonValue }> = {};
  for (const name of names) {
    const read = (item: Item) => (fields === null ? item[name] : item[`=${name}`]) ?? null;
    const [old, now] = [read(before), read(after)];
    if (!same(old, now)) found[name] = { before: old, after: now };
  }
  return found;
}

function same(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, JsonValue>, b as Record<string, JsonValue>];
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && same(left[name] ?? null, right[name] ?? null))
  );
}

function changeOf(kind: Change["kind"], item: Item, keys: readonly string[], fields: Change["fields"]): Change {
  const read = (key: string) => valueAt(item, key) ?? item[`=${key}`] ?? null;
  return { kind, url: addressOf(item), key: keys.length === 1 ? read(keys[0]!) : keys.map(read), fields };
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

async function* counted({ inputs }: StepContext, output: { total: number }): AsyncGenerator<Item> {
  for await (const item of inputs()) {
    output.total += 1;
    yield item;
  }
}

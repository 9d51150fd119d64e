/** `deduplicate` for texts: its params, and one attempt. */
import type { FieldError } from "../../base/errors.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { MATCH, type SearchMethod, type Verdicts } from "../../texts/duplicates.ts";
import { TextSearch } from "../../texts/search.ts";
import { SpillFile } from "../../texts/spill-file.ts";
import type { TextDuplicateParams } from "../built-in-kinds.ts";
import { untilAborted, writeItems } from "../items/items-file.ts";
import { valueAt } from "../../domain/text/value-at.ts";
import { PATH_SCHEMA, textAt } from "../items/item-values.ts";
import type { Item, StepContext, StepEnd } from "../step-kind.ts";

/** As FineWeb does it; documents that people call copies have more in common. */
const DEFAULT_THRESHOLD = 0.8;
const DEFAULT_SHINGLE = 5;
/** One word of ten changes nine bits at the median. Unrelated texts differ in 30, one pair of millions in 8 or fewer. */
const DEFAULT_DISTANCE = 8;
const DEFAULT_DATE = "published_at";
const BY_FIELD = /^(highest|lowest):(.+)$/s;

export const TEXT_SCHEMAS: Readonly<Record<string, JsonValue>> = {
  text: {
    ...PATH_SCHEMA,
    type: ["string", "null"],
    description: "Path of a text in the items: compares these texts instead of files.",
  },
  method: {
    enum: ["minhash", "simhash", "exact", null],
    description: "minhash: similar texts. simhash: similar short texts. exact: the same words. Default: minhash.",
  },
  threshold: {
    type: ["number", "null"],
    minimum: 0.5,
    maximum: 1,
    description: `minhash: least Jaccard similarity of duplicates. Default: ${DEFAULT_THRESHOLD}.`,
  },
  shingle: {
    type: ["integer", "null"],
    minimum: 1,
    maximum: 20,
    description: `minhash: words per shingle. Default: ${DEFAULT_SHINGLE}.`,
  },
  date: {
    ...PATH_SCHEMA,
    type: ["string", "null"],
    description: `Path of the date for keep newest. Default: ${DEFAULT_DATE}.`,
  },
};

/** Params that do not go together. */
export function faultsOfTextParams(params: Readonly<Record<string, JsonValue>>): FieldError[] {
  const { text, method, keep, date } = params;
  const has = (name: string) => params[name] !== undefined && params[name] !== null;
  const fault = (name: string, message: string): FieldError[] => [{ path: `params.${name}`, message }];
  const ofTexts = typeof keep === "string" && !["largest", "first"].includes(keep);
  if (text === undefined || text === null)
    return [
      ...["method", "threshold", "shingle", "date"]
        .filter(has)
        .flatMap((name) => fault(name, "is for texts: set text to the path of a text")),
      ...(ofTexts ? fault("keep", "is for texts: set text to the path of a text") : []),
    ];
  const isMinhash = method === undefined || method === null || method === "minhash";
  return [
    ...(keep === "largest" ? fault("keep", "is for images; of texts keep first, longest, newest or highest:PATH") : []),
    ...(isMinhash ? [] : ["threshold", "shingle"].filter(has).flatMap((name) => fault(name, "is for method minhash"))),
    ...(has("distance") && method !== "simhash" ? fault("distance", "is for images and for method simhash") : []),
    ...(date !== undefined && date !== null && keep !== "newest" ? fault("date", "is for keep newest") : []),
  ];
}

export async function deduplicateTexts(context: StepContext, params: TextDuplicateParams): Promise<StepEnd> {
  const { signal } = context;
  const rankOf = ranking(params);
  let withoutRank = 0;
  let count = 0;
  const onDecided = (done: number) => context.progress(done, count, "comparing texts");
  // Which items there are: one that replaces others is named with them. Read at random, so on disk.
  const abouts = new Abouts(context.files.temporary);
  let isOpen = true;
  try {
    let verdicts: Verdicts;
    {
      await using search = new TextSearch(methodOf(params), context.files.temporary, signal, onDecided);
      for await (const item of untilAborted(context.inputs(), signal)) {
        const text = textAt(item, params.text) ?? "";
        const rank = rankOf?.(item, text) ?? null;
        if (rank === null) withoutRank += 1;
        await search.add(text, rank ?? -Infinity);
        abouts.add(item);
        count += 1;
        context.progress(count, null, "reading texts");
      }
      verdicts = await search.decide();
    }
    const counts = countsOf(verdicts);
    const isBits = params.method === "simhash";
    const removed = removedItems(context, verdicts, abouts, isBits);
    const { file } = await writeItems(context.files, "removed.jsonl", removed);
    abouts.close();
    isOpen = false;
    const { exact, near, empty } = counts;
    return {
      kind: "done",
      output: {
        kept: count - exact - near,
        removed: exact + near,
        exact,
        near,
        without_text: empty,
        ...(rankOf === null || params.keep === "longest" ? {} : { without_rank: withoutRank }),
      },
      items: keptItems(context, verdicts),
      files: file === null ? [] : [file],
    };
  } finally {
    if (isOpen) abouts.close();
  }
}

function methodOf({ method, threshold, shingle, distance }: TextDuplicateParams): SearchMethod {
  if (method === "exact") return { method };
  if (method === "simhash") return { method, distance: distance ?? DEFAULT_DISTANCE };
  return { method: "minhash", threshold: threshold ?? DEFAULT_THRESHOLD, shingle: shingle ?? DEFAULT_SHINGLE };
}

/** The highest is kept; an item without the value (null) comes last. Null: all have the same rank. */
function ranking({ keep, date }: TextDuplicateParams): ((item: Item, text: string) => number | null) | null {
  if (keep === "longest") return (_, text) => text.length;
  if (keep === "newest") return (item) => numberOf(valueAt(item, date ?? DEFAULT_DATE));
  const [, order, path] = BY_FIELD.exec(keep ?? "") ?? [];
  if (path === undefined) return null;
  const sign = order === "lowest" ? -1 : 1;
  return (item) => {
    const value = valueAt(item, path);
    // Scraped numbers are often texts.
    const number = typeof value === "string" && DECIMAL.test(value.trim()) ? Number(value) : numberOf(value);
    return number === null ? null : sign * number;
  };
}

const DECIMAL = /^[+-]?\d{1,30}(?:\.\d{1,30})?$/;
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** A number, or a date by ISO 8601; without a time zone it is UTC, on every machine. */
function numberOf(value: JsonValue | undefined): number | null {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return null;
  const match = DATE.exec(value.trim());
  const time =
    match === null ? Number.NaN : Date.parse(value.length > 10 && match[1] === undefined ? `${value}Z` : value);
  return Number.isNaN(time) ? null : time;
}

function countsOf({ match }: Verdicts): { exact: number; near: number; empty: number } {
  const counts = [0, 0, 0, 0];
  for (const verdict of match) counts[verdict]! += 1;
  return { exact: counts[MATCH.exact]!, near: counts[MATCH.near]!, empty: counts[MATCH.empty]! };
}

function isKept({ match }: Verdicts, at: number): boolean {
  return match[at] === MATCH.kept || match[at] === MATCH.empty;
}

async function* keptItems(context: StepContext, verdicts: Verdicts): AsyncGenerator<Item> {
  let at = 0;
  for await (const item of context.inputs()) {
    if (isKept(verdicts, at)) yield item;
    at += 1;
  }
}

/** Each with the item that replaces it. */
async function* removedItems(
  context: StepContext,
  verdicts: Verdicts,
  abouts: Abouts,
  isBits: boolean,
): AsyncGenerator<Item> {
  let at = 0;
  for await (const item of untilAborted(context.inputs(), context.signal)) {
    if (!isKept(verdicts, at)) {
      const isExact = verdicts.match[at] === MATCH.exact;
      const likeness = Math.round((verdicts.likeness[at] ?? 0) * 1000) / 1000;
      yield {
        ...item,
        reason: isExact ? "exact_duplicate" : "near_duplicate",
        duplicate_of: {
          ...abouts.of(verdicts.of[at] ?? at),
          match: isExact ? "exact" : "near",
          ...(isBits ? { distance: likeness } : { similarity: likeness }),
        },
      };
    }
    at += 1;
  }
}

/** Number, URL and name of each item. */
class Abouts {
  readonly #file: SpillFile;
  /** Where each begins; doubled when full. */
  #starts = new Float64Array(1024);
  #count = 0;
  #end = 0;

  constructor(folder: string) {
    this.#file = new SpillFile(folder);
  }

  add({ url, name }: Item): void {
    const about = {
      ...(typeof url === "string" ? { url } : {}),
      ...(typeof name === "string" ? { name } : {}),
    };
    const bytes = Buffer.from(JSON.stringify(about));
    if (this.#count === this.#starts.length) {
      const wider = new Float64Array(this.#count * 2);
      wider.set(this.#starts);
      this.#starts = wider;
    }
    this.#starts[this.#count] = this.#file.append(bytes);
    this.#count += 1;
    this.#end += bytes.byteLength;
  }

  of(at: number): Record<string, JsonValue> {
    const start = this.#starts[at] ?? 0;
    const bytes = Buffer.alloc((at + 1 < this.#count ? this.#starts[at + 1]! : this.#end) - start);
    this.#file.read(start, bytes);
    return { item: at, ...(JSON.parse(bytes.toString()) as Record<string, JsonValue>) };
  }

  close(): void {
    this.#file[Symbol.dispose]();
  }
}

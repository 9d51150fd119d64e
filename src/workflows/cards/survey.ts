/** What a dataset's descriptions say of its records: gathered in one pass, in bounded memory. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { textAt, urlOf } from "../items/item-values.ts";
import type { Item } from "../step-kind.ts";

const MOST_COLUMNS = 1000;
const MOST_VALUES = 1000;
/** Half of what table formats look at to choose their columns. */
const SAMPLE = { rows: 500, characters: 4 * 1024 * 1024 };

export type ValueType = "boolean" | "integer" | "number" | "text" | "object" | "list";

export interface Column {
  /** Of the values that are not null. */
  types: Set<ValueType>;
  /** Of the elements of lists. */
  elements: Set<ValueType>;
  isWebAddress: boolean;
  /** Among the first records: a table has a column for it. */
  isEarly: boolean;
}

/** Counts by value, most frequent first, for at most a thousand values. */
export class ValueCounts {
  readonly #counts = new Map<string, number>();
  /** Records without a value. */
  without = 0;
  /** Records whose value is not counted: there were too many others before. */
  uncounted = 0;

  add(value: string | null): void {
    if (value === null) this.without += 1;
    else if (this.#counts.has(value) || this.#counts.size < MOST_VALUES)
      this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
    else this.uncounted += 1;
  }

  get size(): number {
    return this.#counts.size;
  }

  top(most: number): [value: string, count: number][] {
    return [...this.#counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, most);
  }
}

/** The columns of one table. */
class TableSurvey {
  readonly columns = new Map<string, Column>();
  #rows = 0;
  #characters = 0;

  add(row: Readonly<Record<string, JsonValue>>): void {
    const isEarly = this.#rows < SAMPLE.rows && this.#characters < SAMPLE.characters;
    if (isEarly) this.#characters += JSON.stringify(row).length;
    this.#rows += 1;
    for (const [name, value] of Object.entries(row)) this.#look(name, value, isEarly);
  }

  #look(name: string, value: JsonValue, isEarly: boolean): void {
    let column = this.columns.get(name);
    if (column === undefined) {
      if (this.columns.size >= MOST_COLUMNS) return;
      column = { types: new Set(), elements: new Set(), isWebAddress: true, isEarly };
      this.columns.set(name, column);
    }
    if (value === null) return;
    const type = typeOf(value);
    column.types.add(type);
    if (typeof value !== "string" || !/^https?:\/\/\S+$/i.test(value)) column.isWebAddress = false;
    if (Array.isArray(value)) for (const element of value) if (element !== null) column.elements.add(typeOf(element));
  }
}

export class DatasetSurvey {
  readonly #tables = new Map<string | null, TableSurvey>();
  /** By origin: `https://example.com`. */
  readonly origins = new ValueCounts();
  readonly languages = new ValueCounts();
  readonly licences = new ValueCounts();
  /** Extensions of the files in an archive. */
  readonly extensions = new ValueCounts();
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  /** Of the table of this split, or of the only one. */
  columnsOf(table: string | null): ReadonlyMap<string, Column> {
    return this.#tables.get(table)?.columns ?? new Map();
  }

  add(item: Item, row: Readonly<Record<string, JsonValue>>, place: { table: string | null; file: string | null }): void {
    this.#rows += 1;
    let table = this.#tables.get(place.table);
    if (table === undefined) this.#tables.set(place.table, (table = new TableSurvey()));
    table.add(row);
    const url = urlOf(item);
    this.origins.add(url === null || url.origin === "null" ? null : url.origin);
    this.languages.add(textAt(item, "language")?.slice(0, 40) ?? null);
    const licence = ["license", "licence", "license_url"].map((name) => textAt(item, name)).find((one) => one !== null);
    this.licences.add(licence?.slice(0, 200) ?? null);
    if (place.file !== null) this.extensions.add(place.file.slice(place.file.lastIndexOf(".") + 1));
  }
}

function typeOf(value: Exclude<JsonValue, null>): ValueType {
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (typeof value === "string") return "text";
  return Array.isArray(value) ? "list" : "object";
}

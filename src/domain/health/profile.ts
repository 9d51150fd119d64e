import { DistinctCount, ValueSample } from "./sketches.ts";
import { shownUrl } from "../text/url.ts";
import { median, spread } from "./robust.ts";
import { classOfText, numberIn, type ValueClass, type ValueType } from "./value-class.ts";

/** What the records of a run look like, field by field. Stored as JSON; shares are of filled values. */
export interface HealthProfile {
  version: 1;
  records: number;
  pages: number;
  fields: Record<string, FieldProfile>;
  /** Fields beyond the first `MOST_FIELDS`, which have no profile. */
  fields_left_out: number;
  /** Absent: not counted. */
  lost?: LostPages;
}

/** Pages that lately gave records by the same rules, and fail now because they lack a required field. */
export interface LostPages {
  /** How many pages that gave records before were read, those that failed included. */
  pages: number;
  fields: Record<string, LostField>;
}

interface LostField {
  pages: number;
  /** A few of them. */
  examples: string[];
}

export interface FieldProfile {
  /** Records with a value that is neither null nor empty. */
  filled: number;
  distinct: number;
  /** Whether `distinct` is counted, not estimated. */
  exact: boolean;
  types: Partial<Record<ValueType, number>>;
  classes: Partial<Record<ValueClass, number>>;
  /** Characters of texts, entries of lists. */
  length: { median: number; spread: number };
  /** Share of digits among the characters of texts and numbers. */
  digits: number;
  /** Of numbers and prices; null: there are none. */
  range: { count: number; min: number; median: number; max: number } | null;
  /** A few records with a value, cut, and a few without. */
  examples: ValueExample[];
}

export interface ValueExample {
  /** Of the page; null: not known. */
  url: string | null;
  /** null: the field is empty there. */
  value: string | null;
}

export const MOST_FIELDS = 200;
const MOST_EXAMPLES = 3;
const LONGEST_EXAMPLE = 80;
const LONGEST_URL = 500;
/** Of a long text, the part whose digits are counted. */
const LONGEST_COUNTED = 2000;

class FieldCounter {
  #filled = 0;
  readonly #distinct = new DistinctCount();
  readonly #types = new Map<ValueType, number>();
  readonly #classes = new Map<ValueClass, number>();
  readonly #lengths = new ValueSample();
  readonly #numbers = new ValueSample();
  #numberCount = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  #characters = 0;
  #digits = 0;
  readonly #examples = new Map<string, string | null>();
  readonly #emptyOn = new Set<string | null>();

  add(value: unknown, url: string | null): void {
    if (isEmpty(value)) {
      if (this.#emptyOn.size < MOST_EXAMPLES) this.#emptyOn.add(url);
      return;
    }
    this.#filled += 1;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    this.#distinct.add(text);
    if (this.#examples.size < MOST_EXAMPLES) this.#addExample(text.slice(0, LONGEST_EXAMPLE), url);
    const type = typeOf(value);
    increment(this.#types, type);
    const kind = type === "string" ? classOfText(text) : type;
    increment(this.#classes, kind);
    this.#lengths.add(Array.isArray(value) ? value.length : text.length);
    if (type === "list" || type === "object") return;
    this.#countDigits(text);
    if (type === "number") this.#addNumber(value as number);
    else if (kind === "number" || kind === "price") this.#addNumber(numberIn(text));
  }

  #addExample(text: string, url: string | null): void {
    if (!this.#examples.has(text)) this.#examples.set(text, url);
  }

  #addNumber(value: number | null): void {
    if (value === null || !Number.isFinite(value)) return;
    this.#numberCount += 1;
    this.#numbers.add(value);
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
  }

  #countDigits(text: string): void {
    const end = Math.min(text.length, LONGEST_COUNTED);
    this.#characters += end;
    for (let index = 0; index < end; index += 1) {
      const code = text.charCodeAt(index);
      if (code >= 48 && code <= 57) this.#digits += 1;
    }
  }

  profile(): FieldProfile {
    const shares = <Name extends string>(counts: ReadonlyMap<Name, number>) =>
      Object.fromEntries([...counts].map(([name, count]) => [name, rounded(count / this.#filled)]));
    const { values } = this.#lengths;
    return {
      filled: this.#filled,
      distinct: Math.min(this.#distinct.count, this.#filled),
      exact: this.#distinct.isExact,
      types: shares(this.#types),
      classes: shares(this.#classes),
      length:
        values.length === 0 ? { median: 0, spread: 0 } : { median: median(values), spread: rounded(spread(values)) },
      digits: this.#characters === 0 ? 0 : rounded(this.#digits / this.#characters),
      range:
        this.#numberCount === 0
          ? null
          : { count: this.#numberCount, min: this.#min, median: median(this.#numbers.values), max: this.#max },
      examples: [
        ...[...this.#examples].map(([value, url]) => ({ url, value })),
        ...[...this.#emptyOn].map((url) => ({ url, value: null })),
      ],
    };
  }
}

const rounded = (value: number) => Math.round(value * 1e6) / 1e6;

function increment<Name>(counts: Map<Name, number>, name: Name): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value === "string") return value.trim() === "";
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function typeOf(value: unknown): ValueType {
  if (Array.isArray(value)) return "list";
  return typeof value as ValueType;
}

/** Profiles records one by one; memory depends on the number of fields alone. */
export class ProfileBuilder {
  #records = 0;
  #pages = 0;
  #lastPage: string | null = null;
  readonly #fields = new Map<string, FieldCounter>();
  readonly #leftOut = new Set<string>();

  /** Records of one page come one after the other. */
  add(record: Readonly<Record<string, unknown>>, page: string, url: string | null = null): void {
    const shown = url === null ? null : shownUrl(url).slice(0, LONGEST_URL);
    this.#records += 1;
    if (page !== this.#lastPage) this.#pages += 1;
    this.#lastPage = page;
    for (const [name, value] of Object.entries(record)) this.#field(name)?.add(value, shown);
  }

  #field(name: string): FieldCounter | null {
    const known = this.#fields.get(name);
    if (known !== undefined) return known;
    if (this.#fields.size >= MOST_FIELDS) {
      if (this.#leftOut.size < MOST_FIELDS) this.#leftOut.add(name);
      return null;
    }
    const added = new FieldCounter();
    this.#fields.set(name, added);
    return added;
  }

  profile(): HealthProfile {
    return {
      version: 1,
      records: this.#records,
      pages: this.#pages,
      fields: Object.fromEntries([...this.#fields].map(([name, field]) => [name, field.profile()])),
      fields_left_out: this.#leftOut.size,
    };
  }
}

/** Field names come from pages: `constructor` is one, too. */
export function fieldOf({ fields }: HealthProfile, name: string): FieldProfile | null {
  return Object.hasOwn(fields, name) ? fields[name]! : null;
}

/** The share of the run's records that have this field. */
export function coverageOf(profile: HealthProfile, field: string): number {
  return profile.records === 0 ? 0 : (fieldOf(profile, field)?.filled ?? 0) / profile.records;
}

/** Of this required field; null: lost pages were not counted. */
export function lostOf({ lost }: HealthProfile, field: string): LostField | null {
  if (lost === undefined) return null;
  return Object.hasOwn(lost.fields, field) ? lost.fields[field]! : { pages: 0, examples: [] };
}

/** Counts pages that lack required fields; the page must have given records before. */
export class LostCounter {
  #pages = 0;
  readonly #fields = new Map<string, LostField>();

  add(fields: readonly string[], url: string | null): void {
    this.#pages += 1;
    for (const name of new Set(fields)) {
      const field = this.#fields.get(name) ?? { pages: 0, examples: [] };
      this.#fields.set(name, field);
      field.pages += 1;
      if (url !== null && field.examples.length < MOST_EXAMPLES)
        field.examples.push(shownUrl(url).slice(0, LONGEST_URL));
    }
  }

  /** `read`: pages that gave records before, and now as well. */
  lost(read: number): LostPages {
    return { pages: read + this.#pages, fields: Object.fromEntries(this.#fields) };
  }
}

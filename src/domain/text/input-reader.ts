import { type FieldError, messageOf } from "../../base/errors.ts";
import { suggest } from "./suggest.ts";

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads an untrusted object key by key and collects every error with its path. Absent and null are the same. */
export class InputReader {
  readonly errors: FieldError[];
  readonly #path: string;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #known = new Set<string>();

  /** Anything but an object is an error, and reads as an empty object. */
  constructor(value: unknown, path = "", errors: FieldError[] = [], expected = "a JSON object") {
    this.errors = errors;
    this.#path = path;
    this.#values = isObject(value) ? value : {};
    if (!isObject(value)) this.addError("", `expected ${expected}`);
  }

  addError(key: string, message: string): void {
    this.errors.push({ path: this.at(key), message });
  }

  at(key: string): string {
    return [this.#path, key].filter((part) => part !== "").join(".");
  }

  keys(): string[] {
    return Object.keys(this.#values);
  }

  has(key: string): boolean {
    return this.value(key) !== undefined;
  }

  value(key: string): unknown {
    this.#known.add(key);
    return Object.hasOwn(this.#values, key) ? (this.#values[key] ?? undefined) : undefined;
  }

  require(key: string, what = ""): void {
    if (!this.has(key)) this.addError(key, what === "" ? "is required" : `is required: ${what}`);
  }

  text(key: string, { empty = true, max = Infinity, expected = "" } = {}): string | undefined {
    const fits = (value: unknown) => typeof value === "string" && (empty || value !== "");
    const text = this.#as<string>(key, expected || (empty ? "a string" : "a non-empty string"), fits);
    if (text !== undefined && text.length > max) this.addError(key, `is longer than ${max} characters`);
    return text;
  }

  flag(key: string): boolean | undefined {
    return this.#as(key, "true or false", (value) => typeof value === "boolean");
  }

  number(key: string, { min = 0, max = Number.MAX_SAFE_INTEGER, whole = true } = {}): number | undefined {
    const expected = `${whole ? "a whole number" : "a number"} from ${min} to ${max}`;
    const fits = (value: unknown) =>
      typeof value === "number" && value >= min && value <= max && (!whole || Number.isInteger(value));
    return this.#as(key, expected, fits);
  }

  oneOf<const T extends string>(key: string, choices: readonly T[]): T | undefined {
    const expected = `one of ${choices.join(", ")}${didYouMean(this.value(key), choices)}`;
    return this.#as(key, expected, (value) => (choices as readonly unknown[]).includes(value));
  }

  list(key: string): readonly unknown[] | undefined {
    return this.#as(key, "a list", Array.isArray);
  }

  texts(key: string): readonly string[] | undefined {
    const fits = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === "string");
    return this.#as(key, "a list of strings", fits);
  }

  textsByName(key: string): Readonly<Record<string, string>> | undefined {
    const fits = (value: unknown) => isObject(value) && Object.values(value).every((one) => typeof one === "string");
    return this.#as(key, "an object of strings", fits);
  }

  object(key: string, expected = "an object"): Readonly<Record<string, unknown>> | undefined {
    return this.#as(key, expected, isObject);
  }

  child(key: string, expected?: string): InputReader | undefined {
    const value = this.object(key, expected);
    return value === undefined ? undefined : new InputReader(value, this.at(key), this.errors);
  }

  /** The result of `parse`; its error becomes an error of this key. */
  parsed<T>(key: string, parse: (text: string) => T): T | undefined {
    const text = this.text(key, { empty: false });
    try {
      return text === undefined ? undefined : parse(text);
    } catch (error) {
      this.addError(key, messageOf(error));
      return undefined;
    }
  }

  /** Accepts keys without reading them. */
  ignore(...keys: string[]): void {
    for (const key of keys) this.#known.add(key);
  }

  /** An error unless the key is absent or has one of the `allowed` values. */
  reject(key: string, message: string, allowed: readonly unknown[] = [false]): void {
    if (this.has(key) && !allowed.includes(this.value(key))) this.addError(key, message);
  }

  /** Known are the keys that were read or ignored so far, and `others`. */
  rejectUnknownKeys(others: readonly string[] = []): void {
    this.ignore(...others);
    for (const key of this.keys())
      if (!this.#known.has(key)) this.addError(key.slice(0, 100), `unknown key${didYouMean(key, this.#known)}`);
  }

  #as<T>(key: string, expected: string, fits: (value: unknown) => boolean): T | undefined {
    const value = this.value(key);
    if (value === undefined || fits(value)) return value as T | undefined;
    this.addError(key, `expected ${expected}`);
    return undefined;
  }
}

function didYouMean(word: unknown, known: Iterable<string>): string {
  const near = typeof word === "string" ? suggest(word, known) : undefined;
  return near === undefined ? "" : `, did you mean "${near}"?`;
}

import { type FieldError, messageOf } from "../../base/errors.ts";
import { suggest } from "../../domain/text/suggest.ts";

/** Reads an untrusted object key by key, and collects every error with its path. */
export class ObjectReader {
  readonly path: string;
  readonly errors: FieldError[];
  readonly #values: Record<string, unknown>;

  private constructor(values: Record<string, unknown>, path: string, errors: FieldError[]) {
    this.#values = values;
    this.path = path;
    this.errors = errors;
  }

  /** Null, with the mistake noted, when it is no object. */
  static open(value: unknown, path: string, errors: FieldError[], expected: string): ObjectReader | null {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return new ObjectReader(value as Record<string, unknown>, path, errors);
    }
    errors.push({ path, message: value === undefined ? "is required" : `expected ${expected}` });
    return null;
  }

  has(key: string): boolean {
    return this.value(key) !== undefined;
  }

  /** Absent and null are the same. */
  value(key: string): unknown {
    return Object.hasOwn(this.#values, key) ? (this.#values[key] ?? undefined) : undefined;
  }

  keys(): string[] {
    return Object.keys(this.#values);
  }

  at(key: string): string {
    return this.path === "" ? key : `${this.path}.${key}`;
  }

  complain(key: string, message: string): void {
    this.errors.push({ path: this.at(key), message });
  }

  onlyKeys(allowed: readonly string[]): void {
    for (const key of this.keys()) {
      if (allowed.includes(key)) continue;
      const near = suggest(key, allowed);
      this.complain(key.slice(0, 100), `unknown key${near === undefined ? "" : `, did you mean "${near}"?`}`);
    }
  }

  text(key: string): string | undefined {
    const value = this.value(key);
    if (value === undefined) return undefined;
    if (typeof value === "string" && value !== "") return value;
    this.complain(key, "expected a text");
    return undefined;
  }

  whole(key: string, range: { min: number; max: number }): number | undefined {
    const value = this.value(key);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= range.min && value <= range.max) return value;
    this.complain(key, `expected a whole number from ${range.min} to ${range.max}`);
    return undefined;
  }

  oneOf<T extends string>(key: string, choices: readonly T[]): T | undefined {
    const value = this.value(key);
    if (value === undefined) return undefined;
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    const near = typeof value === "string" ? suggest(value, choices) : undefined;
    const hint = near === undefined ? "" : `, did you mean "${near}"?`;
    this.complain(key, `expected one of ${choices.join(", ")}${hint}`);
    return undefined;
  }

  /** What `parse` makes of a text; its error becomes the mistake of this key. */
  parsed<T>(key: string, parse: (text: string) => T): T | undefined {
    const text = this.text(key);
    if (text === undefined) return undefined;
    try {
      return parse(text);
    } catch (error) {
      this.complain(key, messageOf(error));
      return undefined;
    }
  }
}

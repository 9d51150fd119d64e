/** Reads request options by name: values of a wrong type and unknown options are reported with their paths. */
import type { FieldError } from "../base/errors.ts";
import { suggest } from "../domain/text/suggest.ts";
import { badRequest } from "./fault.ts";

type Body = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Body =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export class OptionReader {
  readonly problems: FieldError[];
  readonly #body: Body;
  readonly #path: string;
  readonly #known = new Set<string>();

  constructor(body: unknown, path = "", problems: FieldError[] = []) {
    this.problems = problems;
    this.#path = path;
    this.#body = isObject(body) ? body : {};
    if (!isObject(body)) this.wrong("", "expected a JSON object");
  }

  wrong(name: string, message: string): void {
    this.problems.push({ path: this.at(name), message });
  }

  at(name: string): string {
    return [this.#path, name].filter((part) => part !== "").join(".");
  }

  /** Null is as good as nothing. */
  any(name: string): unknown {
    this.#known.add(name);
    return this.#body[name] ?? undefined;
  }

  text(name: string): string | undefined {
    return this.#as(name, "a string", (value) => typeof value === "string");
  }

  flag(name: string): boolean | undefined {
    return this.#as(name, "true or false", (value) => typeof value === "boolean");
  }

  number(name: string, { min = 0, max = Number.MAX_SAFE_INTEGER, whole = true } = {}): number | undefined {
    const kind = `${whole ? "a whole number" : "a number"} from ${min} to ${max}`;
    const fits = (value: unknown) =>
      typeof value === "number" && value >= min && value <= max && (!whole || Number.isInteger(value));
    return this.#as(name, kind, fits);
  }

  oneOf<const T extends string>(name: string, words: readonly T[]): T | undefined {
    return this.#as(name, `one of ${words.join(", ")}`, (value) => (words as readonly unknown[]).includes(value));
  }

  texts(name: string): readonly string[] | undefined {
    const fits = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === "string");
    return this.#as(name, "a list of strings", fits);
  }

  list(name: string): readonly unknown[] | undefined {
    return this.#as(name, "a list", Array.isArray);
  }

  /** Names and values of text. */
  words(name: string): Readonly<Record<string, string>> | undefined {
    const fits = (value: unknown) => isObject(value) && Object.values(value).every((one) => typeof one === "string");
    return this.#as(name, "an object of strings", fits);
  }

  object(name: string): Body | undefined {
    return this.#as(name, "an object", isObject);
  }

  inside(name: string): OptionReader | undefined {
    const value = this.object(name);
    return value === undefined ? undefined : new OptionReader(value, this.at(name), this.problems);
  }

  /** Taken, because they change nothing of what is answered. */
  harmless(...names: string[]): void {
    for (const name of names) this.#known.add(name);
  }

  /** Refused when given, unless it says what holds anyway. */
  refuse(name: string, why: string, unless: readonly unknown[] = [false]): void {
    const value = this.any(name);
    if (value !== undefined && !unless.includes(value)) this.wrong(name, why);
  }

  /** Unknown options are rejected, so that a misspelled one does not silently do nothing. */
  nothingElse(): void {
    for (const name of Object.keys(this.#body)) {
      if (this.#known.has(name)) continue;
      const near = suggest(name, [...this.#known]);
      this.wrong(name, `is not known here${near === undefined ? "" : `, did you mean "${near}"?`}`);
    }
  }

  done(): void {
    if (this.problems.length > 0) throw badRequest(this.problems);
  }

  #as<T>(name: string, kind: string, fits: (value: unknown) => boolean): T | undefined {
    const value = this.any(name);
    if (value === undefined) return undefined;
    if (fits(value)) return value as T;
    this.wrong(name, `expected ${kind}`);
    return undefined;
  }
}

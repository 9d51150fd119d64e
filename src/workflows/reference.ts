/**
 * A reference stands for a value of type T that is known only when the workflow runs. In params it becomes an
 * expression, `${{ steps.list.output.count }}`.
 */
import type { JsonValue } from "../domain/lane/queue-item.ts";

declare const TYPE: unique symbol;
const PATH: unique symbol = Symbol("path");

/** Parts of the value are references as well: `list.output.pages[0].url`. */
export type Reference<T> = { readonly [TYPE]: T } & PartsOf<T>;

type PartsOf<T> = T extends readonly (infer Entry)[]
  ? { readonly [index: number]: Reference<Entry> }
  : T extends object
    ? { readonly [Key in keyof T]-?: Reference<Exclude<T[Key], undefined>> }
    : unknown;

/** A value, or a reference to one, or a value with references somewhere in it. */
export type Given<T> =
  | Reference<T>
  | (T extends readonly (infer Entry)[]
      ? readonly Given<Entry>[]
      : T extends object
        ? { readonly [Key in keyof T]: Given<T[Key]> }
        : T);

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function reference<T>(path: string): Reference<T> {
  const text = `\${{ ${path} }}`;
  const written = () => text;
  return new Proxy(
    {},
    {
      get(_target, key) {
        if (key === PATH) return path;
        // Converts to its expression in strings and in JSON.
        if (key === Symbol.toPrimitive || key === "toString" || key === "toJSON") return written;
        return typeof key === "symbol" ? undefined : reference(`${path}${partOf(key)}`);
      },
      has: (_target, key) => key === PATH,
    },
  ) as Reference<T>;
}

/** Continues a path: `.key`, `["a key"]`, `[0]`. */
export function partOf(key: string): string {
  if (/^\d+$/.test(key)) return `[${key}]`;
  return PLAIN_KEY.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** One key of every list entry: `pluck(list.output.pages, "url")` is a reference to a list of URLs. */
export function pluck<Entry extends object, Key extends keyof Entry & string>(
  list: Reference<readonly Entry[]>,
  key: Key,
): Reference<Exclude<Entry[Key], undefined>[]> {
  return reference(`${pathOf(list)}[*]${partOf(key)}`);
}

/**
 * An expression with references and values in it: `` expression<boolean>`${check.output.valid} > ${10}` ``. It is
 * parsed when the workflow is complete.
 */
export function expression<T extends JsonValue>(
  words: TemplateStringsArray,
  ...values: readonly (Reference<JsonValue> | string | number | boolean | null)[]
): Reference<T> {
  const written = values.map((value) => (isReference(value) ? pathOf(value) : JSON.stringify(value)));
  return reference(words.reduce((text, word, index) => `${text}${written[index - 1] ?? ""}${word}`));
}

function isReference(value: unknown): value is Reference<unknown> {
  return typeof value === "object" && value !== null && PATH in value;
}

function pathOf(value: Reference<unknown>): string {
  return (value as unknown as { [PATH]: string })[PATH];
}

import type * as type from "./types.ts";

export interface Option<T> {
  /** The environment variable. */
  name: string;
  /** A former name of the variable, still read. */
  alias?: string;
  type: type.ValueType<NonNullable<T>>;
  /** As in the environment; null leaves the value null (or, with `otherwise`, derives it). */
  default: string | null;
  /** The meaning of a null default, for the reference page. */
  otherwise?: string;
  /** One sentence. */
  about: string;
  example: string;
  /** `whole`: never shown. `password`: a URL of which only the password and query are hidden; `passwords`: several, separated by commas. */
  secret?: "whole" | "password" | "passwords";
}

export const option = <T>(entry: Option<T> & { default: string }): Option<T> => entry;
export const optional = <T>(entry: Omit<Option<T>, "default">): Option<T | null> =>
  ({ ...entry, default: null }) as Option<T | null>;
/** Like `optional`, but the loader fills the value in, so that it is never null. */
export const derived = <T>(entry: Omit<Option<T>, "default"> & { otherwise: string }): Option<T> => ({
  ...entry,
  default: null,
});

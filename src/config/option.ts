import type * as type from "./types.ts";

export interface Option<T> {
  /** The environment variable. */
  name: string;
  /** An older name of the variable, which is still read. */
  alias?: string;
  type: type.ValueType<NonNullable<T>>;
  /** As it would be written in the environment; null leaves the value null (or, with `otherwise`, derives it). */
  default: string | null;
  /** What a null default means, for the reference page. */
  otherwise?: string;
  /** One sentence. */
  about: string;
  example: string;
  /** `whole`: never shown. `password`: a URL of which only the password and query are hidden. */
  secret?: "whole" | "password";
}

export const option = <T>(entry: Option<T> & { default: string }): Option<T> => entry;
export const optional = <T>(entry: Omit<Option<T>, "default">): Option<T | null> =>
  ({ ...entry, default: null }) as Option<T | null>;
/** Like optional, but the loader fills the value in, so that nobody else meets a null. */
export const derived = <T>(entry: Omit<Option<T>, "default"> & { otherwise: string }): Option<T> => ({
  ...entry,
  default: null,
});

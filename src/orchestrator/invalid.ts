import { type FieldError, OrbError } from "../base/errors.ts";

/** The message lists at most this many problems; `fields` has all of them. */
const MOST_IN_SENTENCE = 5;

/** Validation errors of a request, field by field. */
export function invalid(fields: readonly FieldError[]): OrbError {
  const named = fields.slice(0, MOST_IN_SENTENCE);
  const list = named.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  const more = fields.length > list.length ? `; and ${fields.length - list.length} more` : "";
  return new OrbError("input_invalid", `${list.join("; ")}${more}`, { fields });
}

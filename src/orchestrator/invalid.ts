import { type FieldError, OrbError } from "../base/errors.ts";

/** What is wrong with what was asked for, field by field. */
export function invalid(fields: readonly FieldError[]): OrbError {
  const list = fields.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  return new OrbError("input_invalid", list, { fields });
}

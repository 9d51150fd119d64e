/** Converts typed values to request values. */

export type Json = Record<string, unknown>;

export interface FieldProblem {
  path: string;
  message: string;
}

export const lines = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

export const definedOnly = (object: Json): Json =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

/** A number if it is one; anything else unchanged, so that the server reports it. */
export function number(text: string): unknown {
  const typed = text.trim();
  if (typed === "") return undefined;
  return /^-?\d+(?:\.\d+)?$/.test(typed) ? Number(typed) : typed;
}

export const text = (typed: string) => (typed.trim() === "" ? undefined : typed.trim());
export const list = (typed: string) => (lines(typed).length === 0 ? undefined : lines(typed));

/** `Name: value` or `name=value` per line. */
export function pairs(typed: string, by: ":" | "=", path: string, problems: FieldProblem[]): Json | undefined {
  const all = lines(typed);
  if (all.length === 0) return undefined;
  const found: [string, string][] = [];
  all.forEach((line, n) => {
    const at = line.indexOf(by);
    const name = line.slice(0, at).trim();
    if (at < 1 || name === "" || /\s/.test(name))
      problems.push({ path, message: `Line ${n + 1}: expected ${by === ":" ? "Name: value" : "name=value"}.` });
    else found.push([name, line.slice(at + 1).trim()]);
  });
  return Object.fromEntries(found);
}

/** Summarises the matches of a rule. */

interface OutageLogger {
  record: number;
  field: string;
  message: string;
  found: string | null;
}

export interface FoundValues {
  /** The first few, as text. */
  values: readonly string[];
  note: string;
  problems: readonly string[];
}

const SHOWN = 3;
const LONGEST = 160;

export function asText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

const isThere = (value: unknown) =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);

/** Of one field over all records. */
export function describeFound(
  name: string,
  {
    records,
    errors,
    warnings,
  }: {
    records: readonly Record<string, unknown>[];
    errors: readonly OutageLogger[];
    warnings: readonly OutageLogger[];
  },
): FoundValues {
  const all = records.map((record) => record[name]).filter(isThere);
  const messages = [...errors, ...warnings].filter(({ field }) => field === name).map(({ message }) => message);
  const problems = [...new Set(messages)].slice(0, 2).map((text) => text.charAt(0).toUpperCase() + text.slice(1));
  const values = all.slice(0, SHOWN).map(asText);
  return { values, note: noteOf(all, records.length), problems };
}

function noteOf(all: readonly unknown[], records: number): string {
  if (all.length === 0) return records > 1 ? `Found in none of ${records} records` : "Nothing found";
  if (records > 1)
    return all.length === records ? `in all ${records} records` : `in ${all.length} of ${records} records`;
  const [only] = all;
  return Array.isArray(only) ? `${only.length} ${only.length === 1 ? "value" : "values"}` : "";
}

/** Server errors of rules by field name; others under "". */
export function problemsByRule(
  problems: readonly { path: string; message: string }[],
  names: readonly string[],
): Map<string, string> {
  const byRule = new Map<string, string>();
  // One name may be a prefix of another.
  const longestFirst = names.toSorted((a, b) => b.length - a.length);
  for (const { path, message } of problems) {
    const name = longestFirst.find((one) => path === `fields.${one}` || path.startsWith(`fields.${one}.`)) ?? "";
    const text = name === "" ? `${path}: ${message}` : message.charAt(0).toUpperCase() + message.slice(1);
    byRule.set(name, byRule.has(name) ? `${byRule.get(name)} ${text}` : text);
  }
  return byRule;
}

/** JSON with the keys in order: what differs only in their order or in white space is the same. */
export function canonicalJson(value: unknown): string {
  // A list of a hundred thousand addresses takes a tenth of the time as a whole.
  if (Array.isArray(value) && value.every((entry) => typeof entry === "string")) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(",")}}`;
}

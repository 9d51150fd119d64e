/** What the audit log may keep of a changed record. */
import { isoOf } from "../../base/iso.ts";
import { shownUrl } from "../text/url.ts";

const SECRET = /pass(word|phrase)?$|secret|token|authorization|cookie|sealed|credential|api_?key|^headers$|^auth$/i;
const MASK = "***";
const LONGEST = 500;
const MOST = 50;

export interface Change {
  /** The field, such as `recipe.max_pages`. */
  path: string;
  before: unknown;
  after: unknown;
}

/** The fields that differ, with secrets masked; null: the object did not exist before, or does not afterwards. */
export function changesBetween(before: unknown, after: unknown): Change[] {
  const found: Change[] = [];
  collect(asShown(before ?? null), asShown(after ?? null), "", found);
  return found.slice(0, MOST);
}

/** The record's own fields as the API names and writes them. What is within them may have names of the user's. */
function asShown(record: unknown): unknown {
  if (!isObject(record)) return record;
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => {
      const shownName = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return [shownName, shownName.endsWith("_at") && typeof value === "number" ? isoOf(value) : value];
    }),
  );
}

function collect(before: unknown, after: unknown, path: string, found: Change[]): void {
  if (found.length >= MOST || JSON.stringify(before) === JSON.stringify(after)) return;
  const either = isObject(before) ? before : after;
  if (isObject(either) && (isObject(before) || before === null) && (isObject(after) || after === null)) {
    const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
    const valueOf = (value: unknown, name: string) => (isObject(value) ? (value[name] ?? null) : null);
    for (const name of names) {
      const inner = path === "" ? name : `${path}.${name}`;
      const [old, fresh] = [valueOf(before, name), valueOf(after, name)];
      if (!SECRET.test(name)) collect(old, fresh, inner, found);
      else if (JSON.stringify(old) !== JSON.stringify(fresh))
        found.push({ path: inner, before: masked(old), after: masked(fresh) });
    }
    return;
  }
  found.push({ path, before: shown(before), after: shown(after) });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

/** Nothing, as in an empty list, is no secret. */
const masked = (value: unknown) => (value === null || (Array.isArray(value) && value.length === 0) ? value : MASK);

/** A value without secrets, and not longer than a line. */
function shown(value: unknown): unknown {
  if (value === null || typeof value === "number" || typeof value === "boolean") return value;
  if (value instanceof Uint8Array) return MASK;
  if (typeof value === "string") return cut(value.includes("orb-sealed:") ? MASK : withoutPassword(value));
  const text = JSON.stringify(value, (name, inner: unknown) => {
    if (name !== "" && SECRET.test(name)) return masked(inner);
    if (typeof inner !== "string") return inner;
    return inner.includes("orb-sealed:") ? MASK : withoutPassword(inner);
  });
  return text.length <= LONGEST ? (JSON.parse(text) as unknown) : cut(text);
}

const withoutPassword = (text: string) => (/^[a-z][a-z0-9+.-]*:\/\/[^/]*@/i.test(text) ? shownUrl(text) : text);
const cut = (text: string) => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`);

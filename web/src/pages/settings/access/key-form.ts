/** The form of a key, and how a key is shown. */
import type { Operations } from "../../../api/types.ts";
import type { Tone } from "../../../logic/states.ts";

export type Key = Operations["listKeys"]["answer"][number];
type KeyBody = NonNullable<Operations["createKey"]["body"]>;
type KeyChange = NonNullable<Operations["changeKey"]["body"]>;

export interface Typed {
  name: string;
  role: KeyBody["role"];
  jobs: readonly string[];
  sites: string;
  tags: string;
  rate: string;
  /** Days; empty: never; `on`: the date; `as_is`: that of the key. */
  expires: string;
  date: string;
}

export const NEW_KEY: Typed = {
  name: "",
  role: "operator",
  jobs: [],
  sites: "",
  tags: "",
  rate: "",
  expires: "90",
  date: "",
};

export const ROLES = [
  { value: "viewer", name: "Viewer: reads" },
  { value: "operator", name: "Operator: also starts, stops and changes jobs and runs" },
  { value: "admin", name: "Admin: also keys, settings, proxies and sessions" },
] as const;

/** The form of a key as it is. */
export function typedOf({ name, role, jobs, sites, tags, requests_per_minute: rate, expires_at: at }: Key): Typed {
  return {
    name,
    role,
    jobs: jobs ?? [],
    sites: (sites ?? []).join(", "),
    tags: (tags ?? []).join(", "),
    rate: rate === null ? "" : String(rate),
    expires: at === null ? "" : AS_IS,
    date: "",
  };
}

const AS_IS = "as_is";

const EXPIRIES = [
  { value: "30", name: "In 30 days" },
  { value: "90", name: "In 90 days" },
  { value: "365", name: "In a year" },
  { value: "on", name: "On a date" },
  { value: "", name: "Never" },
] as const;

/** Of a key that ends already: that can stay. */
export const expiriesOf = (key: Key | null, shown: (at: string) => string) =>
  key === null || key.expires_at === null
    ? EXPIRIES
    : [{ value: AS_IS, name: `Unchanged: ${shown(key.expires_at)}` }, ...EXPIRIES];

const DAY_MS = 86_400_000;

const listOf = (text: string) =>
  text
    .split(/[,\s]+/)
    .map((part) => part.trim())
    .filter((part) => part !== "");

const orNull = (list: readonly string[]) => (list.length === 0 ? null : [...list]);

/** A date is its whole day, in the time zone of the browser. */
function expiryOf({ expires, date }: Typed, now: number): string | null {
  if (expires === "" || expires === AS_IS) return null;
  if (expires !== "on") return new Date(now + Number(expires) * DAY_MS).toISOString();
  const [year = 0, month = 1, day = 1] = date.split("-").map(Number);
  return new Date(year, month - 1, day, 23, 59, 59).toISOString();
}

/** An admin has no limits. */
export function bodyOf(typed: Typed, now: number): KeyBody {
  const { name, role, jobs, sites, tags, rate } = typed;
  const limits =
    role === "admin" ? {} : { jobs: orNull(jobs), sites: orNull(listOf(sites)), tags: orNull(tagsOf(tags)) };
  return {
    name: name.trim(),
    role,
    ...limits,
    requests_per_minute: rate.trim() === "" ? null : Number(rate),
    expires_at: expiryOf(typed, now),
  };
}

/** What differs from the key: of two changes at once, neither takes the other's back. */
export function changeOf(key: Key, typed: Typed, now: number): KeyChange {
  const { expires_at: expiresAt, ...body } = bodyOf(typed, now);
  // Compared as they are typed: a name or a tag may have commas and spaces that the form would not keep.
  const { expires_at: _same, ...shown } = bodyOf(typedOf(key), now);
  const none: KeyChange = { jobs: null, sites: null, tags: null };
  const before: Record<string, unknown> = { ...none, ...shown };
  const change: Record<string, unknown> = {};
  for (const [name, value] of Object.entries({ ...none, ...body }))
    if (JSON.stringify(value) !== JSON.stringify(before[name])) change[name] = value;
  if (typed.expires !== AS_IS && (expiresAt ?? null) !== key.expires_at) change["expires_at"] = expiresAt;
  return change;
}

/** Tags may contain spaces. */
const tagsOf = (text: string) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** Anything else would be sent as no limit. */
export const isRate = (text: string) => /^\s*(?:[1-9]\d{0,8}\s*)?$/.test(text);

/** What keeps the form from being sent; null: nothing. */
export function missingOf({ name, rate, expires, date }: Typed): string | null {
  if (name.trim() === "") return "Enter a name.";
  if (!isRate(rate)) return "Enter a whole number above 0, or nothing.";
  return expires === "on" && date === "" ? "Choose the date." : null;
}

const LOOKS: Readonly<Record<Key["status"], { word: string; tone: Tone }>> = {
  active: { word: "Active", tone: "good" },
  expired: { word: "Expired", tone: "warn" },
  revoked: { word: "Revoked", tone: "muted" },
};

export const lookOfKey = ({ status }: Pick<Key, "status">) => LOOKS[status];

/** Filters of the audit log in the address of the page, and how entries read. */
import type { Operations } from "../../../api/types.ts";

export type Entry = Operations["listAuditLog"]["answer"][number];

export interface Filter {
  actor: string;
  actor_kind: string;
  action: string;
  object_kind: string;
  object_id: string;
  /** Dates, such as 2026-01-31, in the time zone of the browser. */
  since: string;
  until: string;
}

const NAMES = ["actor", "actor_kind", "action", "object_kind", "object_id", "since", "until"] as const;

export function readFilter(search: URLSearchParams): Filter {
  return Object.fromEntries(NAMES.map((name) => [name, search.get(name) ?? ""])) as unknown as Filter;
}

/** Keeps what else is in the address, such as the tab. */
export function writeFilter(search: URLSearchParams, filter: Filter): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const name of NAMES) {
    if (filter[name] === "") next.delete(name);
    else next.set(name, filter[name]);
  }
  return next;
}

export const isNarrowed = (filter: Filter) => NAMES.some((name) => filter[name] !== "");

/** The query of the call; `until` includes its day. */
export function queryOf(filter: Filter): Record<string, string> {
  const query: Record<string, string> = {};
  for (const name of NAMES) {
    const text = filter[name].trim();
    if (text !== "" && name !== "since" && name !== "until") query[name] = text;
  }
  const since = dayOf(filter.since, 0);
  const until = dayOf(filter.until, 1);
  if (since !== null) query["since"] = since;
  if (until !== null) query["until"] = until;
  return query;
}

function dayOf(text: string, more: number): string | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (match === null) return null;
  const [, year, month, day] = match.map(Number);
  return new Date(year ?? 0, (month ?? 1) - 1, (day ?? 1) + more).toISOString();
}

export const ACTORS = [
  { value: "", name: "Everyone" },
  { value: "key", name: "Keys" },
  { value: "person", name: "People" },
  { value: "token", name: "Server token" },
  { value: "local", name: "This machine" },
  { value: "schedule", name: "Schedules" },
  { value: "repair", name: "Repairs" },
] as const;

const KINDS: Readonly<Record<Entry["actor"]["kind"], string>> = {
  key: "key",
  person: "person",
  token: "server token",
  local: "without sign-in",
  schedule: "schedule",
  repair: "automatic repair",
  system: "the program",
};

export const actorKindText = ({ actor }: Pick<Entry, "actor">) => KINDS[actor.kind];

/** `job.schedule_paused` as words: Job: schedule paused. */
export function actionText(action: string): string {
  const [kind = "", ...rest] = action.split(".");
  const what = rest.join(" ").replaceAll("_", " ");
  const name = kind.replaceAll("_", " ");
  const start = name.slice(0, 1).toUpperCase() + name.slice(1);
  return what === "" ? start : `${start} ${what}`;
}

/** Where the object is shown; null: nowhere. */
export function hrefOf({ kind, id }: Entry["object"]): string | null {
  if (id === null) return null;
  const at = encodeURIComponent(id);
  return (
    {
      job: `/new?job=${at}`,
      run: `/runs/${at}`,
      workflow: `/workflows/${at}`,
      site: `/sites/${at}`,
      template: `/workflows/templates/${at}`,
      key: "/settings?tab=keys",
      session: "/settings?tab=sessions",
      channel: "/notifications",
    }[kind] ?? null
  );
}

/** Ids of one moment differ at their ends. */
export const shortId = (id: string) => (/^[\da-f-]{32,}$/i.test(id) ? `${id.slice(0, 4)}…${id.slice(-8)}` : id);

/** The name of the object if the entry has it; null: it does not. */
export function nameOf({ changes }: Pick<Entry, "changes">): string | null {
  const { before, after } = changes.find(({ path }) => path === "name") ?? {};
  const name = after ?? before;
  return typeof name === "string" && name !== "" ? name : null;
}

/** A value before or after, for reading: objects over several lines. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return value === "" ? "(empty)" : value;
  if (Array.isArray(value) && value.every((one) => typeof one !== "object"))
    return value.length === 0 ? "(empty)" : value.join(", ");
  return JSON.stringify(value, null, 2) ?? "–";
}

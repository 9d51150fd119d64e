/** What a message says, before a channel gives it the form of its receiver. */
import { oneLine, plain } from "./text.ts";
import { notificationKind, type NotificationType, SEVERITIES, type Severity } from "./types.ts";

export interface Notice {
  /** The same in every channel and attempt. */
  id: string;
  type: NotificationType;
  subject: string;
  message: string;
  site: string | null;
  job: { id: string; name: string | null } | null;
  runId: string | null;
  detail: unknown;
  createdAt: number;
}

interface MessageEntry {
  title: string;
  text: string;
  facts: readonly (readonly [name: string, value: string])[];
  /** Of the dashboard; null: its address is not configured. */
  link: string | null;
}

export interface Message {
  /** That of its first notification: the same in every attempt. */
  id: string;
  severity: Severity;
  title: string;
  entries: readonly MessageEntry[];
  /** Not shown, because they are too many. */
  left: number;
  link: string | null;
  notices: readonly Notice[];
  createdAt: number;
}

const MOST_SHOWN = 10;

export function messageOf(notices: readonly Notice[], publicUrl: string | null): Message {
  const first = notices[0]!;
  const worst = Math.max(...notices.map(({ type }) => SEVERITIES.indexOf(notificationKind(type).severity)));
  const single = notices.length === 1 ? entryOf(first, publicUrl) : null;
  return {
    id: first.id,
    severity: SEVERITIES[worst]!,
    title: single === null ? titleOfMany(notices) : single.title,
    entries: single === null ? notices.slice(0, MOST_SHOWN).map((one) => entryOf(one, publicUrl)) : [single],
    left: Math.max(0, notices.length - MOST_SHOWN),
    link: single === null ? linkTo(publicUrl, "/runs") : single.link,
    notices,
    createdAt: first.createdAt,
  };
}

function titleOfMany(notices: readonly Notice[]): string {
  const groups = Map.groupBy(notices, ({ type }) => type);
  const parts = [...groups]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, 3)
    .map(([type, list]) => `${list.length} × ${notificationKind(type).title}`);
  return `${notices.length} notifications: ${parts.join(", ")}${groups.size > 3 ? ", …" : ""}`;
}

function entryOf(notice: Notice, publicUrl: string | null): MessageEntry {
  const { type, job, site, message } = notice;
  const about = job?.name ?? site;
  const kind = notificationKind(type).title;
  const facts: [string, string][] = [];
  if (job !== null) facts.push(["Job", oneLine(job.name ?? job.id, 120)]);
  if (site !== null) facts.push(["Site", oneLine(site, 120)]);
  const numbers = numbersOf(notice.detail);
  if (numbers !== "") facts.push(["Numbers", numbers]);
  return {
    title: oneLine(about === null ? kind : `${kind}: ${about}`, 150),
    text: plain(message),
    facts,
    link: linkTo(publicUrl, pathOf(notice)),
  };
}

/** The numbers of an event, at most eight: of pages, failures, changes. */
function numbersOf(detail: unknown): string {
  const found: string[] = [];
  const visit = (value: unknown) => {
    for (const [key, entry] of Object.entries((value ?? {}) as object)) {
      if (typeof entry === "number" && Number.isFinite(entry) && (entry !== 0 || key === "failed"))
        found.push(`${oneLine(key.replaceAll("_", " "), 40)} ${entry}`);
      else if ((key === "counts" || key === "stats") && typeof entry === "object") visit(entry);
    }
  };
  visit(detail);
  return found.slice(0, 8).join(" · ");
}

/** The page of the dashboard that shows it. */
function pathOf({ type, runId, job, site }: Notice): string {
  const id = encodeURIComponent;
  if (job !== null && type === "monitor_changed") return `/jobs/${id(job.id)}/changes`;
  if (job !== null && (type === "extraction_degraded" || type === "repair_proposed" || type === "repair_accepted"))
    return `/jobs/${id(job.id)}/quality`;
  if (runId !== null) return `/runs/${id(runId)}`;
  if (type === "breaker_open" && site !== null) return `/sites/${id(site)}`;
  if (type === "worker_lost" || type === "crash_loop") return "/workers";
  if (type === "channel_failing" || type === "test") return "/notifications";
  return "/";
}

const linkTo = (publicUrl: string | null, path: string) =>
  publicUrl === null ? null : `${publicUrl.replace(/\/+$/, "")}${path}`;

/** As lines of plain text, for receivers without markup; `harmless` defuses foreign text for the receiver. */
export function textOf({ entries, left, link }: Message, harmless: (text: string) => string): string {
  const single = entries.length === 1;
  const parts = entries.map(({ title, text, facts, link: own }) =>
    [
      ...(single ? [] : [harmless(title)]),
      harmless(text),
      ...facts.map(([name, value]) => `${name}: ${harmless(value)}`),
      ...(single || own === null ? [] : [own]),
    ].join("\n"),
  );
  if (left > 0) parts.push(`and ${left} more`);
  if (link !== null) parts.push(link);
  return parts.join("\n\n");
}

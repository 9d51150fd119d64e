/** The form of a channel: what is typed, and the request that it makes. */
import type { Operations } from "../../api/types.ts";

export type Channel = Operations["listChannels"]["answer"][number];
export type Kind = Operations["listChannelKinds"]["answer"][number];
type Rule = Channel["rules"][number];

export const SENDS = [
  { value: "usual", name: "All problems and changes" },
  { value: "warning", name: "Warnings and errors" },
  { value: "error", name: "Errors only" },
  { value: "ends", name: "All problems and changes, and the end of every run" },
  { value: "jobs", name: "Only what a job asks for" },
] as const;
type Sends = (typeof SENDS)[number]["value"] | "rules";

export interface Typed {
  name: string;
  kind: string;
  settings: Record<string, string>;
  sends: Sends;
  tags: string;
  sites: string;
  quietFrom: string;
  quietTo: string;
  timezone: string;
  quietExcept: boolean;
  group: string;
}

export function emptyForm(kind: string, timezone: string): Typed {
  return {
    name: "",
    kind,
    settings: {},
    sends: "usual",
    tags: "",
    sites: "",
    quietFrom: "",
    quietTo: "",
    timezone,
    quietExcept: true,
    group: "0",
  };
}

/** Rules that the form cannot show are kept as they are. */
function sendsOf(rules: readonly Rule[]): Sends {
  const [rule, ...more] = rules;
  if (rule === undefined) return "jobs";
  if (more.length > 0 || rule.jobs !== undefined || rule.types !== undefined) return "rules";
  return rule.min_severity === undefined || rule.min_severity === "info" ? "usual" : rule.min_severity;
}

export function formOf(channel: Channel, timezone: string): Typed {
  const { quiet_hours: quiet, rules } = channel;
  const [rule] = rules;
  const shown = Object.entries(channel.settings).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(", ") : String(value),
  ]);
  return {
    name: channel.name,
    kind: channel.kind,
    settings: Object.fromEntries(shown) as Record<string, string>,
    sends: sendsOf(rules),
    tags: rule?.tags?.join(", ") ?? "",
    sites: rule?.sites?.join(", ") ?? "",
    quietFrom: quiet?.from ?? "",
    quietTo: quiet?.to ?? "",
    timezone: quiet?.timezone ?? timezone,
    quietExcept: quiet === null || quiet.except !== null,
    group: String(channel.group_minutes),
  };
}

const listOf = (text: string) =>
  text
    .split(/[,\n]/)
    .map((one) => one.trim())
    .filter((one) => one !== "");

function rulesOf({ sends, tags, sites }: Typed): Rule[] | undefined {
  if (sends === "rules") return undefined;
  if (sends === "jobs") return [];
  const where = {
    ...(listOf(tags).length === 0 ? {} : { tags: listOf(tags) }),
    ...(listOf(sites).length === 0 ? {} : { sites: listOf(sites) }),
  };
  if (sends === "ends") return [where, { types: ["run_completed", "run_cancelled"], ...where }];
  return [sends === "usual" ? where : { min_severity: sends, ...where }];
}

/** Secrets that are left empty stay as they are. */
function settingsOf(typed: Typed, { fields }: Kind, before: Channel | null): Record<string, never> {
  const settings: Record<string, unknown> = {};
  for (const { name, type, secret } of fields) {
    const text = (typed.settings[name] ?? "").trim();
    if (text === "" && (secret || before === null)) continue;
    if (text === "") settings[name] = null;
    else settings[name] = type === "list" ? listOf(text) : type === "integer" ? Number(text) : text;
  }
  return settings as Record<string, never>;
}

export function bodyOf(typed: Typed, kind: Kind, before: Channel | null) {
  const rules = rulesOf(typed);
  const { quietFrom, quietTo, timezone, quietExcept, group } = typed;
  return {
    name: typed.name.trim(),
    settings: settingsOf(typed, kind, before),
    ...(rules === undefined ? {} : { rules }),
    quiet_hours:
      quietFrom === "" && quietTo === ""
        ? null
        : { from: quietFrom, to: quietTo, timezone, except: quietExcept ? ("error" as const) : null },
    group_minutes: Number(group || "0"),
  };
}

/** Flags of channels: those of a kind are made from its declaration. */
import { type Command, Option } from "commander";
import { OrbError } from "../../../base/errors.ts";
import type { ChannelKind, Field } from "../../../domain/notify/channel-kind.ts";
import { NOTIFICATION_TYPES, SEVERITIES } from "../../../domain/notify/types.ts";
import { definedOnly } from "../../api/command.ts";
import type { Prompt } from "../../prompt.ts";

export interface AboutOptions {
  name?: string;
  type?: string[];
  minSeverity?: string;
  tag?: string[];
  site?: string[];
  job?: string[];
  jobsOnly?: boolean;
  quiet?: string;
  timezone?: string;
  quietExcept?: string;
  groupMinutes?: number;
  enable?: boolean;
  disable?: boolean;
}

const collect = (value: string, before: string[] = []) => [...before, value];

/** What a channel receives, and when. */
export function withAboutFlags(command: Command): Command {
  return command
    .option("--type <type>", "only this type; repeatable; see orb notifications types", collect)
    .addOption(new Option("--min-severity <severity>", "only from this severity").choices(SEVERITIES))
    .option("--tag <tag>", "only jobs with this tag; repeatable", collect)
    .option("--site <site>", "only this site and its subdomains; repeatable", collect)
    .option("--job <job_id>", "only this job; repeatable", collect)
    .option("--jobs-only", "nothing but what jobs ask for with --notify")
    .option("--quiet <from-to>", "send nothing in these hours, such as 22:00-07:00; off ends it")
    .option("--timezone <zone>", "of the quiet hours, such as Europe/Berlin (default: UTC)")
    .addOption(
      new Option("--quiet-except <severity>", "sent in quiet hours, too, from this severity").choices(SEVERITIES),
    )
    .option("--group-minutes <minutes>", "at most one message in this time", Number);
}

export function aboutOf(options: AboutOptions): Record<string, unknown> {
  const rule = definedOnly({
    types: options.type,
    min_severity: options.minSeverity,
    tags: options.tag,
    sites: options.site,
    jobs: options.job,
  });
  const hasRule = Object.keys(rule).length > 0;
  if (hasRule && options.jobsOnly === true)
    throw new OrbError("usage", "--jobs-only has no effect with --type, --min-severity, --tag, --site or --job", {
      hint: "Remove one of them.",
    });
  for (const type of options.type ?? [])
    if (!(NOTIFICATION_TYPES as readonly string[]).includes(type)) {
      const message = `expected one of ${NOTIFICATION_TYPES.join(", ")}`;
      throw new OrbError("usage", `--type: ${message}`, { fields: [{ path: "type", message }] });
    }
  return definedOnly({
    name: options.name,
    rules: options.jobsOnly === true ? [] : hasRule ? [rule] : undefined,
    quiet_hours: quietOf(options),
    group_minutes: options.groupMinutes,
    enabled: options.disable === true ? false : options.enable === true ? true : undefined,
  });
}

function quietOf({ quiet, timezone, quietExcept }: AboutOptions): Record<string, unknown> | null | undefined {
  if (quiet === undefined) {
    if (timezone === undefined && quietExcept === undefined) return undefined;
    throw new OrbError("usage", "--timezone and --quiet-except belong to --quiet", {
      hint: "Add --quiet 22:00-07:00.",
    });
  }
  if (quiet === "off") return null;
  const match = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(quiet);
  if (match === null) {
    const message = "expected two times, such as 22:00-07:00, or off";
    throw new OrbError("usage", `--quiet: ${message}`, { fields: [{ path: "quiet", message }] });
  }
  return definedOnly({ from: match[1], to: match[2], timezone, except: quietExcept });
}

const flagOf = (name: string) => `--${name.replaceAll("_", "-")}`;

export function withKindFlags(command: Command, { fields }: ChannelKind): Command {
  for (const [name, field] of Object.entries(fields)) {
    if (field.secret === true) {
      // A secret on the command line is visible to everybody on the machine.
      if (field.required !== true) command.option(flagOf(name), `${field.about}; read from a prompt or standard input`);
      continue;
    }
    const value = field.type === "list" ? `<${name}>` : `<${field.type === "text" ? "text" : field.type}>`;
    const about = `${field.about}${"default" in field ? ` (default: ${field.default})` : ""}`;
    const option = new Option(`${flagOf(name)} ${value}`, field.type === "list" ? `${about}; repeatable` : about);
    if (field.type === "choice") option.choices(field.choices);
    if (field.type === "list") option.argParser(collect);
    if (field.required === true) option.makeOptionMandatory();
    command.addOption(option);
  }
  return command;
}

/** The settings that flags and prompts give. */
export async function settingsOf(
  { fields }: ChannelKind,
  options: Readonly<Record<string, unknown>>,
  prompt: Prompt,
): Promise<Record<string, unknown>> {
  const settings: Record<string, unknown> = {};
  const asked: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const value = options[name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())];
    if (field.secret === true && (field.required === true || value === true)) asked.push(name);
    else if (value !== undefined) settings[name] = parsed(field, value);
  }
  return { ...settings, ...(await secretsOf(asked, fields, prompt)) };
}

export function parsed(field: Field, value: unknown): unknown {
  return field.type === "integer" && typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
}

export async function secretsOf(
  names: readonly string[],
  fields: ChannelKind["fields"],
  prompt: Prompt,
): Promise<Record<string, string>> {
  if (names.length > 1 && !prompt.available)
    throw new OrbError("usage", `${names.join(" and ")} would both be read from standard input`, {
      hint: "Run it at a terminal, which asks for each of them.",
    });
  const secrets: Record<string, string> = {};
  for (const name of names) {
    const label = fields[name]?.label ?? name;
    const text = prompt.available ? await prompt.secret(`${label}: `) : await prompt.piped();
    if (text === null || text.trim() === "") {
      const message = `no ${label.toLowerCase()} was given: type it, or pipe it to standard input`;
      throw new OrbError("input_invalid", message, { fields: [{ path: `settings.${name}`, message }] });
    }
    secrets[name] = text.trim();
  }
  return secrets;
}

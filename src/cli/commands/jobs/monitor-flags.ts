/** The flags of `orb jobs create` and `update` for the monitor of a job. */
import { type Command, Option } from "commander";
import { MONITORED } from "../../../domain/monitor/options.ts";
import { definedOnly } from "../../api/command.ts";

export interface MonitorFlags {
  monitor?: string | false;
  monitorIgnore?: string[];
  monitorWatch?: string[];
}

const each = (text: string, before: string[] = []) => [...before, text];

export function addMonitorFlags(command: Command): Command {
  return command
    .addOption(
      new Option("--monitor <what>", "compare every run with the last good one: docs/monitors.md").choices(MONITORED),
    )
    .option("--no-monitor", "stop comparing")
    .option(
      "--monitor-ignore <pattern>",
      "what the monitor leaves out: a CSS selector or a /regular expression/; repeatable",
      each,
    )
    .option(
      "--monitor-watch <place>",
      "what counts although it changes on its own: a place as orb jobs changes names it, or a /regular expression/; repeatable",
      each,
    );
}

/** What of a monitor means the same, whatever is compared. */
const FOR_ALL = ["noise", "learn", "min_words", "min_share", "keep"] as const;

/** `before`: the monitor that the flags change; of an existing job, all else stays as it is. */
export function monitorPart({ monitor, monitorIgnore, monitorWatch }: MonitorFlags, before: unknown): object {
  if (monitor === false) return { monitor: null };
  if (typeof monitor !== "string" && monitorIgnore === undefined && monitorWatch === undefined) return {};
  const known = typeof before === "object" && before !== null ? (before as Record<string, unknown>) : {};
  // Patterns and keys of other contents mean nothing.
  const isOther = typeof monitor === "string" && known["what"] !== undefined && known["what"] !== monitor;
  const kept = isOther
    ? Object.fromEntries(FOR_ALL.filter((name) => known[name] !== undefined).map((name) => [name, known[name]]))
    : known;
  return { monitor: { ...kept, ...definedOnly({ what: monitor, ignore: monitorIgnore, watch: monitorWatch }) } };
}

/** Checks which options of `orb crawl` go together, and builds the command that continues a crawl. */
import type { Command } from "commander";
import { OrbError } from "../../base/errors.ts";
import { RECORD_FORMATS } from "../../exporters/registry.ts";
import { definedOnly } from "../api/command.ts";

const WITH_RESUME: ReadonlySet<string> = new Set(["resume", "format", "out", "url", "json"]);

/** A crawl continues with its original options: reject changes rather than ignore them. */
export function refuseWithResume(command: Command): void {
  const others = command.options
    .filter((option) => !WITH_RESUME.has(option.attributeName()))
    .filter((option) => command.getOptionValueSource(option.attributeName()) === "cli")
    .map((option) => option.long ?? option.flags);
  if (others.length === 0) return;
  throw new OrbError(
    "usage",
    `--resume continues a crawl with its original options; ${others.join(", ")} cannot be changed`,
    {
      hint: "Only --format, --out, --json and --url can be combined with --resume. For other options start a new crawl.",
    },
  );
}

/** With --json the status is on standard output, so results cannot go there. */
export function refuseTwoOnOutput(json: boolean, { format, out }: { format?: string; out?: string }): void {
  if (!json || format === undefined || out !== undefined) return;
  throw new OrbError("usage", `--json prints the status of the crawl; --format ${format} needs --out`, {
    hint: "Add --out FILE for the results, or remove --json to print them.",
  });
}

/** Content that was not stored from the start cannot be exported at the end. */
export function refuseUnarchived(format: string | undefined, begunWith: string): void {
  if (format === undefined || format === begunWith || RECORD_FORMATS.includes(format)) return;
  throw new OrbError("not_archived", `this crawl does not store raw responses, so it cannot be exported as ${format}`, {
    hint: `Resume it without --format ${format}, or start a new crawl with it.`,
  });
}

interface OutputOptions {
  url?: string;
  format?: string;
  out?: string;
}

/** The command that continues it, with the same server and output. */
export function resumeCommand(id: string, { url, format, out }: OutputOptions, json: boolean): string {
  return commandOf(["orb crawl --resume", id], definedOnly({ url, format, out }), json);
}

/** The command that exports the results when they could not be written here. */
export function resultsCommand(id: string, { url, format, out }: OutputOptions): string {
  return commandOf(["orb runs results", id], definedOnly({ url, format, out }), false);
}

function commandOf(words: string[], options: OutputOptions, json: boolean): string {
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, quoted(String(value))]);
  return [...words, ...flags, ...(json ? ["--json"] : [])].join(" ");
}

/** Quoted for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The words of `orb crawl` that go together, and the command that goes on with a crawl. */
import type { Command } from "commander";
import { OrbError } from "../../base/errors.ts";
import { RECORD_FORMATS } from "../../exporters/registry.ts";
import { definedOnly } from "../api/command.ts";

const WITH_RESUME: ReadonlySet<string> = new Set(["resume", "format", "out", "url", "json"]);

/** A crawl goes on as it was begun: what would change it is refused rather than left aside. */
export function refuseWithResume(command: Command): void {
  const others = command.options
    .filter((option) => !WITH_RESUME.has(option.attributeName()))
    .filter((option) => command.getOptionValueSource(option.attributeName()) === "cli")
    .map((option) => option.long ?? option.flags);
  if (others.length === 0) return;
  throw new OrbError("usage", `--resume goes on with a crawl as it was begun: it takes no ${others.join(", ")}`, {
    hint: "Only --format, --out, --json and --url go with it. For other limits or rules begin a new crawl.",
  });
}

/** With --json standard output is the status: what was found would have to be there as well. */
export function refuseTwoOnOutput(json: boolean, { format, out }: { format?: string; out?: string }): void {
  if (!json || format === undefined || out !== undefined) return;
  throw new OrbError("usage", `--json prints the status of the crawl, so --format ${format} has to go to a file`, {
    hint: "Add --out FILE for what was found, or leave out --json to print it.",
  });
}

/** What was not kept from the beginning cannot be written at the end. */
export function refuseUnarchived(format: string | undefined, begunWith: string): void {
  if (format === undefined || format === begunWith || RECORD_FORMATS.includes(format)) return;
  throw new OrbError("not_archived", `this crawl does not keep what the servers send: there is no ${format} of it`, {
    hint: `Resume it without --format ${format}, or begin a new crawl with it.`,
  });
}

interface OutputOptions {
  url?: string;
  format?: string;
  out?: string;
}

/** The command that goes on, for the same place and in the same form. */
export function resumeCommand(id: string, { url, format, out }: OutputOptions, json: boolean): string {
  return commandOf(["orb crawl --resume", id], definedOnly({ url, format, out }), json);
}

/** The command that gets what was found, when it could not be written here. */
export function resultsCommand(id: string, { url, format, out }: OutputOptions): string {
  return commandOf(["orb runs results", id], definedOnly({ url, format, out }), false);
}

function commandOf(words: string[], options: OutputOptions, json: boolean): string {
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, quoted(String(value))]);
  return [...words, ...flags, ...(json ? ["--json"] : [])].join(" ");
}

/** As a shell reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

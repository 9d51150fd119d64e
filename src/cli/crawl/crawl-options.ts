/** Crawl flags, shared by `orb crawl` and saved crawls. */
import { type Command, Option } from "commander";
import { crawlSettings } from "../../domain/crawl/crawl-settings.ts";
import { definedOnly } from "../api/command.ts";
import { numberFrom, positiveInteger, positiveNumber, wholeNumber } from "../values.ts";

/** Named as commander derives them from the flags. */
export interface CrawlOptions {
  /** The former name of `--max-depth`. */
  depth?: number;
  [flag: string]: unknown;
}

type Schema = { type?: string; minimum?: number; enum?: readonly string[] };
type Setting = (typeof crawlSettings)[number][1];

const collect = (text: string, before: string[] = []) => [...before, text];

/** `heading` lists them apart in the help, where not everything is a crawl. */
export function addCrawlOptions(command: Command, { saved = false, heading = "Options:" } = {}): Command {
  for (const [, setting] of crawlSettings) {
    if (setting.cli === undefined || (setting.savedOnly === true && !saved)) continue;
    command.addOption(optionOf(setting).helpGroup(heading));
    if (setting.cli.off !== undefined)
      command.addOption(new Option(offFlag(setting.cli.flag), setting.cli.off).helpGroup(heading));
  }
  return command.addOption(
    new Option("--depth <number>", "the same as --max-depth")
      .argParser(wholeNumber)
      .conflicts("maxDepth")
      .helpGroup(heading),
  );
}

/** `--no-documents` of `--documents`. */
function offFlag(flag: string): string {
  return flag.replace(/^--/, "--no-");
}

function optionOf({ schema, cli, default: usual }: Setting): Option {
  const { flag, about } = cli!;
  const { type, minimum, enum: choices } = schema as Schema;
  if (choices !== undefined) return new Option(flag, `${about}; default: ${String(usual)}`).choices(choices);
  const more =
    type === "array" ? "; repeatable" : cli!.sets === undefined && usual !== "" ? ` (default: ${String(usual)})` : "";
  const option = new Option(flag, `${about}${more}`);
  if (type === "array") return option.argParser(collect);
  if (type === "integer") return option.argParser(minimum === 0 ? wholeNumber : positiveInteger);
  if (type === "number") return option.argParser(minimum === 0 ? numberFrom(0) : positiveNumber);
  return option;
}

/** As a body of the API, without unset flags. */
export function crawlOf(options: CrawlOptions): Record<string, unknown> {
  const settings = crawlSettings.flatMap(([name, { cli }]) => {
    if (cli === undefined) return [];
    const value = options[new Option(cli.flag).attributeName()];
    const isOff = value === false && cli.off !== undefined;
    return [[name, cli.sets === undefined || value === undefined || isOff ? value : cli.sets]];
  });
  const named: Record<string, unknown> = Object.fromEntries(settings);
  return definedOnly({ ...named, max_depth: named["max_depth"] ?? options.depth });
}

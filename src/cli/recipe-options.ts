/** Fetch and extraction options, shared by `orb scrape` and jobs. */
import { type Command, Option } from "commander";
import { OrbError } from "../base/errors.ts";
import type { BrowserAction } from "../domain/page/page-options.ts";
import { STRATEGIES } from "../domain/run/recipe.ts";
import { addAction } from "./actions.ts";
import { definedOnly } from "./api/command.ts";
import { addField, type FieldRule, itemsRule, knownNames } from "./fields.ts";
import { readJsonFile } from "./files.ts";
import { positiveInteger, positiveNumber } from "./values.ts";
import type { Wiring } from "./wiring.ts";

export interface RecipeOptions {
  field?: Record<string, FieldRule>;
  fields?: string[];
  items?: FieldRule;
  rules?: string;
  llmSchema?: string;
  llmPrompt?: string;
  strategy?: string;
  proxy?: string;
  header?: Record<string, string>;
  cookie?: Record<string, string>;
  session?: string;
  timeout?: number;
  maxAttempts?: number;
  /** Alias of `--max-attempts`. */
  attempts?: number;
  waitFor?: string;
  wait?: number;
  mobile?: boolean;
  action?: BrowserAction[];
}

/** `strategies`: fewer where there is no saved call to replay. */
export function addRecipeOptions(
  command: Command,
  {
    strategies = STRATEGIES as readonly string[],
    attempts = "maximum attempts (default: APP_DEFAULT_MAX_ATTEMPTS)",
  } = {},
): Command {
  return addReadingOptions(command, strategies)
    .option("--header <name: value>", "sent only to the origin of the page; repeatable", addHeader)
    .option("--cookie <name=value>", "sent only to the origin of the page; repeatable", addCookie)
    .option("--session <name>", "name or id of a stored session; see orb sessions")
    .option("--timeout <seconds>", "time limit for the page", positiveNumber)
    .option("--max-attempts <number>", attempts, positiveInteger)
    .addOption(attemptsAlias())
    .option("--wait-for <css>", "use a browser and wait until this selector matches")
    .option("--wait <seconds>", "use a browser and wait this long before actions and extraction", positiveNumber)
    .option("--mobile", "use a browser that emulates a phone")
    .option("--action <what>", "browser action: click=CSS, wait=MS, press=Enter …; repeatable", addAction);
}

/** The former name of `--max-attempts`. */
export function attemptsAlias(): Option {
  return new Option("--attempts <number>", "the same as --max-attempts")
    .argParser(positiveInteger)
    .conflicts("maxAttempts");
}

/** Total attempts. */
export function triesOf({
  maxAttempts,
  attempts,
}: Pick<RecipeOptions, "maxAttempts" | "attempts">): number | undefined {
  return maxAttempts ?? attempts;
}

/** Adds extraction and fetch options. */
export function addReadingOptions(command: Command, strategies: readonly string[]): Command {
  return command
    .option("--field <name=css>", "a field of the result; repeatable", addField)
    .option("--fields <names>", "well-known fields, such as title,price,markdown", knownNames)
    .option("--items <css>", "CSS selector of the records; fields are read once per match", itemsRule)
    .option("--rules <file>", "JSON file with fields, items, schema, extract, document and browser, as in a job")
    .option(
      "--llm-schema <file>",
      "extract with the language model (APP_LLM_URL); the file is the JSON Schema of a record",
    )
    .option("--llm-prompt <text>", "prompt for the language model")
    .addOption(new Option("--strategy <name>", "how the page is fetched").choices(strategies))
    .option("--proxy <address>", "proxy to use, such as socks5://user:password@host:1080, or pool for the proxy pool");
}

/** As a body of the API, without unset options. */
export async function recipeOf(options: RecipeOptions, wiring: Wiring): Promise<Record<string, unknown>> {
  const rules = options.rules === undefined ? {} : await readRules(options.rules, wiring);
  const fields = fieldsOf(rules["fields"], options);
  const browser = definedOnly({
    wait_for: options.waitFor,
    wait_ms: options.wait === undefined ? undefined : Math.round(options.wait * 1000),
    mobile: options.mobile,
    actions: options.action,
  });
  const recipe = {
    ...rules,
    fields,
    items: options.items ?? rules["items"],
    extract: (await llmOf(options, wiring)) ?? rules["extract"],
    // Only a browser can wait for an element.
    strategy: options.strategy ?? (options.waitFor === undefined ? undefined : "browser"),
    proxy: options.proxy,
    headers: options.header,
    cookies: options.cookie,
    session_id: options.session,
    timeout_seconds: options.timeout,
    max_attempts: triesOf(options),
    browser: Object.keys(browser).length === 0 ? rules["browser"] : { ...browserIn(rules), ...browser },
  };
  return Object.fromEntries(Object.entries(recipe).filter(([, value]) => value !== undefined));
}

/** Model extraction, if requested. */
async function llmOf({ llmSchema, llmPrompt: prompt }: RecipeOptions, wiring: Wiring): Promise<unknown> {
  if (llmSchema === undefined && prompt === undefined) return undefined;
  const schema =
    llmSchema === undefined
      ? undefined
      : await readJsonFile((file) => wiring.openFile(file), llmSchema, "--llm-schema");
  return { llm: { ...(schema === undefined ? {} : { schema }), ...(prompt === undefined ? {} : { prompt }) } };
}

const RULES = ["fields", "items", "schema", "extract", "document", "browser"];

/**
 * The browser options of a recipe file, which flags override; the server rejects invalid ones with all other errors.
 */
function browserIn({ browser }: Record<string, unknown>): object {
  return typeof browser === "object" && browser !== null ? browser : {};
}

async function readRules(path: string, wiring: Wiring): Promise<Record<string, unknown>> {
  const rules = await readJsonFile((file) => wiring.openFile(file), path, "--rules");
  const strange = Object.keys(rules).find((key) => !RULES.includes(key));
  if (strange === undefined) return rules;
  const message = `unknown key; expected ${RULES.join(", ")}`;
  throw new OrbError("input_invalid", `--rules: ${strange}: ${message}`, { fields: [{ path: strange, message }] });
}

/** Merges names and rules; those of the command line win. */
function fieldsOf(recipeFields: unknown, { field, fields }: RecipeOptions): unknown {
  if (field === undefined && fields === undefined) return recipeFields;
  if (field === undefined && recipeFields === undefined) return fields;
  return { ...asRules(recipeFields), ...asRules(fields), ...field };
}

/** Fields as rules by name, whichever form they have. */
export function asRules(fields: unknown): Record<string, unknown> {
  if (Array.isArray(fields)) return Object.fromEntries(fields.map((name) => [String(name), { known: String(name) }]));
  return typeof fields === "object" && fields !== null ? (fields as Record<string, unknown>) : {};
}

/** Not commander's error, which would repeat the value: it may be a secret. */
function misread(option: string, message: string): OrbError {
  return new OrbError("usage", `${option}: ${message}`, { fields: [{ path: option.slice(2), message }] });
}

/** One `--header`. */
export function addHeader(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^:\s]+)\s*:\s*([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw misread("--header", "expected 'Name: value'");
  return { ...before, [name]: value.trimEnd() };
}

/** One `--cookie`. */
export function addCookie(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw misread("--cookie", "expected name=value");
  return { ...before, [text.slice(0, at).trim()]: text.slice(at + 1) };
}

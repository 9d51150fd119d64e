/** The source of a workflow on the command line: a file or the name of a template, with params. */
import type { Command } from "commander";
import { type FieldError, isOrbError, OrbError, systemCode } from "../../base/errors.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { suggest } from "../../domain/text/suggest.ts";
import type { OrbweaverClient } from "../../api-client/client.ts";
import { definedOnly, nextCommand, type UrlOption } from "../api/command.ts";
import { refusal } from "../api/problem.ts";
import { readText } from "../files.ts";
import type { Wiring } from "../wiring.ts";
import { withParams } from "./workflow-params.ts";

export interface ParamOptions {
  param?: string[];
  params?: string;
}

export interface SourceOptions extends UrlOption, ParamOptions {
  name?: string;
  templateVersion?: number;
}

export function addParamOptions(command: Command): Command {
  return command
    .option("--param <name=value>", "set a param; repeatable, the same name again makes a list", collect)
    .option("--params <file>", "read params from a JSON or YAML file; - reads standard input");
}

function collect(word: string, before: string[] = []): string[] {
  return [...before, word];
}

/** A file's content, and its text for positions. */
export interface Written {
  path: string;
  text: string;
  value: Record<string, unknown>;
}

export type Source = { file: Written } | { template: string };

const TEMPLATE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

/** An existing file wins; any other valid template name is a template. */
export async function readSource(wiring: Wiring, word: string): Promise<Source> {
  try {
    return { file: await readWritten(wiring, word, "file") };
  } catch (error) {
    const code = error instanceof Error ? systemCode(error.cause) : undefined;
    const isMissing = code === "ENOENT" || code === "EISDIR";
    if (!isMissing || !TEMPLATE_NAME.test(word) || /\.(?:ya?ml|json)$/i.test(word)) throw error;
    return { template: word };
  }
}

/** A JSON or YAML file that contains an object. */
export async function readWritten(wiring: Wiring, path: string, option: string): Promise<Written> {
  const text = await readText((name) => wiring.openFile(name), path, option);
  const { readDefinitionText } = await import("../../domain/workflow/read-text.ts");
  const { ok: value, errors } = readDefinitionText(text.replace(/^\uFEFF/, ""));
  const shown = path === "-" ? "standard input" : path;
  if (errors !== undefined) {
    const message = errors[0]?.message ?? "";
    const [, line, column] = /line (\d+), column (\d+): /.exec(message) ?? [];
    const where = line === undefined ? shown : `${shown}:${line}:${column}`;
    throw new OrbError("input_invalid", `${where}: ${message.replace(/line \d+, column \d+: /, "")}`, {
      fields: [{ path: option, message }],
    });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new OrbError(
      "input_invalid",
      `${shown}: expected an object${option === "params" ? " of params by name" : ", such as a definition with its steps"}`,
      {
        fields: [{ path: option, message: "expected an object" }],
      },
    );
  return { path: shown, text, value: value as Record<string, unknown> };
}

/** A definition may be the whole file, or a key beside params as in the API. */
const isBare = ({ value }: Written) => "steps" in value;

/** As a body of the API, with params. */
export async function bodyOf(
  wiring: Wiring,
  api: OrbweaverClient,
  source: Source,
  options: SourceOptions,
): Promise<Record<string, unknown>> {
  const said: Record<string, unknown> =
    "template" in source
      ? { template: source.template }
      : isBare(source.file)
        ? { definition: source.file.value }
        : source.file.value;
  const body: Record<string, unknown> = {
    ...said,
    ...definedOnly({ name: options.name, template_version: options.templateVersion }),
  };
  const schema = await schemaOf(api, body);
  const params = await paramsOf(wiring, body["params"], options, schema);
  return params === null ? body : { ...body, params };
}

/** Null: none set. */
export async function paramsOf(
  wiring: Wiring,
  before: unknown,
  { param = [], params: file }: ParamOptions,
  schema: JsonValue,
): Promise<Record<string, JsonValue> | null> {
  if (param.length === 0 && file === undefined) return null;
  const fromFile = file === undefined ? {} : (await readWritten(wiring, file, "params")).value;
  const base = { ...(before as Record<string, JsonValue> | undefined), ...(fromFile as Record<string, JsonValue>) };
  return withParams(base, param, schema);
}

/** The params of the workflow, so that values are parsed by their types. */
async function schemaOf(api: OrbweaverClient, body: Readonly<Record<string, unknown>>): Promise<JsonValue> {
  const { definition, template, template_version: version } = body;
  if (typeof template !== "string")
    return ((definition as { params?: JsonValue } | null | undefined)?.params ?? null) as JsonValue;
  try {
    const query = typeof version === "number" ? { version } : {};
    return (await api.templates.get(template, query)).params as JsonValue;
  } catch (error) {
    const refused = refusal(error, "not_found");
    throw refused === null ? error : await unknownTemplate(api, template, refused);
  }
}

async function unknownTemplate(api: OrbweaverClient, name: string, error: OrbError): Promise<OrbError> {
  const all = await api.templates.list();
  const names = all.map((template) => template.name);
  if (names.includes(name)) return error;
  const near = suggest(name, names);
  return new OrbError("input_invalid", `there is no file or template named ${name}`, {
    hint: near === undefined ? `Templates: ${names.join(", ")}.` : `Did you mean ${near}?`,
    fields: [{ path: "template", message: "does not exist" }],
  });
}

/** An error with its position. */
export interface Fault extends FieldError {
  line?: number;
  column?: number;
}

/** The errors with their positions in the file and the paths as written there. */
export async function withPositions(file: Written, errors: readonly FieldError[]): Promise<Fault[]> {
  const { sourcePositions } = await import("../../domain/workflow/source-positions.ts");
  const positionOf = sourcePositions(file.text);
  const bare = isBare(file);
  const faults = errors.map(({ path, message }): Fault => {
    if (!bare) return { path, message, ...positionOf(path) };
    const inner = /^definition(?:\.|(?=\[)|$)/.exec(path);
    // Params were set beside the file, not in it.
    if (inner === null) return { path, message };
    const filePath = path.slice(inner[0].length);
    return { path: filePath, message, ...positionOf(filePath) };
  });
  return faults.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

/** One error per line, in the format of compilers. */
export function faultLine(file: Written | null, { path, message, line, column }: Fault): string {
  const where = file === null || line === undefined ? "" : `${file.path}:${line}:${column}: `;
  return `${where}${path === "" ? "" : `${path}: `}${message}`;
}

/** Rethrows a validation error with positions in the file; for a template, with a hint where its params are listed. */
export async function withFileErrors<T>(source: Source, options: UrlOption, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const refused = isOrbError(error, "input_invalid") ? error : refusal(error, "input_invalid");
    if (refused === null || refused.fields.length === 0) throw error;
    if ("template" in source) {
      const hint =
        refused.hint ?? `${nextCommand(`workflows templates show ${source.template}`, options)} shows its params.`;
      throw new OrbError("input_invalid", refused.message, { cause: error, fields: refused.fields, hint });
    }
    const fields = await withPositions(source.file, refused.fields);
    const lines = fields.map((fault) => faultLine(source.file, fault));
    const message = lines.length === 1 ? lines.join() : `${lines.length} errors:\n  ${lines.join("\n  ")}`;
    const { hint } = refused;
    throw new OrbError("input_invalid", message, { cause: error, fields, ...(hint === undefined ? {} : { hint }) });
  }
}

/**
 * Reads the configuration once, from the environment and a `.env` file. One error lists every invalid option, so that
 * ten mistakes do not take ten starts to find.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual, parseEnv } from "node:util";
import { type FieldError, messageOf, OrbError, systemCode } from "../base/errors.ts";
import { suggest } from "../domain/text/suggest.ts";
import { crossCheck } from "./cross-check.ts";
import { masked } from "./mask.ts";
import { type Config, CONFIG_KEYS, type ConfigKey, OPTIONS } from "./options.ts";
import type { Option } from "./option.ts";
import { BadValue } from "./types.ts";

export const CONFIG_SOURCES = ["default", ".env", "environment", "command line"] as const;
export type ConfigSource = (typeof CONFIG_SOURCES)[number];

export interface LoadedConfig {
  config: Config;
  sources: Readonly<Record<ConfigKey, ConfigSource>>;
  /** Messages about ignored values. */
  warnings: readonly string[];
}

export interface ConfigInput {
  env: Readonly<Record<string, string | undefined>>;
  /** Where `.env` is looked up, and the base of relative paths. */
  cwd: string;
}

export function loadConfig({ env, cwd }: ConfigInput): LoadedConfig {
  const errors: FieldError[] = [];
  const file = readEnvFile(cwd, errors);
  const values: Partial<Record<ConfigKey, unknown>> = {};
  const sources: Partial<Record<ConfigKey, ConfigSource>> = {};
  for (const key of CONFIG_KEYS) {
    const option = OPTIONS[key] as Option<unknown>;
    const fromEnvironment = readVariable(env, option);
    const variable = fromEnvironment ?? readVariable(file, option);
    const source = variable === undefined ? "default" : fromEnvironment === undefined ? ".env" : "environment";
    sources[key] = source;
    const text = variable?.text ?? option.default;
    try {
      values[key] = text === null ? null : option.type.parse(text, cwd);
      const { otherText } = variable ?? {};
      if (otherText !== undefined && !isDeepStrictEqual(option.type.parse(otherText, cwd), values[key]))
        errors.push(differ(option, source));
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      const path = variable?.name ?? option.name;
      errors.push({ path, message: complaint(option, text ?? "", error.message, source) });
    }
  }
  deriveValues(values, sources);
  errors.push(...crossCheck(values as Partial<Config>));
  if (errors.length > 0) throw configError(errors);
  return Object.freeze({
    config: deepFreeze(values as Config),
    sources: Object.freeze(sources as Record<ConfigKey, ConfigSource>),
    warnings: Object.freeze(unknownVariables(env, file)),
  });
}

interface Variable {
  name: string;
  text: string;
  /** The value of its alias, if both are set. */
  otherText?: string;
}

/** An empty variable counts as unset: `APP_REDIS_URL=` is how shells and compose files switch an option off. */
function readVariable(
  variables: Readonly<Record<string, string | undefined>>,
  { name, alias }: Option<unknown>,
): Variable | undefined {
  const text = variables[name]?.trim() || undefined;
  const otherText = alias === undefined ? undefined : variables[alias]?.trim() || undefined;
  if (text === undefined) return otherText === undefined ? undefined : { name: alias!, text: otherText };
  return otherText === undefined ? { name, text } : { name, text, otherText };
}

function differ({ name, alias }: Option<unknown>, source: ConfigSource): FieldError {
  const where = source === ".env" ? " in .env" : "";
  return { path: name, message: `differs from its alias ${alias}${where}; remove ${alias}` };
}

function readEnvFile(cwd: string, errors: FieldError[]): Record<string, string | undefined> {
  try {
    return { ...parseEnv(readFileSync(join(cwd, ".env"), "utf8").replace(/^\uFEFF/, "")) };
  } catch (error) {
    if (systemCode(error) !== "ENOENT") {
      errors.push({ path: ".env", message: `the file cannot be read: ${messageOf(error)}` });
    }
    return {};
  }
}

function complaint(option: Option<unknown>, text: string, why: string, source: ConfigSource): string {
  const reason = why === "" ? "" : ` (${why})`;
  const where = source === ".env" ? " in .env" : "";
  return `expected ${option.type.expected}, for example ${option.example}; got ${masked(option, text)}${where}${reason}`;
}

/** Fills in the options derived from others; a missing source was reported already. */
function deriveValues(
  values: Partial<Record<ConfigKey, unknown>>,
  sources: Partial<Record<ConfigKey, ConfigSource>>,
): void {
  const { managedServices } = values as Partial<Config>;
  if (sources.database === "default" && managedServices?.includes("postgres") === true)
    values.database = { kind: "managed" } satisfies Config["database"];
  if (values.heartbeatMs === null && typeof values.leaseTtlMs === "number") {
    values.heartbeatMs = Math.floor(values.leaseTtlMs / 4);
  }
  if (values.artifacts === null && typeof values.dataDir === "string") {
    values.artifacts = { kind: "local", path: join(values.dataDir, "artifacts") };
  }
  if (values.s3Endpoint === null && typeof values.s3Region === "string") {
    values.s3Endpoint = `https://s3.${values.s3Region}.amazonaws.com`;
  }
}

function configError(errors: FieldError[]): OrbError {
  const count = errors.length === 1 ? "one invalid value" : `${errors.length} invalid values`;
  const lines = errors.map((error) => `  ${error.path}: ${error.message}`);
  return new OrbError("config_invalid", `The configuration has ${count}:\n${lines.join("\n")}`, {
    fields: errors,
    hint: "Correct them in the environment or in .env; docs/configuration.md describes every option.",
  });
}

/** Other programs use APP_ too, so an unknown name is a warning, not an error. */
function unknownVariables(env: ConfigInput["env"], file: Record<string, string | undefined>): string[] {
  const known = CONFIG_KEYS.map((key) => OPTIONS[key].name);
  const aliases = new Set(CONFIG_KEYS.map((key) => (OPTIONS[key] as Option<unknown>).alias));
  const names = new Set([...Object.keys(env), ...Object.keys(file)].filter((name) => name.startsWith("APP_")));
  return [...names]
    .filter((name) => !known.includes(name) && !aliases.has(name))
    .sort()
    .map((name) => {
      const near = suggest(name, known);
      const where = env[name] === undefined ? " in .env" : "";
      return `${name}${where} is not an option and is ignored${near === undefined ? "" : `; did you mean ${near}?`}`;
    });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}

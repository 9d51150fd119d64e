/** Reads the exports of a user's module: `handlers` for the queue, `steps` for workflows, `extractors` for pages. */
import type { CustomExtractor } from "../../../extract/define-extractor.ts";
import type { CustomStep } from "../../../workflows/define-step.ts";
import type { Handler } from "./define.ts";
import {
  DEFAULT_TIMEOUT_SECONDS,
  EXTRACTOR_TIMEOUT_SECONDS,
  type ModuleContents,
  STEP_TIMEOUT_SECONDS,
} from "./protocol.ts";

interface LoadedHandler {
  run: Handler;
  timeoutSeconds: number;
}

interface LoadedModule {
  handlers: Map<string, LoadedHandler>;
  steps: Map<string, CustomStep>;
  extractors: Map<string, CustomExtractor>;
}

const KIND = /^[a-z][a-z0-9_-]{0,63}$/i;

/** Throws an error that explains the problem. The engine checks schemas. */
export function readModule(module: Record<string, unknown>): LoadedModule {
  const { handlers, steps, extractors } = module;
  if (handlers === undefined && steps === undefined && extractors === undefined) {
    throw new Error(
      'it must export "handlers", an object of functions by name, "steps", a list of step kinds, or "extractors", a list of them',
    );
  }
  return {
    handlers: readHandlers(handlers ?? {}),
    steps: readSteps(steps ?? []),
    extractors: readExtractors(extractors ?? []),
  };
}

export function contentsOf({ handlers, steps, extractors }: LoadedModule): ModuleContents {
  return {
    handlers: [...handlers].map(([name, { timeoutSeconds }]) => ({ name, timeoutSeconds })),
    steps: [...steps.values()].map(({ kind, about, params, output, timeout }) => ({
      kind,
      about: about ?? null,
      params: toPlainJson(`steps.${kind}.params`, params),
      output: output === undefined ? null : toPlainJson(`steps.${kind}.output`, output),
      timeoutSeconds: timeout ?? STEP_TIMEOUT_SECONDS,
    })),
    extractors: [...extractors.values()].map(({ name, about, params, timeout }) => ({
      name,
      about: about ?? null,
      params: params === undefined ? null : toPlainJson(`extractors.${name}.params`, params),
      timeoutSeconds: timeout ?? EXTRACTOR_TIMEOUT_SECONDS,
    })),
  };
}

function readHandlers(exported: unknown): Map<string, LoadedHandler> {
  if (typeof exported !== "object" || exported === null) {
    throw new Error('"handlers" must be an object of functions by name');
  }
  const loaded = new Map<string, LoadedHandler>();
  for (const [name, value] of Object.entries(exported)) {
    if (typeof value === "function") {
      loaded.set(name, { run: value as Handler, timeoutSeconds: DEFAULT_TIMEOUT_SECONDS });
      continue;
    }
    const { run, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = (value ?? {}) as Partial<LoadedHandler>;
    if (typeof run !== "function")
      throw new Error(`handlers.${name} is neither a function nor an object with a function "run"`);
    if (!isSeconds(timeoutSeconds)) throw new Error(`handlers.${name}.timeoutSeconds must be a number above 0`);
    loaded.set(name, { run, timeoutSeconds });
  }
  return loaded;
}

function readSteps(exported: unknown): Map<string, CustomStep> {
  if (!Array.isArray(exported)) throw new Error('"steps" must be a list of step kinds, each made by defineStep({…})');
  const loaded = new Map<string, CustomStep>();
  for (const [index, value] of exported.entries()) {
    const step = (value ?? {}) as Partial<CustomStep>;
    const { kind, about, params, timeout } = step;
    if (typeof kind !== "string" || !KIND.test(kind))
      throw new Error(
        `steps[${index}].kind must be a name: a letter, then letters, digits, "-" and "_", at most 64 in all`,
      );
    if (loaded.has(kind)) throw new Error(`steps[${index}].kind: another step kind is named ${kind}`);
    if (typeof step.run !== "function") throw new Error(`steps.${kind} has no function "run"`);
    if (typeof params !== "object" || params === null)
      throw new Error(`steps.${kind}.params must be the JSON Schema of its params`);
    if (about !== undefined && typeof about !== "string") throw new Error(`steps.${kind}.about must be a string`);
    if (timeout !== undefined && !isSeconds(timeout))
      throw new Error(`steps.${kind}.timeout must be a number of seconds above 0`);
    loaded.set(kind, step as CustomStep);
  }
  return loaded;
}

function readExtractors(exported: unknown): Map<string, CustomExtractor> {
  if (!Array.isArray(exported)) throw new Error('"extractors" must be a list, each made by defineExtractor({…})');
  const loaded = new Map<string, CustomExtractor>();
  for (const [index, value] of exported.entries()) {
    const extractor = (value ?? {}) as Partial<CustomExtractor>;
    const { name, about, params, timeout } = extractor;
    if (typeof name !== "string" || !KIND.test(name))
      throw new Error(
        `extractors[${index}].name must be a name: a letter, then letters, digits, "-" and "_", at most 64 in all`,
      );
    if (loaded.has(name)) throw new Error(`extractors[${index}].name: another extractor is named ${name}`);
    if (name === "llm") throw new Error(`extractors[${index}].name: an extractor named llm is built in`);
    if (typeof extractor.run !== "function") throw new Error(`extractors.${name} has no function "run"`);
    if (params !== undefined && (typeof params !== "object" || params === null))
      throw new Error(`extractors.${name}.params must be the JSON Schema of its params`);
    if (about !== undefined && typeof about !== "string") throw new Error(`extractors.${name}.about must be a string`);
    if (timeout !== undefined && !isSeconds(timeout))
      throw new Error(`extractors.${name}.timeout must be a number of seconds above 0`);
    loaded.set(name, extractor as CustomExtractor);
  }
  return loaded;
}

/** Timers are limited to about 24 days; longer ones fire at once. */
const MAX_SECONDS = 2_000_000;

function isSeconds(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value <= MAX_SECONDS;
}

function toPlainJson(what: string, schema: unknown) {
  try {
    return JSON.parse(JSON.stringify(schema));
  } catch (error) {
    throw new Error(`${what} cannot be written as JSON: ${(error as Error).message}`, { cause: error });
  }
}

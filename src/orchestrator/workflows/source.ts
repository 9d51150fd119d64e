/** Turns the source in a request into the snapshot of a run; every error has its path. */
import { type FieldError, isOrbError, OrbError } from "../../base/errors.ts";
import { Turns } from "../../base/process/event-loop.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { StepDefinition, WorkflowSnapshot } from "../../domain/workflow/definition.ts";
import { sealParams } from "../../domain/workflow/secrets/secrets.ts";
import type { WorkflowSource } from "../../domain/workflow/source.ts";
import { invalid } from "../invalid.ts";
import type { SourceInput } from "../jobs/input.ts";
import { readDefinition, type SourceDeps } from "./definition.ts";
import { filledParams } from "./params.ts";
import { findTemplate } from "./templates.ts";

type Params = Readonly<Record<string, JsonValue>>;

/** As stored in a job, except for its secrets. */
export function sourceFrom(input: SourceInput): WorkflowSource {
  return {
    definition: (input.definition ?? null) as JsonValue,
    template: input.template ?? null,
    template_version: input.template_version ?? null,
    params: input.params ?? {},
  };
}

/** The names of the source's parts in the request: a definition may be the whole body. */
export type PathOf = (part: "definition" | "template" | "template_version" | "params", inner: string) => string;

/** Paths below `at`: `workflow.definition.steps[2].params.url`. */
export function pathsBelow(at: string): PathOf {
  const prefix = at === "" ? "" : `${at}.`;
  return (part, inner) => joined(`${prefix}${part}`, inner);
}

function joined(path: string, inner: string): string {
  return inner === "" || inner.startsWith("[") ? `${path}${inner}` : `${path}.${inner}`;
}

/**
 * The snapshot of a run, with params in clear text (see `sealedParams`); `before` are the stored ones. Null: the errors
 * are in `problems`.
 */
export async function readSource(
  deps: SourceDeps,
  input: SourceInput,
  pathOf: PathOf,
  problems: FieldError[],
  before: Params = {},
): Promise<WorkflowSnapshot | null> {
  const found = await findDefinition(deps, input, pathOf, problems);
  if (found === null) return null;
  const turns = new Turns();
  const params = filledParams(deps.seal, found.definition.params, input.params ?? {}, before, (path, message) =>
    problems.push({ path: pathOf("params", path), message }),
  );
  if (params === null) return null;
  await turns.after();
  return (await passesPreflight(deps, found, params, pathOf, problems)) ? { ...found, params } : null;
}

/**
 * False: a step would fail when it runs, and the reason is in `problems`. `params` null: unknown. Throws
 * `forbidden_target`.
 */
export async function passesPreflight(
  deps: SourceDeps,
  { definition, template }: Pick<WorkflowSnapshot, "definition" | "template">,
  params: Readonly<Record<string, JsonValue>> | null,
  pathOf: PathOf,
  problems: FieldError[],
): Promise<boolean> {
  // Slow to load, and few calls need it.
  const { preflight } = await import("./preflight.ts");
  const { faults, forbidden } = preflight(deps, await deps.stepKinds(), definition, params);
  if (faults.length === 0) return true;
  for (const { step, path, message } of faults)
    problems.push(fieldErrorOf(step, path, message, template !== null, pathOf));
  if (forbidden !== null)
    throw new OrbError("forbidden_target", forbidden.message, { fields: problems, cause: forbidden });
  return false;
}

/** An error in a template is reported at the param that the value comes from, if that is unambiguous. */
function fieldErrorOf(
  step: StepDefinition,
  path: string,
  message: string,
  isTemplate: boolean,
  pathOf: PathOf,
): FieldError {
  if (!isTemplate) return { path: pathOf("definition", path), message };
  const [, name = "", rest = ""] = /^steps\[\d+\]\.params\.([^.[]+)(.*)$/s.exec(path) ?? [];
  const source = /^\$\{\{\s*params\.([\w.]+)\s*\}\}$/.exec(String(step.params[name] ?? ""))?.[1];
  if (source !== undefined) return { path: pathOf("params", `${source}${rest}`), message };
  return {
    path: pathOf("params", ""),
    message: `the step ${step.name}: ${name === "" ? "" : `${name}${rest} `}${message}`,
  };
}

/** The snapshot, ready to store: secret params are sealed. */
export function sealedParams<T extends WorkflowSnapshot>(
  { seal }: Pick<SourceDeps, "seal">,
  snapshot: T,
  before?: Params,
): T {
  const { definition, params } = snapshot;
  return { ...snapshot, params: sealParams(seal, definition.params, params, before) };
}

/** Like `readSource`, but throws `input_invalid` with every error. */
export async function requireSource(
  deps: SourceDeps,
  input: SourceInput,
  pathOf: PathOf,
  before?: Params,
): Promise<WorkflowSnapshot> {
  const problems: FieldError[] = [];
  const snapshot = await readSource(deps, input, pathOf, problems, before);
  if (snapshot === null) throw invalid(problems);
  return snapshot;
}

/** The requested definition, validated; null: the errors are in `problems`. */
export async function findDefinition(
  deps: SourceDeps,
  input: SourceInput,
  pathOf: PathOf,
  problems: FieldError[],
): Promise<Pick<WorkflowSnapshot, "definition" | "template"> | null> {
  const { definition, template } = input;
  const isNamed = template !== undefined && template !== null;
  if (definition !== undefined && definition !== null) {
    if (isNamed) {
      problems.push({ path: pathOf("template", ""), message: "cannot be combined with definition; remove one" });
      return null;
    }
    if ((input.template_version ?? null) !== null) {
      problems.push({
        path: pathOf("template_version", ""),
        message: "can only be used with template; add template or remove it",
      });
      return null;
    }
    const checked = await readDefinition(deps, definition, (path) => pathOf("definition", path), problems);
    return checked === null ? null : { definition: checked, template: null };
  }
  if (!isNamed) {
    problems.push({ path: pathOf("definition", ""), message: "is required, unless template is set" });
    return null;
  }
  return templateOf(deps, input, pathOf, problems);
}

async function templateOf(
  deps: SourceDeps,
  { template, template_version: version }: SourceInput,
  pathOf: PathOf,
  problems: FieldError[],
): Promise<Pick<WorkflowSnapshot, "definition" | "template"> | null> {
  let found: Awaited<ReturnType<typeof findTemplate>>;
  try {
    found = await findTemplate(deps, template ?? "", version ?? undefined);
  } catch (error) {
    // Any other error says nothing about the template and may be temporary.
    if (!isOrbError(error, "not_found")) throw error;
    problems.push({ path: pathOf("template", ""), message: error.message });
    return null;
  }
  const faults: FieldError[] = [];
  const definition = await readDefinition(deps, found.definition, (path) => path, faults);
  // It was valid when saved: a step kind has been removed since, or its params have changed.
  if (definition === null)
    problems.push(
      ...faults.map(({ path, message }) => ({ path: pathOf("template", ""), message: `its ${path}: ${message}` })),
    );
  return definition === null ? null : { definition, template: { name: found.name, version: found.version } };
}

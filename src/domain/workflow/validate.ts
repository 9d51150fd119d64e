/**
 * Turns any input into a runnable definition, or reports all of its errors at once: a workflow must not fail in its fifth
 * hour for an error that could be found before.
 */
import { messageOf } from "../../base/errors.ts";
import { compileJsonSchema, type SchemaCheck, SchemaError } from "../text/json-schema.ts";
import type { JsonValue, Parsed } from "../lane/queue-item.ts";
import { fieldErrors } from "../text/schema-faults.ts";
import { closedKeys } from "./closed-keys.ts";
import { MOST_STEPS, STEP_DEFAULTS, type StepDefinition, type WorkflowDefinition } from "./definition.ts";
import { WorkflowInput } from "./definition-schema.ts";
import { resolveDependencies } from "./dependencies.ts";
import { findExpressionFaults, type StepExpressions } from "./expression-faults.ts";
import { didYouMean, Faults, shortened } from "./faults.ts";
import { checkWrittenParams } from "./params-check.ts";
import { plainJson } from "./plain-json.ts";

/** What has to be known of the kinds of steps. */
export interface KindLookup {
  find(kind: string): { readonly params: JsonValue; readonly output?: JsonValue } | undefined;
  all(): readonly { readonly kind: string }[];
}

/** Letters of any script, digits, and what stands between words. */
const NAME = /^[\p{L}\p{N}_](?:[\p{L}\p{N} _.-]{0,98}[\p{L}\p{N}_.-])?$/u;

/** More would be slow to report, and nobody reads them. */
const MOST_SHAPE_ERRORS = 2000;

/** Steps whose params are looked at in one go. */
const STEPS_IN_STAGE = 50;

/** Compiled when it is first needed: most commands never look at a workflow. */
let shape: SchemaCheck | null = null;

/** A definition with every default filled in and dependencies as indices; or every mistake, with its path. */
export function validateWorkflow(value: unknown, kinds: KindLookup): Parsed<WorkflowDefinition> {
  const stages = validateInStages(value, kinds);
  for (;;) {
    const stage = stages.next();
    if (stage.done === true) return stage.value;
  }
}

/** The same, stage by stage: hundreds of steps with dozens of dependencies take a tenth of a second. */
export function* validateInStages(value: unknown, kinds: KindLookup): Generator<void, Parsed<WorkflowDefinition>> {
  const faults = new Faults();
  const json = plainJson(value, faults);
  if (json === undefined) return { errors: faults.list() };
  yield;
  // Reports shape errors, and checks the rest as far as possible.
  shape ??= compileJsonSchema(WorkflowInput, { defaults: false });
  faults.addAll(fieldErrors(shape(json).slice(0, MOST_SHAPE_ERRORS), json, ""));
  yield;
  const whole = objectOf(json);
  const steps = listOf(whole["steps"]).slice(0, MOST_STEPS).map(objectOf);
  const names = checkNames(steps, faults);
  const written = steps.map((step, index) => ({ name: names[index] ?? null, dependencies: writtenDependencies(step) }));
  const resolved = resolveDependencies(written, faults);
  yield;
  const params = checkParamsSchema(whole["params"], faults);
  for (const [index, step] of steps.entries()) {
    checkKind(step, `steps[${index}].`, kinds, faults);
    if (index % STEPS_IN_STAGE === STEPS_IN_STAGE - 1) yield;
  }
  yield;
  const expressions = steps.map((step, index) => ({
    name: names[index] ?? "",
    dependencies: resolved[index]?.dependencies ?? [],
    // With wrong dependencies, errors that follow from them would be reported twice.
    isSound: resolved[index]?.isSound ?? false,
    output: outputKeys(step, kinds),
    params: objectOf(step["params"]),
    when: typeof step["when"] === "string" ? step["when"] : null,
    list: listOfEach(step),
  }));
  findExpressionFaults(expressions, params, faults);
  if (faults.count > 0) return { errors: faults.list() };
  return {
    ok: {
      name: String(whole["name"]),
      description: (whole["description"] as string | undefined) ?? null,
      params: whole["params"] ?? null,
      max_recovery_attempts:
        (whole["max_recovery_attempts"] as number | undefined) ?? STEP_DEFAULTS.max_recovery_attempts,
      steps: steps.map((step, index) => completed(step, resolved[index]?.dependencies ?? [])),
    },
  };
}

function completed(step: Readonly<Record<string, JsonValue>>, dependencies: number[]): StepDefinition {
  const each = eachOf(step);
  return {
    name: String(step["name"]),
    task_type: String(step["task_type"]),
    params: objectOf(step["params"]),
    dependencies,
    max_retries: (step["max_retries"] as number | undefined) ?? STEP_DEFAULTS.max_retries,
    timeout: (step["timeout"] as number | undefined) ?? null,
    estimated_duration: (step["estimated_duration"] as number | undefined) ?? null,
    when: (step["when"] as string | undefined) ?? null,
    for_each:
      each === null
        ? null
        : {
            in: each["in"] ?? null,
            concurrency: (each["concurrency"] as number | undefined) ?? STEP_DEFAULTS.concurrency,
            on_error: (each["on_error"] as "stop" | undefined) ?? STEP_DEFAULTS.on_error,
          },
  };
}

/** The list alone is short for one with the defaults. */
function eachOf({ for_each: each }: Readonly<Record<string, JsonValue>>): { [key: string]: JsonValue } | null {
  if (typeof each === "string" || Array.isArray(each)) return { in: each };
  return isObject(each) ? each : null;
}

function listOfEach(step: Readonly<Record<string, JsonValue>>): StepExpressions["list"] {
  const each = eachOf(step);
  return each === null
    ? null
    : { value: each["in"] ?? null, path: each === step["for_each"] ? "for_each.in" : "for_each" };
}

/** The name of each step; null: none that others could mean. */
function checkNames(steps: readonly Readonly<Record<string, JsonValue>>[], faults: Faults): (string | null)[] {
  const first = new Map<string, number>();
  return steps.map(({ name }, index) => {
    if (typeof name !== "string" || name === "") return null;
    const path = `steps[${index}].name`;
    if (!NAME.test(name) || name === "__proto__") {
      faults.add(path, "expected 1 to 100 letters, digits, spaces and _ . -, not beginning or ending with a space");
    }
    const before = first.get(name);
    if (before === undefined) first.set(name, index);
    else faults.add(path, `"${shortened(name)}" is already the name of steps[${before}]`);
    return name;
  });
}

function writtenDependencies(step: Readonly<Record<string, JsonValue>>): (string | number | null)[] {
  return listOf(step["dependencies"]).map((entry) =>
    typeof entry === "string" || (typeof entry === "number" && Number.isInteger(entry)) ? entry : null,
  );
}

/** The names that the workflow's params have; null: any. */
function checkParamsSchema(schema: JsonValue | undefined, faults: Faults): readonly string[] | null {
  if (schema === undefined || schema === null) return [];
  if (!isObject(schema)) return null;
  try {
    compileJsonSchema(schema, { defaults: true });
  } catch (error) {
    faults.add(`params${error instanceof SchemaError ? error.path : ""}`, messageOf(error));
    return null;
  }
  if (schema["type"] !== "object") faults.add("params.type", 'expected "object"');
  return closedKeys(schema);
}

function checkKind(step: Readonly<Record<string, JsonValue>>, prefix: string, kinds: KindLookup, faults: Faults): void {
  const kind = step["task_type"];
  if (typeof kind !== "string" || kind === "") return;
  const known = kinds.find(kind);
  if (known === undefined) {
    faults.add(`${prefix}task_type`, () => {
      const names = kinds.all().map((entry) => entry.kind);
      const hint = didYouMean(kind, names) || `: known are ${names.join(", ")}`;
      return `unknown step kind "${shortened(kind)}"${hint}`;
    });
    return;
  }
  const params = step["params"] ?? {};
  if (isObject(params)) faults.addAll(checkWrittenParams(known.params, params), prefix);
}

/** What a step that is done for each entry of a list says of them. */
const FOR_EACH_OUTPUT = ["total", "completed", "failed", "skipped"];

/** null: not known. */
function outputKeys(step: Readonly<Record<string, JsonValue>>, kinds: KindLookup): readonly string[] | null {
  if (eachOf(step) !== null) return FOR_EACH_OUTPUT;
  const kind = step["task_type"];
  const output = typeof kind === "string" ? kinds.find(kind)?.output : undefined;
  return output === undefined || !isObject(output) ? null : closedKeys(output);
}

function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: JsonValue | undefined): { [key: string]: JsonValue } {
  return isObject(value) ? value : {};
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Workflows written in TypeScript: steps whose params have the types of their kinds, and whose outputs feed each other.
 * The result is a plain definition, the same as in a file or in POST /workflows.
 */
import type { Static, TSchema } from "typebox";
import { OrbError } from "../base/errors.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { ForEach } from "../domain/workflow/definition.ts";
import { compileTemplate, compileWhen } from "../domain/workflow/expression.ts";
import { stepsNamed } from "../domain/workflow/expression-names.ts";
import { ExpressionError, type Node } from "../domain/workflow/expression-syntax.ts";
import { validateWorkflow } from "../domain/workflow/validate.ts";
import type { BuiltInKind } from "./built-in-kinds.ts";
import type { CustomStep } from "./define-step.ts";
import { type Given, partOf, type Reference, reference } from "./reference.ts";
import type { Item } from "./step-kind.ts";

// oxlint-disable-next-line no-explicit-any -- any custom step, whatever its types
type AnyStep = BuiltInKind<any, any> | CustomStep<any, any>;
type ParamsOf<Kind> =
  Kind extends BuiltInKind<infer Params, infer _>
    ? Params
    : Kind extends CustomStep<infer Schema, infer _>
      ? Static<Schema>
      : never;
type OutputOf<Kind> =
  Kind extends BuiltInKind<infer _, infer Output>
    ? Output
    : Kind extends CustomStep<infer _, infer Schema>
      ? Static<Schema>
      : never;

/** A definition as plain JSON. */
export interface WorkflowSource {
  name: string;
  description?: string;
  params?: JsonValue;
  max_recovery_attempts?: number;
  steps: StepSource[];
}

interface StepSource {
  name: string;
  task_type: string;
  params: Record<string, JsonValue>;
  dependencies: string[];
  max_retries?: number;
  timeout?: number;
  estimated_duration?: number;
  when?: string;
  for_each?: ForEachSource;
}

/** A list, or an expression that returns one, is short for `in` with the defaults. */
type ForEachSource = string | readonly JsonValue[] | ({ in: JsonValue } & Partial<Omit<ForEach, "in">>);

/** A step of the workflow being defined. */
export interface Step<Output> {
  readonly name: string;
  /** Its output, available after it has run. */
  readonly output: Reference<Output>;
  /** All its items, however many: for `flow.forEach`. */
  readonly items: Items;
}

/** Items are streamed one by one; they cannot be used as a list value. */
export interface Items {
  readonly itemsOf: string;
}

export interface StepOptions {
  /** Steps that must have ended, besides those whose outputs it uses. Their items are its inputs. */
  after?: readonly Step<unknown>[];
  /** If false, the step is skipped, and later steps continue without it. */
  when?: Reference<boolean> | string;
  max_retries?: number;
  timeout?: number;
  estimated_duration?: number;
}

/** The output of a step that runs for each entry of a list. */
interface ForEachOutput {
  total: number;
  completed: number;
  failed: number;
  skipped: number;
}

export interface Flow<Params> {
  /** The params of the workflow. */
  readonly params: Reference<Params>;
  step<Kind extends AnyStep>(
    name: string,
    kind: Kind,
    params: Given<ParamsOf<Kind>>,
    options?: StepOptions,
  ): Step<OutputOf<Kind>>;
  /** Runs the step once per entry; `params` are those of one entry. */
  forEach<Kind extends AnyStep, Entry = Item>(
    name: string,
    kind: Kind,
    list: Items | Given<readonly Entry[]>,
    params: (item: Reference<Entry>, index: Reference<number>) => Given<ParamsOf<Kind>>,
    options?: StepOptions & Partial<Omit<ForEach, "in">>,
  ): Step<ForEachOutput>;
}

export interface WorkflowOptions<Schema extends TSchema> {
  name: string;
  description?: string;
  /** A JSON Schema of an object, written by hand or with TypeBox, with defaults. */
  params?: Schema;
  max_recovery_attempts?: number;
}

/** Throws with every error of the definition. */
export function defineWorkflow<const Schema extends TSchema = Readonly<Record<string, never>>>(
  options: WorkflowOptions<Schema>,
  write: (flow: Flow<Static<Schema>>) => void,
): WorkflowSource {
  const steps: StepSource[] = [];
  const schemas = new Map<string, { params: JsonValue; output?: JsonValue }>();
  const add = <Output>(
    name: string,
    kind: AnyStep,
    params: unknown,
    { after = [], when, ...rest }: StepOptions & Pick<StepSource, "for_each"> = {},
  ): Step<Output> => {
    // Built-in kinds are checked by types here, and by the server.
    schemas.set(kind.kind, "params" in kind ? schemasOf(kind) : { params: { type: "object" } });
    const step = { task_type: kind.kind, params: plain(params) as Record<string, JsonValue>, ...rest };
    const condition = when === undefined ? null : String(when);
    const named = [...stepsIn(step), ...(condition === null ? [] : readOrNone(() => [compileWhen(condition)]))];
    const dependencies = [...new Set([...after.map((other) => other.name), ...named])];
    steps.push({ name, ...step, ...(condition === null ? {} : { when: condition }), dependencies });
    return { name, output: reference(`steps${partOf(name)}.output`), items: { itemsOf: name } };
  };
  write({
    params: reference("params"),
    step: (name, kind, params, more) => add(name, kind, params, more),
    forEach: (name, kind, list, params, { concurrency, on_error, ...more } = {}) =>
      add(name, kind, params(reference("item"), reference("index")), {
        ...more,
        for_each: {
          in: isItems(list) ? `\${{ steps${partOf(list.itemsOf)}.items }}` : plain(list),
          ...(concurrency === undefined ? {} : { concurrency }),
          ...(on_error === undefined ? {} : { on_error }),
        },
      }),
  });
  const source = plain({ ...options, steps }) as unknown as WorkflowSource;
  const kinds = {
    find: (kind: string) => schemas.get(kind),
    all: () => [...schemas.keys()].map((kind) => ({ kind })),
  };
  const { errors } = validateWorkflow(source, kinds);
  if (errors === undefined) return source;
  const list = errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  throw new OrbError("input_invalid", `the workflow ${options.name} is invalid: ${list.join("; ")}`, {
    fields: errors,
  });
}

function schemasOf({ params, output }: CustomStep): { params: JsonValue; output?: JsonValue } {
  return { params: plain(params), ...(output === undefined ? {} : { output: plain(output) }) };
}

/** References become expressions, and undefined values are omitted. */
function plain(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

function isItems(list: unknown): list is Items {
  // A reference answers to every key, but has no keys.
  return typeof list === "object" && list !== null && Object.hasOwn(list, "itemsOf");
}

/** The steps that expressions anywhere in it refer to. */
function stepsIn(value: unknown): string[] {
  if (typeof value === "string") return readOrNone(() => compileTemplate(value)?.parts ?? []);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stepsIn) : [];
}

/** An unparsable expression refers to no step; it is reported when the workflow is complete. */
function readOrNone(read: () => readonly (string | Node)[]): string[] {
  try {
    return read().flatMap((part) => (typeof part === "string" ? [] : stepsNamed(part)));
  } catch (error) {
    if (error instanceof ExpressionError) return [];
    throw error;
  }
}

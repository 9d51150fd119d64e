/**
 * Secrets in workflows: values whose schema says `writeOnly`, in params of steps and of the workflow, and `user:password@`
 * in any URL. They are stored sealed, opened where the step runs, and shown as `***`. Expressions are not sealed.
 */
import { isDeepStrictEqual } from "node:util";
import type { Seal } from "../../../base/seal.ts";
import type { JsonValue } from "../../lane/queue-item.ts";
import {
  HIDDEN,
  isSealed,
  keepHiddenUserinfo,
  mapTexts,
  openAddresses,
  openedOrNull,
  openWhole,
  SEALED_MARK,
  sealAddress,
  sealedUserinfo,
  sealWhole,
  withoutSecrets,
} from "../../text/sealed-text.ts";
import { changeAt, valueAt, type Way, waysInStep, waysOf } from "./secret-ways.ts";

type Params = Readonly<Record<string, JsonValue>>;
type ReportField = (path: string, message: string) => void;

/** What the step is to work with. Throws `secret_key_wrong`. */
export function openSecrets(seal: Seal, schema: JsonValue, params: Params): Params {
  const whole = changeAt(params, waysInStep(schema, params), (value) =>
    isSealed(value) ? openWhole(seal, value) : value,
  );
  return openAddresses(seal, whole) as Params;
}

/** A definition for people. What is older than the seal is hidden, too. */
export function shownDefinition<T>(definition: T): T {
  const { params } = definition as Written;
  return withoutSecrets(params === undefined ? definition : { ...definition, params: shownSchema(params) });
}

export function shownSchema(schema: JsonValue): JsonValue {
  return withoutSecrets(changeDefaults(schema, () => HIDDEN));
}

/** The params of a workflow for people. What is older than the seal is hidden, too. */
export function shownParams(schema: JsonValue, params: Params): Params {
  return withoutSecrets(changeAt(params, waysOf(schema), () => HIDDEN)) as Params;
}

/** As they are stored. What was kept from `before` unopened stays. */
export function sealParams(seal: Seal, schema: JsonValue, params: Params, before: Params = {}): Params {
  const sealed = changeAt(params, waysOf(schema), (value, path) =>
    isSealed(value) && valueAt(before, path) === value ? value : sealWhole(seal, value),
  );
  return mapTexts(sealed, (text, path) =>
    isSealed(text) || !text.includes("@") ? text : sealAddress(seal, text, sealedUserinfo(valueAt(before, path))),
  ) as Params;
}

/** True: stored params have something sealed. */
export function hasSecrets(params: Params): boolean {
  return JSON.stringify(params).includes(SEALED_MARK);
}

/**
 * Replaces `***` in params by the stored value in `before`, in clear text; a `***` without one is reported with its path.
 * Values that the current key cannot open stay sealed: the step that needs them fails with that reason.
 */
export function keepHiddenParams(
  seal: Seal,
  schema: JsonValue,
  params: Params,
  before: Params,
  report: ReportField,
): Params {
  const missing = (path: readonly string[]) =>
    report(pathOf(path).replace(/^\./, ""), `${HIDDEN} ${NOT_KEPT} param before: ${GIVE}`);
  const whole = changeAt(params, waysOf(schema), (value, path) => {
    const known = valueAt(before, path);
    if (value !== HIDDEN) return isSealed(value) && value === known ? opened(seal, value) : value;
    if (known === undefined || known === null || typeof known === "object") missing(path);
    return isSealed(known) ? opened(seal, known) : ((known ?? value) as JsonValue);
  });
  return mapTexts(whole, (text, path) => {
    if (!text.includes("@")) return text;
    const known = valueAt(before, path);
    const kept = keepHiddenUserinfo(text, known, () => missing(path));
    const isOurs =
      typeof known === "string" && [...sealedUserinfo(kept)].every((one) => sealedUserinfo(known).has(one));
    return isOurs ? (openedOrNull(() => openAddresses(seal, kept)) ?? kept) : kept;
  }) as Params;
}

const NOT_KEPT = "is a placeholder for a stored value, but there was no such";
const GIVE = "send the value itself";

function opened(seal: Seal, text: string): JsonValue {
  return openedOrNull(() => openWhole(seal, text)) ?? text;
}

/** The schema of a workflow's params, with the defaults of its secrets in clear as far as they can be opened. */
export function openSchema<T extends JsonValue>(seal: Seal, schema: T): T {
  const whole = changeDefaults(schema, (value) => (isSealed(value) ? opened(seal, value) : value));
  return (openedOrNull(() => openAddresses(seal, whole)) ?? whole) as T;
}

type Change = (value: JsonValue, path: readonly string[]) => JsonValue;

/** Changes what stands in a schema as the default of a secret. The same object where there is none. */
function changeDefaults(schema: JsonValue, change: Change, path: readonly string[] = []): JsonValue {
  if (typeof schema !== "object" || schema === null) return schema;
  let isChanged = false;
  const inner = ([key, entry]: [string, JsonValue]): [string, JsonValue] => {
    const at = [...path, key];
    // A property may be called `default`.
    const isDefault = key === "default" && path.at(-1) !== "properties" && !Array.isArray(schema);
    const hidden = isDefault
      ? changeAt(entry, waysOf(schema), (value, to) => change(value, [...at, ...to]))
      : changeDefaults(entry, change, at);
    isChanged ||= !isDeepStrictEqual(hidden, entry);
    return [key, hidden];
  };
  const entries = Object.entries(schema).map(inner);
  if (!isChanged) return schema;
  return Array.isArray(schema) ? entries.map(([, entry]) => entry) : Object.fromEntries(entries);
}

interface WrittenStep {
  name?: JsonValue;
  task_type?: JsonValue;
  params?: Params;
}

interface Written {
  params?: JsonValue;
  steps?: WrittenStep[];
}

/**
 * Seals a validated definition for storage. A `***` keeps the value in `before` if the other params of the step are the
 * same: a secret for one address is not sent to another. A `***` inside a URL keeps the credentials of the same host. Any
 * other `***` is reported with its path.
 */
export function sealDefinition<T>(
  seal: Seal,
  schemaOf: (kind: string) => JsonValue | undefined,
  definition: T,
  before: unknown,
  report: ReportField,
): T {
  const written = definition as Written;
  const old = (before ?? {}) as Written;
  const earlier = new Map((old.steps ?? []).map((step) => [step.name, step]));
  const steps = (written.steps ?? []).map((step, index) => {
    const at = `steps[${index}]`;
    const oldStep = earlier.get(step.name);
    const sealed = sealStep(seal, schemaOf(String(step.task_type)) ?? null, step, oldStep, (path, message) =>
      report(`${at}.params${path}`, message),
    );
    return sealTexts(seal, sealed, oldStep, (path, message) => report(`${at}${path}`, message));
  });
  const { steps: _, ...rest } = {
    ...written,
    params: sealDefaults(seal, written.params ?? null, old.params ?? null, report),
  };
  const { steps: __, ...oldRest } = old;
  const about = sealTexts(seal, rest, oldRest, (path, message) => report(path.replace(/^\./, ""), message));
  // As it was written: what was not there is not there.
  if (written.params === undefined) delete (about as Written).params;
  return { ...about, steps } as T;
}

function sealStep(
  seal: Seal,
  schema: JsonValue,
  step: WrittenStep,
  old: WrittenStep | undefined,
  report: ReportField,
): WrittenStep {
  const ways = waysInStep(schema, step.params ?? {});
  if (ways.length === 0 || step.params === undefined) return step;
  const same = old !== undefined && old.task_type === step.task_type && looksSame(old.params, step.params, ways);
  const params = changeAt(step.params, ways, (value, path) => {
    const known = same ? valueAt(old.params, path) : undefined;
    if (isSealed(known) && (value === HIDDEN || value === known || opened(seal, known) === value)) return known;
    if (value === HIDDEN)
      report(
        pathOf(path),
        `${HIDDEN} is a placeholder for a value that is kept only while the step stays the same: ${GIVE}`,
      );
    return isExpression(value) ? value : sealWhole(seal, value);
  });
  return { ...step, params: params as Params };
}

function sealDefaults(seal: Seal, schema: JsonValue, old: JsonValue, report: ReportField): JsonValue {
  return changeDefaults(schema, (value, path) => {
    const known = valueAt(old, path);
    if (isSealed(known) && (value === HIDDEN || value === known || opened(seal, known) === value)) return known;
    if (value === HIDDEN) report(`params${pathOf(path)}`, `${HIDDEN} ${NOT_KEPT} default before: ${GIVE}`);
    return sealWhole(seal, value);
  });
}

/** Credentials in the addresses of one part of a definition. */
function sealTexts<T>(seal: Seal, part: T, old: unknown, report: ReportField): T {
  return mapTexts(part as JsonValue, (text, path) => {
    if (isSealed(text) || !text.includes("@")) return text;
    const before = valueAt(old as JsonValue, path);
    const missing = () => report(pathOf(path), `${HIDDEN} ${NOT_KEPT} URL before, at the same host: ${GIVE}`);
    const kept = keepHiddenUserinfo(text, before, missing);
    const isSame = typeof before === "string" && openedOrNull(() => openAddresses(seal, before)) === kept;
    // What is equal makes no new version of a template.
    const known = sealedUserinfo(before);
    return isSame && known.size > 0 ? before : sealAddress(seal, kept, known);
  }) as T;
}

function pathOf(path: readonly string[]): string {
  return path.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`)).join("");
}

function isExpression(value: JsonValue): boolean {
  return typeof value === "string" && value.includes("${{");
}

function looksSame(old: Params | undefined, params: Params, ways: readonly Way[]): boolean {
  const shown = (value: JsonValue) =>
    withoutSecrets(changeAt(value, ways, (inner) => (isExpression(inner) ? inner : HIDDEN)));
  return isDeepStrictEqual(shown(old ?? {}), shown(params));
}

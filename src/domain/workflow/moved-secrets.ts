/**
 * Stored secrets that a change of a workflow would send elsewhere. Who may change a workflow may not read its secrets: one
 * is kept while the steps that use it stay the same, and send it to the same sites.
 */
import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "../lane/queue-item.ts";
import { HIDDEN, mapTexts, SEALED_MARK, withoutSecrets } from "../text/sealed-text.ts";

type Params = Readonly<Record<string, JsonValue>>;

export interface SecretsAt {
  /** Null: there was none. */
  definition: unknown;
  params: Params;
}

interface Step {
  name?: JsonValue;
  task_type?: JsonValue;
  params?: Params;
  dependencies?: JsonValue;
}

interface Written {
  params?: JsonValue;
  steps?: readonly Step[];
}

/** The names of params whose stored secrets must be sent again, and why. */
export function movedSecrets(before: SecretsAt, after: SecretsAt): { param: string; message: string }[] {
  const [old, now] = [(before.definition ?? {}) as Written, (after.definition ?? {}) as Written];
  const kept = keptNames(old, before.params, now, after.params);
  const [oldSteps, steps] = [namedSteps(old), namedSteps(now)];
  if (kept.length === 0 && !hasHidden(steps as unknown as JsonValue)) return [];
  const [oldParams, params] = [withDefaults(old, before.params), withDefaults(now, after.params)];
  const known = originsIn([oldParams as JsonValue, oldSteps as unknown as JsonValue]);
  const byName = new Map(oldSteps.map((step) => [step.name, step]));
  const isSame = (step: Step) => isDeepStrictEqual(withoutSecrets(step), withoutSecrets(byName.get(step.name) ?? null));
  /** Params, other than secrets, that lead these texts to another address. */
  const leading = (texts: readonly Text[]) =>
    [...new Set([...Object.keys(oldParams), ...Object.keys(params)])].filter((name) => {
      const [value, was] = [params[name] ?? null, oldParams[name] ?? null];
      if (kept.includes(name) || isDeepStrictEqual(value, was) || !mentions(texts, name)) return false;
      return isPartOfHost(texts, name) || [...originsIn([value])].some((origin) => !known.has(origin));
    });
  const moved = new Map<string, string>();
  for (const [index, step] of steps.entries()) {
    const texts = textsOf(step as JsonValue);
    const secrets = kept.filter((name) => mentions(texts, name));
    if (!isSame(step)) for (const name of secrets) moved.set(name, STEP);
    const isSending = texts.some(({ key, text }) => key !== "proxy" && (isHidden(text) || usesAny(text, secrets)));
    if (!isSame(step) || !isSending) continue;
    const message = addressOf(String(step.name));
    for (const name of leading(texts)) moved.set(name, message);
    if (!takesAddress(step)) continue;
    // Its address comes from the steps before it.
    for (const earlier of steps.slice(0, index)) {
      for (const name of leading(textsOf(earlier as JsonValue))) moved.set(name, message);
      if (!isSame(earlier)) for (const name of secrets) moved.set(name, STEP);
    }
  }
  return [...moved].map(([param, message]) => ({ param, message }));
}

/** With the names of the steps that they depend on: another step before them changes their numbers. */
function namedSteps({ steps = [] }: Written): Step[] {
  const nameOf = (entry: JsonValue) => (typeof entry === "number" ? (steps[entry]?.name ?? entry) : entry);
  return steps.map((step) =>
    Array.isArray(step.dependencies) ? { ...step, dependencies: step.dependencies.map(nameOf) } : step,
  );
}

function withDefaults({ params: schema }: Written, params: Params): Params {
  const defaults = Object.entries(objectOf(objectOf(schema)["properties"])).flatMap(([name, entry]) => {
    const value = objectOf(entry)["default"];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(defaults), ...params };
}

/** The addresses that a step asks are those of its items, or of what other steps gave. */
function takesAddress({ task_type: kind, params = {} }: Step): boolean {
  const named = ["url", "urls", "endpoint"].map((name) => params[name] ?? null);
  if (kind === "scrape" && named.every((value) => value === null)) return true;
  return textsOf(named).some(({ text }) => /\$\{\{[^}]*\b(steps|item|items|inputs?)\b/.test(text));
}

const STEP = `${HIDDEN} is a placeholder for a value that is kept only while the steps that use it stay the same: send the value itself`;
const addressOf = (step: string) =>
  `the step ${step} would send its stored secrets to another address: send the secrets again, in a definition or as params`;

/** Params, or defaults of params, of which a stored secret is kept. */
function keptNames(old: Written, before: Params, now: Written, after: Params): string[] {
  const [oldDefaults, defaults] = [withDefaults(old, {}), withDefaults(now, {})];
  const wasSecret = (name: string) => hasHidden(before[name]) || hasHidden(oldDefaults[name]);
  const kept = Object.entries({ ...defaults, ...after }).filter(([name, value]) => hasHidden(value) && wasSecret(name));
  return kept.map(([name]) => name);
}

interface Text {
  /** The name of the param of the step that it belongs to. */
  key: string;
  text: string;
}

function textsOf(step: JsonValue): Text[] {
  const texts: Text[] = [];
  mapTexts(step, (text, path) => {
    texts.push({ key: path[0] === "params" ? (path[1] ?? "") : (path[0] ?? ""), text });
    return text;
  });
  return texts;
}

const isHidden = (text: string) => text === HIDDEN || text.startsWith(SEALED_MARK);
const isPartlyHidden = (text: string) => isHidden(text) || text.includes(SEALED_MARK) || text.includes(`://${HIDDEN}@`);

function hasHidden(value: JsonValue | undefined): boolean {
  return value !== undefined && textsOf([value]).some(({ text }) => isPartlyHidden(text));
}

const PARAMS = /\bparams\b(?:\s*\.\s*([\w-]+)|\s*\[\s*["']([^"']*)["']\s*\])?/g;

/** Whether an expression has this param, or all of them. */
function uses(text: string, name: string): boolean {
  if (!text.includes("params")) return false;
  return [...text.matchAll(PARAMS)].some(([, named, quoted]) => (named ?? quoted ?? name) === name);
}

const usesAny = (text: string, names: readonly string[]) => names.some((name) => uses(text, name));
const mentions = (texts: readonly Text[], name: string) => texts.some(({ text }) => uses(text, name));

/** `https://${{ params.name }}.example.com/`, `${{ params.name }}/path`, `${{ 'https://' + params.name }}` */
function isPartOfHost(texts: readonly Text[], name: string): boolean {
  return texts.some(({ text }) => {
    const [host = ""] = /:\/\/(?:\$\{\{[^}]*\}\}|[^/?#])*/.exec(text) ?? [];
    const [, first = "", rest = ""] = /^\s*(\$\{\{[^}]*\}\})([^]*)$/.exec(text) ?? [];
    const isStart = /^[:/\\]/.test(rest) || /:[/\\]/.test(first);
    return (host.includes("${{") && uses(host, name)) || (isStart && uses(first, name));
  });
}

/** As `URL` reads them: `https:a.example` is an address, too. */
function originsIn(values: readonly JsonValue[]): Set<string> {
  const addresses = textsOf(values as JsonValue).flatMap(({ text }) => [
    ...(text.match(/[a-z][a-z\d+.-]*:\/\/[^\s"'<>]+/gi) ?? []),
    ...(/^\s*(?:https?:|[/\\]{2})/i.test(text) ? [text] : []),
  ]);
  return new Set(addresses.map((address) => URL.parse(address, "https://relative.invalid")?.origin ?? address));
}

function objectOf(value: JsonValue | undefined): { readonly [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

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

interface Written {
  params?: JsonValue;
  steps?: readonly { name?: JsonValue }[];
}

/** The names of params whose stored secrets must be sent again, and why. */
export function movedSecrets(before: SecretsAt, after: SecretsAt): { param: string; message: string }[] {
  const [old, now] = [(before.definition ?? {}) as Written, (after.definition ?? {}) as Written];
  const kept = keptNames(now.params, after.params);
  if (kept.length === 0 && !hasHidden((now.steps ?? null) as JsonValue)) return [];
  const oldSteps = new Map((old.steps ?? []).map((step) => [step.name, step]));
  const known = originsIn([before.params, old as JsonValue]);
  const moved = new Map<string, string>();
  for (const step of now.steps ?? []) {
    const texts = textsOf(step as JsonValue);
    const secrets = kept.filter((name) => mentions(texts, name));
    const isSame = isDeepStrictEqual(withoutSecrets(step), withoutSecrets(oldSteps.get(step.name) ?? null));
    if (!isSame) for (const name of secrets) moved.set(name, STEP);
    const isSending = texts.some(({ key, text }) => key !== "proxy" && (isHidden(text) || usesAny(text, secrets)));
    if (!isSame || !isSending) continue;
    for (const [name, value] of Object.entries(after.params)) {
      if (kept.includes(name) || !mentions(texts, name) || isDeepStrictEqual(value, before.params[name])) continue;
      if (isPartOfHost(texts, name) || [...originsIn([value])].some((origin) => !known.has(origin)))
        moved.set(name, addressOf(String(step.name)));
    }
  }
  return [...moved].map(([param, message]) => ({ param, message }));
}

const STEP = `${HIDDEN} is a placeholder for a value that is kept only while the steps that use it stay the same: send the value itself`;
const addressOf = (step: string) =>
  `the step ${step} would send its stored secrets to another address: send the secrets again, in a definition or as params`;

/** Params, or defaults of params, of which a stored secret is kept. */
function keptNames(schema: JsonValue | undefined, params: Params): string[] {
  const { properties } = objectOf(schema);
  const defaults = Object.entries(objectOf(properties)).filter(
    ([name, entry]) => params[name] === undefined && hasHidden(objectOf(entry)["default"]),
  );
  const given = Object.entries(params).filter(([, value]) => hasHidden(value));
  return [...defaults, ...given].map(([name]) => name);
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

function hasHidden(value: JsonValue | undefined): boolean {
  return (
    value !== undefined && textsOf([value]).some(({ text }) => text.includes(HIDDEN) || text.includes(SEALED_MARK))
  );
}

const PARAMS = /\bparams\b(?:\s*\.\s*([\w-]+)|\s*\[\s*["']([^"']*)["']\s*\])?/g;

/** Whether an expression has this param, or all of them. */
function uses(text: string, name: string): boolean {
  if (!text.includes("params")) return false;
  return [...text.matchAll(PARAMS)].some(([, named, quoted]) => (named ?? quoted ?? name) === name);
}

const usesAny = (text: string, names: readonly string[]) => names.some((name) => uses(text, name));
const mentions = (texts: readonly Text[], name: string) => texts.some(({ text }) => uses(text, name));

/** `https://${{ params.name }}.example.com/` */
function isPartOfHost(texts: readonly Text[], name: string): boolean {
  return texts.some(({ text }) => {
    const host = /:\/\/((?:\$\{\{[^}]*\}\}|[^/?#])*)/.exec(text)?.[1] ?? "";
    return host.includes("${{") && uses(host, name);
  });
}

function originsIn(values: readonly JsonValue[]): Set<string> {
  const addresses = textsOf(values as JsonValue).flatMap(
    ({ text }) => text.match(/[a-z][a-z\d+.-]*:\/\/[^\s"'<>]+/gi) ?? [],
  );
  return new Set(addresses.map((address) => URL.parse(address)?.origin ?? address));
}

function objectOf(value: JsonValue | undefined): { readonly [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

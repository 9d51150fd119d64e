/**
 * Stored secrets that a change of a workflow would send elsewhere. Who may change a workflow may not read its secrets: one
 * is kept while the steps that use it stay the same, and send it to the same sites.
 */
import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "../../lane/queue-item.ts";
import { HIDDEN, SEALED_MARK, withoutSecrets } from "../../text/sealed-text.ts";
import { isAddress, isFound, leadsToHost, originsIn, type StepText, textsOf, uses } from "./step-addresses.ts";

type Params = Readonly<Record<string, JsonValue>>;

export interface SecretsAt {
  /** Null: there was none. */
  definition: unknown;
  params: Params;
}

/** What must be sent again, and why. */
export interface MovedSecret {
  part: "params" | "definition";
  /** The name of a param, or the path of a step. */
  path: string;
  message: string;
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

export function movedSecrets(before: SecretsAt, after: SecretsAt): MovedSecret[] {
  const [old, now] = [(before.definition ?? {}) as Written, (after.definition ?? {}) as Written];
  const oldParams = withDefaults(old, before.params);
  const params = withDefaults(now, after.params);
  const kept = Object.keys(params).filter((name) => hasHidden(params[name]) && hasHidden(oldParams[name]));
  const steps = namedSteps(now);
  if (kept.length === 0 && !steps.some((step) => hasHidden(step as JsonValue))) return [];
  const change = new ParamChanges(oldParams, params);
  const byName = new Map(namedSteps(old).map((step) => [step.name, step]));
  const moved = new Map<string, MovedSecret>();
  const report = (part: MovedSecret["part"], path: string, message: string) => {
    if (!moved.has(`${part} ${path}`)) moved.set(`${part} ${path}`, { part, path, message });
  };
  /** Of the steps before this one. */
  const leadingEarlier = new Set<string>();
  let isEarlierOther = false;
  for (const [index, step] of steps.entries()) {
    const texts = textsOf(step as JsonValue);
    const isSame = isDeepStrictEqual(withoutSecrets(step), withoutSecrets(byName.get(step.name) ?? null));
    const secrets = kept.filter((name) => texts.some(({ text }) => uses(text, name)));
    const own = texts.some(({ key, text }) => key !== "proxy" && isHidden(text));
    const isSending = own || texts.some(({ key, text }) => key !== "proxy" && secrets.some((name) => uses(text, name)));
    const leading = change.leading(step, texts);
    if (!isSame) for (const name of secrets) report("params", name, STEP);
    else if (isSending) {
      const message = addressOf(String(step.name));
      for (const name of leading) report("params", name, message);
      if (takesAddress(step, texts)) {
        for (const name of leadingEarlier) report("params", name, message);
        if (isEarlierOther) for (const name of secrets) report("params", name, STEP);
        if (isEarlierOther && own) report("definition", `steps[${index}].params`, EARLIER);
      }
    }
    for (const name of leading) leadingEarlier.add(name);
    isEarlierOther ||= !isSame;
  }
  return [...moved.values()];
}

const STEP =
  "the stored value is kept only while the steps that use it, and those that find its address, stay the same: send the value itself";
const EARLIER = `an earlier step, which finds the address that gets the stored secrets of this step, has changed: send them again`;
const addressOf = (step: string) =>
  `the step ${step} would send its stored secrets to another address: send the secrets again, in a definition or as params`;

/** Params that have other values than before. */
class ParamChanges {
  readonly #old: Params;
  readonly #now: Params;
  /** By changed param, the origins of its new value that it did not have. */
  readonly #origins = new Map<string, ReadonlySet<string>>();

  constructor(old: Params, now: Params) {
    this.#old = old;
    this.#now = now;
    for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
      const [was, value] = [withoutSecrets(old[name] ?? null), withoutSecrets(now[name] ?? null)];
      if (isDeepStrictEqual(value, was) || value === HIDDEN) continue;
      const before = originsIn(was);
      this.#origins.set(name, new Set([...originsIn(value)].filter((origin) => !before.has(origin))));
    }
  }

  /** Those that lead a step to another address. */
  leading({ task_type: kind }: Step, texts: readonly StepText[]): string[] {
    if (this.#origins.size === 0) return [];
    const addresses = texts.filter(({ key }) => isAddress(kind, key));
    const known = originsIn(addresses.map(({ text }) => text));
    return [...this.#origins.keys()].filter((name) => {
      const using = addresses.filter(({ text }) => uses(text, name));
      if (using.length === 0) return false;
      const values = [this.#old[name], this.#now[name]];
      return (
        [...this.#origins.get(name)!].some((origin) => !known.has(origin)) ||
        using.some(({ text }) => leadsToHost(text, name, values))
      );
    });
  }
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
function takesAddress({ task_type: kind, params = {} }: Step, texts: readonly StepText[]): boolean {
  const isOfItems = kind === "scrape" && ["url", "urls", "replay"].every((name) => (params[name] ?? null) === null);
  return isOfItems || texts.some(({ key, text }) => isAddress(kind, key) && isFound(text));
}

const isHidden = (text: string) => text === HIDDEN || text.startsWith(SEALED_MARK);
const isPartlyHidden = (text: string) => isHidden(text) || text.includes(SEALED_MARK) || text.includes(`://${HIDDEN}@`);

function hasHidden(value: JsonValue | undefined): boolean {
  return value !== undefined && textsOf([value]).some(({ text }) => isPartlyHidden(text));
}

function objectOf(value: JsonValue | undefined): { readonly [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

/**
 * Entries of a `for_each` are stored as tasks. One that repeats a secret of the workflow's params is sealed as a whole; in the
 * others, `user:password@` of addresses is.
 */
import type { Seal } from "../../base/seal.ts";
import type { JsonValue } from "../lane/queue-item.ts";
import {
  HIDDEN,
  openAddresses,
  openWhole,
  sealAddresses,
  sealWhole,
  withoutCredentials,
  withoutSecrets,
} from "../text/sealed-text.ts";
import type { StepPayload } from "./definition.ts";
import { changeAt, waysOf } from "./secrets/secret-ways.ts";

const SEALED = "orb-sealed-entry";

/** The secrets among the params of a workflow, which are in clear. */
export function secretsIn(schema: JsonValue, params: Readonly<Record<string, JsonValue>>): ReadonlySet<JsonValue> {
  const found = new Set<JsonValue>();
  changeAt(params, waysOf(schema), (value) => {
    if (value !== "") found.add(value);
    return value;
  });
  return found;
}

export function sealEntry(seal: Seal, entry: JsonValue, secrets: ReadonlySet<JsonValue>): JsonValue {
  // What only looks sealed is sealed, so that opening gives it back.
  const isWhole = sealedText(entry) !== null || holdsOneOf(entry, secrets);
  return isWhole ? { [SEALED]: sealWhole(seal, entry) } : sealAddresses(seal, entry);
}

function holdsOneOf(entry: JsonValue, secrets: ReadonlySet<JsonValue>): boolean {
  if (secrets.size === 0) return false;
  const texts = [...secrets].map(String);
  const holds = (value: JsonValue): boolean => {
    if (value === null) return false;
    if (typeof value === "object") return Object.entries(value).some(([key, inner]) => holds(key) || holds(inner));
    const text = String(value);
    return secrets.has(value) || (typeof value === "string" && texts.some((secret) => text.includes(secret)));
  };
  return holds(entry);
}

function sealedText(entry: JsonValue): string | null {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return null;
  const text = entry[SEALED];
  return typeof text === "string" ? text : null;
}

/** Throws `secret_key_wrong`. */
export function openEntry(seal: Seal, payload: StepPayload): StepPayload {
  if (payload.item === undefined) return payload;
  const { index, value } = payload.item;
  const text = sealedText(value);
  return { ...payload, item: { index, value: text === null ? openAddresses(seal, value) : openWhole(seal, text) } };
}

/** For display. */
export function shownEntry(entry: JsonValue): JsonValue {
  return sealedText(entry) === null ? withoutSecrets(entry) : HIDDEN;
}

/** For the items that steps hand on. */
export function plainEntry(entry: JsonValue): JsonValue {
  return sealedText(entry) === null ? withoutCredentials(entry) : HIDDEN;
}

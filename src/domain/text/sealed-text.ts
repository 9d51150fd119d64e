/**
 * Secrets inside stored JSON: a text that is sealed as a whole (`orb-sealed:…`), and the `user:password@` of an address, of which
 * the rest stays readable (`https://orb-sealed:…@example.com/`). Both are opened where the work is done, and shown as `***`.
 */
import { isOrbError } from "../../base/errors.ts";
import type { Seal } from "../../base/seal.ts";
import type { JsonValue } from "../lane/queue-item.ts";

/** Placeholder for display. */
export const HIDDEN = "***";
export const SEALED_MARK = "orb-sealed:";
/** What sealed bytes are bound to. */
const SEALED_FOR_STEP = "step of a workflow";
const SEALED_FOR_ADDRESS = "credentials of an address";

/**
 * `://user:password@host`, in an address or in a text that has some. An expression may have spaces in it. Each character is read
 * by at most one match, so that it takes linear time.
 */
const USERINFO =
  /(:[/\\]{2,})((?:\$\{\{[^}]{0,1000}\}\}|\$(?!\{\{)|[^\s/\\?#$])+)@((?:\$\{\{[^}]{0,1000}\}\}|\$(?!\{\{)|[^\s/\\?#@$])*)/g;
const EXPRESSIONS = /\$\{\{[^}]*\}\}/g;
/** Longer URLs are rejected everywhere. */
const LONGEST_ADDRESS = 16_384;

/** True: the whole text is sealed. */
export function isSealed(value: unknown): value is `${typeof SEALED_MARK}${string}` {
  return typeof value === "string" && value.startsWith(SEALED_MARK);
}

/** True: it holds something sealed, in whole or in part. */
export function hasSealed(value: unknown): value is string {
  return typeof value === "string" && value.includes(SEALED_MARK);
}

export function sealWhole(seal: Seal, value: JsonValue): string {
  return `${SEALED_MARK}${Buffer.from(seal.close(value, SEALED_FOR_STEP)).toString("base64")}`;
}

/** Throws `secret_key_wrong`. */
export function openWhole(seal: Seal, text: string): JsonValue {
  return seal.open(Buffer.from(text.slice(SEALED_MARK.length), "base64"), SEALED_FOR_STEP) as JsonValue;
}

/** A copy with other texts; the same object where nothing changes. `path` is good until `change` returns. */
export function mapTexts(
  value: JsonValue,
  change: (text: string, path: readonly string[]) => JsonValue,
  path: string[] = [],
): JsonValue {
  if (typeof value === "string") return change(value, path);
  if (typeof value !== "object" || value === null) return value;
  // Lists may have a hundred thousand URLs: unchanged values are not copied.
  const from = value as Record<string, JsonValue>;
  let changedCopy: Record<string, JsonValue> | null = null;
  const keys = Array.isArray(value) ? null : Object.keys(value);
  const length = keys === null ? (value as JsonValue[]).length : keys.length;
  for (let at = 0; at < length; at += 1) {
    const key = keys === null ? at : (keys[at] as string);
    if (key === "__proto__") continue;
    const entry = from[key] as JsonValue;
    if (typeof entry !== "string" && (typeof entry !== "object" || entry === null)) continue;
    path.push(String(key));
    const changed = mapTexts(entry, change, path);
    path.pop();
    if (changed === entry) continue;
    changedCopy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, JsonValue>;
    changedCopy[key] = changed;
  }
  return (changedCopy ?? value) as JsonValue;
}

interface Userinfo {
  text: string;
  /** What stands behind the @: what was given for one host opens for no other. */
  host: string;
}

/** Changes each `user:password` in a text; null leaves it. */
function changeUserinfo(text: string, change: (userinfo: Userinfo) => string | null): string {
  if (!text.includes("@")) return text;
  return inUsualForm(text).replace(USERINFO, (all: string, lead: string, userinfo: string, host: string) => {
    if (userinfo.replaceAll(EXPRESSIONS, "").replaceAll(":", "") === "") return all;
    const replacement = change({ text: userinfo, host: host.toLowerCase() });
    return replacement === null ? all : `${lead}${replacement}@${host}`;
  });
}

/** URL parsers also take `http:user@host`, `http:///user@host`, spaces and line ends: those are written as everybody writes them. */
function inUsualForm(text: string): string {
  if (text.length > LONGEST_ADDRESS || text.includes("${{")) return text;
  const url = URL.parse(text);
  if (url === null || url.host === "" || (url.username === "" && url.password === "")) return text;
  const without = URL.parse(text.replace(USERINFO, "$1$3"));
  return without !== null && without.username === "" && without.password === "" ? text : url.href;
}

const isSealedUserinfo = (text: string) => text.startsWith(SEALED_MARK);
const aboutHost = (host: string) => `${SEALED_FOR_ADDRESS}\n${host}`;

function closeUserinfo(seal: Seal, { text, host }: Userinfo): string {
  return `${SEALED_MARK}${Buffer.from(seal.close(text, aboutHost(host))).toString("base64url")}`;
}

function openUserinfo(seal: Seal, { text, host }: Userinfo): string {
  return String(seal.open(Buffer.from(text.slice(SEALED_MARK.length), "base64url"), aboutHost(host)));
}

/** Null: sealed with another key, or not sealed by us. */
export function openedOrNull<T>(open: () => T): T | null {
  try {
    return open();
  } catch (error) {
    if (isOrbError(error, "secret_key_wrong")) return null;
    throw error;
  }
}

/** The address, or a text with addresses in it, as it is stored. What is in `known` is sealed already. */
export function sealAddress(seal: Seal, text: string, known?: ReadonlySet<string>): string {
  return changeUserinfo(text, (userinfo) =>
    known?.has(userinfo.text) === true ? null : closeUserinfo(seal, userinfo),
  );
}

/** The same for every text of a value. */
export function sealAddresses<T>(seal: Seal, value: T): T {
  return mapTexts(value as JsonValue, (text) => sealAddress(seal, text)) as T;
}

/** Throws `secret_key_wrong`. */
export function openAddress(seal: Seal, text: string): string {
  return hasSealed(text)
    ? changeUserinfo(text, (userinfo) => (isSealedUserinfo(userinfo.text) ? openUserinfo(seal, userinfo) : null))
    : text;
}

/** The same for every text of a value. */
export function openAddresses<T>(seal: Seal, value: T): T {
  return mapTexts(value as JsonValue, (text) => openAddress(seal, text)) as T;
}

/** What is kept where `***@` stands in place of what `before` has for the same host; `onMissing` where it has nothing. */
export function keepHiddenUserinfo(text: string, before: JsonValue | undefined, onMissing: () => void): string {
  if (!text.includes(`${HIDDEN}@`)) return text;
  const known = new Map<string, string>();
  // In the query of another address it would be sent there.
  if (typeof before === "string" && originOf(text) === originOf(before))
    changeUserinfo(before, (userinfo) => {
      known.set(userinfo.host, userinfo.text);
      return null;
    });
  return changeUserinfo(text, (userinfo) => {
    if (userinfo.text !== HIDDEN) return null;
    const kept = known.get(userinfo.host);
    if (kept === undefined) onMissing();
    return kept ?? null;
  });
}

function originOf(text: string): string | undefined {
  return URL.parse(changeUserinfo(text, () => HIDDEN))?.origin;
}

/** The sealed ones in a text. */
export function sealedUserinfo(text: JsonValue | undefined): Set<string> {
  const found = new Set<string>();
  if (typeof text === "string")
    changeUserinfo(text, (userinfo) => {
      if (isSealedUserinfo(userinfo.text)) found.add(userinfo.text);
      return null;
    });
  return found;
}

/** For display: `***` for all sealed values and for every `user:password@`, sealed or not, at any depth. */
export function withoutSecrets<T>(value: T): T {
  return mapTexts(value as JsonValue, (text) => (isSealed(text) ? HIDDEN : changeUserinfo(text, () => HIDDEN))) as T;
}

/** For data: URLs without `user:password@`, `***` for sealed values. */
export function withoutCredentials<T>(value: T): T {
  return mapTexts(value as JsonValue, (text) => {
    if (isSealed(text)) return HIDDEN;
    return text.includes("@") ? changeUserinfo(text, () => "").replaceAll(/(:[/\\]{2,})@/g, "$1") : text;
  }) as T;
}

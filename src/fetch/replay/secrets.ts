/** Recognises secrets, which must not be copied from a recording into a stored job. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { isObject } from "./json-body.ts";

const SECRET_NAME =
  /(?:^|-)(?:auth|authorization|authentication|cookie2?|token|secret|passw(?:or)?d|pwd|api-?key|access-?key|subscription-?key|session|sid|csrf|xsrf|jwt|signature|sig|credential|otp)s?(?:-|$)|(?:token|apikey|secret|password|sessid|sessionid)$/;
const SECRET_VALUE = /^(?:Bearer|Basic|Digest|Token|ApiKey)\s+\S|^eyJ[\w-]+\.[\w-]+\./i;

export function isSecret(name: string, value: unknown): boolean {
  const plain = name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-");
  return SECRET_NAME.test(plain) || (typeof value === "string" && SECRET_VALUE.test(value));
}

/** Paths of apparent secrets in a JSON body, lists included. */
export function secretPaths(json: JsonValue, depth = 20): string[][] {
  if (typeof json !== "object" || json === null || depth === 0) return [];
  return Object.entries(json).flatMap(([key, value]) => {
    const isHidden = isObject(value) || Array.isArray(value) ? false : isSecret(key, value);
    return isHidden ? [[key]] : secretPaths(value, depth - 1).map((names) => [key, ...names]);
  });
}

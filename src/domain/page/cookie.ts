/** Validates cookies. */
import type { Cookie } from "../text/credentials.ts";

// oxlint-disable-next-line no-control-regex
const COOKIE_PART = /^[^\x00-\x20\x7f;,"\\]*$/;

export function isCookieName(name: string): boolean {
  return name !== "" && COOKIE_PART.test(name) && !name.includes("=");
}

export function isCookieValue(value: string): boolean {
  return COOKIE_PART.test(value);
}

/** Bytes of name and value together, as in browsers. */
const MAX_COOKIE_BYTES = 4096;
const SAME_SITE: readonly unknown[] = ["Strict", "Lax", "None"] satisfies Cookie["sameSite"][];

/** Whether a browser accepts it. */
export function isUsableCookie(input: unknown): input is Cookie {
  if (typeof input !== "object" || input === null) return false;
  const { name, value, domain, path, expires, httpOnly, secure, sameSite } = input as Record<keyof Cookie, unknown>;
  if (typeof name !== "string" || typeof value !== "string") return false;
  return (
    isCookieName(name) &&
    isCookieValue(value) &&
    Buffer.byteLength(name) + Buffer.byteLength(value) <= MAX_COOKIE_BYTES &&
    (domain === undefined || typeof domain === "string") &&
    // oxlint-disable-next-line no-control-regex
    (path === undefined || (typeof path === "string" && /^\/[^\x00-\x1f\x7f;]*$/.test(path))) &&
    (expires === undefined || expires === -1 || (Number.isFinite(expires) && (expires as number) > 0)) &&
    (httpOnly === undefined || typeof httpOnly === "boolean") &&
    (secure === undefined || typeof secure === "boolean") &&
    (sameSite === undefined || SAME_SITE.includes(sameSite))
  );
}

/**
 * Parses cookies in common formats: JSON of a browser extension or of Playwright, a Netscape `cookies.txt`, or the value
 * of a `Cookie` header. Error messages never repeat the input.
 */
import type { Cookie } from "../text/credentials.ts";
import { isObject } from "../text/input-reader.ts";

type ReadCookies = { cookies: Cookie[] } | { error: string };

const EXPECTED =
  "expected cookies as JSON, as a Netscape cookies.txt, or as a Cookie header such as name=value; other=value";

export function readCookieText(text: string): ReadCookies {
  const trimmed = text.trim();
  if (trimmed === "") return { error: EXPECTED };
  if (/^[[{]/.test(trimmed)) return fromJson(trimmed);
  if (trimmed.includes("\t") || /^#\s*(?:Netscape|HTTP)/i.test(trimmed)) return fromNetscape(trimmed);
  return fromHeader(trimmed);
}

function fromJson(text: string): ReadCookies {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { error: "begins like JSON, but is not valid JSON: copy all of it" };
  }
  const inner = isObject(value) && Array.isArray(value["cookies"]) ? value["cookies"] : value;
  if (Array.isArray(inner)) {
    const cookies = inner.map(fromEntry);
    const invalid = cookies.indexOf(null);
    return invalid < 0
      ? { cookies: cookies as Cookie[] }
      : { error: `entry ${invalid + 1} of the list has no name and value` };
  }
  const pairs = isObject(inner) ? Object.entries(inner) : [];
  if (pairs.length === 0 || pairs.some(([, entry]) => typeof entry !== "string")) return { error: EXPECTED };
  return { cookies: pairs.map(([name, entry]) => ({ name, value: entry as string })) };
}

const SAME_SITE: Readonly<Record<string, Cookie["sameSite"]>> = {
  strict: "Strict",
  lax: "Lax",
  none: "None",
  no_restriction: "None",
};

/** Extensions use other names than Playwright for some fields. */
function fromEntry(entry: unknown): Cookie | null {
  if (!isObject(entry)) return null;
  const { name, value, domain, path, hostOnly, httpOnly, secure, sameSite } = entry;
  if (typeof name !== "string" || typeof value !== "string") return null;
  const expires = entry["expires"] ?? entry["expirationDate"];
  const cookieDomain = typeof domain === "string" && domain !== "" ? domain : undefined;
  const site = SAME_SITE[String(sameSite).toLowerCase()];
  return {
    name,
    value,
    ...(cookieDomain === undefined
      ? {}
      : { domain: hostOnly === true ? cookieDomain.replace(/^\./, "") : cookieDomain }),
    ...(typeof path === "string" && path.startsWith("/") ? { path } : {}),
    ...(typeof expires === "number" && expires > 0 ? { expires } : {}),
    ...(typeof httpOnly === "boolean" ? { httpOnly } : {}),
    ...(typeof secure === "boolean" ? { secure } : {}),
    ...(site === undefined ? {} : { sameSite: site }),
  };
}

const HTTP_ONLY = "#HttpOnly_";

/** Tab-separated: domain, include subdomains, path, secure, expiry, name, value. */
function fromNetscape(text: string): ReadCookies {
  const cookies: Cookie[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const isHttpOnly = line.startsWith(HTTP_ONLY);
    const row = isHttpOnly ? line.slice(HTTP_ONLY.length) : line;
    if (row.trim() === "" || row.startsWith("#")) continue;
    const [domain, subdomains, path, secure, expires, name, ...value] = row.split("\t");
    if (domain === undefined || domain === "" || name === undefined || name === "")
      return { error: `line ${index + 1} is not a cookies.txt line: expected 7 parts separated by tabs` };
    cookies.push({
      name,
      value: value.join("\t"),
      domain: subdomains === "TRUE" ? `.${domain.replace(/^\./, "")}` : domain.replace(/^\./, ""),
      ...(path?.startsWith("/") === true ? { path } : {}),
      ...(Number(expires) > 0 ? { expires: Number(expires) } : {}),
      secure: secure === "TRUE",
      ...(isHttpOnly ? { httpOnly: true } : {}),
    });
  }
  return cookies.length === 0 ? { error: "the cookies.txt contains no cookies" } : { cookies };
}

function fromHeader(text: string): ReadCookies {
  const cookies: Cookie[] = [];
  const parts = text.replace(/^cookie:\s*/i, "").split(/;|\r?\n/);
  for (const part of parts.map((text) => text.trim()).filter((text) => text !== "")) {
    const at = part.indexOf("=");
    if (at < 1) return { error: EXPECTED };
    cookies.push({ name: part.slice(0, at).trim(), value: part.slice(at + 1).trim() });
  }
  return cookies.length === 0 ? { error: EXPECTED } : { cookies };
}

/** Masks secrets in errors, in `orb config` and on pages. */
import type { Option } from "./option.ts";

const MASK = "********";

/** The text with secrets masked; may be one that could not be parsed. */
export function masked(option: Pick<Option<unknown>, "secret">, text: string): string {
  if (option.secret === "whole") return MASK;
  if (option.secret === "passwords") return withoutPasswords(text);
  return option.secret === "password" ? withoutPassword(text) : text;
}

/** A comma may be part of a mistyped password: then everything is hidden. */
function withoutPasswords(text: string): string {
  const parts = text.split(",").map((part) => part.trim());
  const areUrls = parts.every((part) => part === "local" || /^[a-z]+:\/\/[^/]/i.test(part));
  return areUrls ? parts.map((part) => (part === "local" ? part : withoutPassword(part))).join(",") : MASK;
}

/** Works on text, not on a parsed URL: a mistyped URL may contain a password too, so in doubt it hides more. */
export function withoutPassword(text: string): string {
  const at = text.lastIndexOf("@");
  const address = text.slice(at < 0 ? 0 : at).replace(/\?.*/, (query) => query.replace(/=[^&#]*/g, `=${MASK}`));
  if (at < 0) return address;
  const scheme = /^[a-z][a-z0-9+.-]*:?\/+/i.exec(text)?.[0] ?? "";
  const user = /^([^:@/]*):/.exec(text.slice(scheme.length, at))?.[1];
  return `${scheme}${scheme === "" || user === undefined ? MASK : `${user}:${MASK}`}${address}`;
}

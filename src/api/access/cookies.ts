/** Cookies of the dashboard: read from a request, and written so that scripts and other sites cannot use them. */
import type { ApiRequest } from "../instance.ts";
import { isSecure } from "../security.ts";

interface CookieOptions {
  seconds: number;
  /** `Lax`: sent when another site leads here, as a provider does. */
  sameSite?: "Strict" | "Lax";
  /** The address of this server for people, if it is known. */
  publicUrl?: string;
}

/** Empty: there is none. */
export function cookieOf(request: ApiRequest, name: string): string {
  const prefix = `${name}=`;
  const found = request.headers.cookie
    ?.split(";")
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix));
  return found?.slice(prefix.length) ?? "";
}

/** A cookie issued over TLS is sent over TLS only. */
export function cookieFor(
  request: ApiRequest,
  name: string,
  value: string,
  { seconds, sameSite = "Strict", publicUrl = "" }: CookieOptions,
): string {
  const cookie = `${name}=${value}; Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${seconds}`;
  return isSecure(request) || publicUrl.startsWith("https:") ? `${cookie}; Secure` : cookie;
}

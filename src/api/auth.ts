/** Who may call: whoever shows the token, or the cookie that showing it once was answered with. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { ApiDeps } from "./deps.ts";
import { type ApiInstance, type ApiRequest, UNSAFE_METHODS } from "./instance.ts";
import { ApiProblem } from "./problems.ts";
import { isSameOrigin, isSecure } from "./security.ts";

export const COOKIE_NAME = "orb_session";
const COOKIE_SECONDS = 7 * 86_400;
/** A cookie that is older is answered with a new one, so that whoever comes back within a week stays logged in. */
const FRESH_SECONDS = 86_400;

/** Compares in a time that depends on nothing but the length of what was given. */
export function sameSecret(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

/** The cookie proves that its owner once knew the token, until a time that is written in it; it does not hold the token. */
export function sessionCookie(request: ApiRequest, token: string, clock: Clock): string {
  const ends = Math.floor(clock.now() / 1000) + COOKIE_SECONDS;
  return cookieFor(request, `${ends}.${seal(token, ends)}`, COOKIE_SECONDS);
}

export const endedCookie = (request: ApiRequest) => cookieFor(request, "", 0);

/** Who has come over TLS sends it over TLS alone. */
function cookieFor(request: ApiRequest, value: string, seconds: number): string {
  const cookie = `${COOKIE_NAME}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;
  return isSecure(request) ? `${cookie}; Secure` : cookie;
}

function seal(token: string, ends: number): string {
  return createHmac("sha256", token).update(`orb session until ${ends}`).digest("base64url");
}

/** How long the caller's cookie is good for; 0: it has none that is. */
function secondsLeft(request: ApiRequest, token: string, clock: Clock): number {
  const match = /^(\d{1,12})\.([\w-]{43})$/.exec(cookieOf(request));
  if (match === null) return 0;
  const ends = Number(match[1]);
  return sameSecret(match[2] ?? "", seal(token, ends)) ? Math.max(0, ends - clock.now() / 1000) : 0;
}

function cookieOf(request: ApiRequest): string {
  const prefix = `${COOKIE_NAME}=`;
  const found = request.headers.cookie
    ?.split(";")
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix));
  return found?.slice(prefix.length) ?? "";
}

/** `password`: a browser asked its user, which it does for pages by itself. */
export type Proof = "none_needed" | "token" | "cookie" | "password";

/** How the caller has shown that it may call; null: it has not. */
export function proofOf(request: ApiRequest, { settings, clock }: Pick<ApiDeps, "settings" | "clock">): Proof | null {
  const { token } = settings;
  if (token === null) return "none_needed";
  const { authorization = "" } = request.headers;
  const password = passwordOf(authorization);
  if (authorization !== "" && password === null) {
    const given = /^Bearer +(\S+)\s*$/i.exec(authorization)?.[1];
    return given !== undefined && sameSecret(given, token) ? "token" : null;
  }
  // A browser sends it along to other addresses as well, also where other web sites ask it to: it opens pages alone.
  if (password !== null && isPage(request) && sameSecret(password, token)) return "password";
  return secondsLeft(request, token, clock) > 0 ? "cookie" : null;
}

const isPage = (request: ApiRequest) => request.routeOptions.config.page !== undefined;

/** What was given as a password, under whatever name. */
function passwordOf(authorization: string): string | null {
  const given = /^Basic +([\w+/=-]+)\s*$/i.exec(authorization)?.[1];
  if (given === undefined) return null;
  const pair = Buffer.from(given, "base64").toString();
  return pair.slice(pair.indexOf(":") + 1);
}

export function requireProof(api: ApiInstance, deps: ApiDeps): void {
  const { token } = deps.settings;
  api.addHook("onRequest", async (request, reply) => {
    if (request.routeOptions.config.open === true) return;
    const proof = proofOf(request, deps);
    if (proof === null) {
      const given = request.headers.authorization !== undefined;
      const bearer = given ? 'Bearer realm="orb", error="invalid_token"' : 'Bearer realm="orb"';
      throw new ApiProblem("unauthorized", given ? "the token is not the right one" : "the call shows no token", {
        // A browser then asks its user, who gives the token as the password.
        headers: { "www-authenticate": isPage(request) ? 'Basic realm="orb", charset="UTF-8"' : bearer },
      });
    }
    // A browser sends a cookie along without being asked: a change must be known to come from our own page.
    if (proof === "cookie" && UNSAFE_METHODS.has(request.method) && !isSameOrigin(request))
      throw new ApiProblem("forbidden_origin", "with a cookie, changes are taken from pages of this server alone");
    if (token === null) return;
    // What the page goes on to ask for is asked with the cookie.
    const isOld = () => secondsLeft(request, token, deps.clock) < COOKIE_SECONDS - FRESH_SECONDS;
    if (proof === "password" || (proof === "cookie" && isOld()))
      reply.header("set-cookie", sessionCookie(request, token, deps.clock));
  });
}

/** Authentication: by the token, or by the cookie that a login with the token returns. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { isOrbError } from "../base/errors.ts";
import type { ApiDeps } from "./deps.ts";
import { type ApiInstance, type ApiRequest, UNSAFE_METHODS } from "./instance.ts";
import { ApiProblem } from "./problems.ts";
import { isSameOrigin, isSecure } from "./security.ts";

const COOKIE_NAME = "orb_session";
const COOKIE_SECONDS = 7 * 86_400;
/** An older cookie is renewed, so that a user who returns within a week stays logged in. */
const FRESH_SECONDS = 86_400;

/** Constant time for inputs of the same length. */
export function sameSecret(actual: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(actual), digest(expected));
}

/**
 * The cookie proves that its owner knew the token and contains its expiry, not the token. All cookies of a login, which
 * is renewed while in use, carry the login's id: they end together.
 */
export function sessionCookie(request: ApiRequest, token: string, clock: Clock): string {
  const ends = Math.floor(clock.now() / 1000) + COOKIE_SECONDS;
  const id = loginOf(request, token, clock)?.id ?? randomBytes(16).toString("base64url");
  return cookieFor(request, `${ends}.${id}.${seal(token, ends, id)}`, COOKIE_SECONDS);
}

/** Ends the caller's login, if any: its cookies become invalid, including copies. */
export async function endLogin(request: ApiRequest, { settings, clock, store }: AuthDeps): Promise<void> {
  const login = settings.token === null ? null : loginOf(request, settings.token, clock);
  if (login !== null) await store.endLogin(login.id, clock.now() + COOKIE_SECONDS * 1000, clock.now());
}

type AuthDeps = Pick<ApiDeps, "settings" | "clock" | "store">;

export const endedCookie = (request: ApiRequest) => cookieFor(request, "", 0);

/** A cookie issued over TLS is sent over TLS only. */
function cookieFor(request: ApiRequest, value: string, seconds: number): string {
  const cookie = `${COOKIE_NAME}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;
  return isSecure(request) ? `${cookie}; Secure` : cookie;
}

function seal(token: string, ends: number, id: string | undefined): string {
  const login = id === undefined ? "" : ` of ${id}`;
  return createHmac("sha256", token).update(`orb session until ${ends}${login}`).digest("base64url");
}

interface Login {
  id: string;
  /** Remaining lifetime of its cookie. */
  secondsLeft: number;
}

/** The login of the caller's cookie; null: no valid one. The store knows whether it was ended. */
function loginOf(request: ApiRequest, token: string, clock: Clock): Login | null {
  const value = cookieOf(request);
  const match = /^(\d{1,12})(?:\.([\w-]{22}))?\.([\w-]{43})$/.exec(value);
  if (match === null) return null;
  const ends = Number(match[1]);
  if (!sameSecret(match[3] ?? "", seal(token, ends, match[2]))) return null;
  const secondsLeft = ends - clock.now() / 1000;
  if (secondsLeft <= 0) return null;
  // Cookies of earlier versions contain no login id.
  return { id: match[2] ?? createHash("sha256").update(value).digest("base64url").slice(0, 22), secondsLeft };
}

function cookieOf(request: ApiRequest): string {
  const prefix = `${COOKIE_NAME}=`;
  const found = request.headers.cookie
    ?.split(";")
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix));
  return found?.slice(prefix.length) ?? "";
}

/** `password`: Basic credentials, for which browsers prompt when they open a page. */
export type Proof = "none_needed" | "token" | "cookie" | "password";

/** How the caller authenticated; null: it did not. */
export async function proofOf(request: ApiRequest, { settings, clock, store }: AuthDeps): Promise<Proof | null> {
  const { token } = settings;
  if (token === null) return "none_needed";
  const { authorization = "" } = request.headers;
  const password = passwordOf(authorization);
  if (authorization !== "" && password === null) {
    const bearer = /^Bearer +(\S+)\s*$/i.exec(authorization)?.[1];
    return bearer !== undefined && sameSecret(bearer, token) ? "token" : null;
  }
  // Browsers attach Basic credentials to all paths, also for requests of other sites: accepted for pages only.
  if (password !== null && isPage(request) && sameSecret(password, token)) return "password";
  const login = loginOf(request, token, clock);
  if (login === null) return null;
  const hasEnded = await store.hasLoginEnded(login.id).catch((error: unknown) => {
    // The dashboard's own files contain no data, and can show that the database is unavailable.
    if (isPage(request) && isOrbError(error, "database_unavailable")) return false;
    throw error;
  });
  return hasEnded ? null : "cookie";
}

const isPage = (request: ApiRequest) => request.routeOptions.config.page !== undefined;

/** The password of Basic credentials; the user name is ignored. */
function passwordOf(authorization: string): string | null {
  const encoded = /^Basic +([\w+/=-]+)\s*$/i.exec(authorization)?.[1];
  if (encoded === undefined) return null;
  const pair = Buffer.from(encoded, "base64").toString();
  return pair.slice(pair.indexOf(":") + 1);
}

export function requireProof(api: ApiInstance, deps: ApiDeps): void {
  const { token } = deps.settings;
  api.addHook("onRequest", async (request, reply) => {
    if (request.routeOptions.config.open === true) return;
    const proof = await proofOf(request, deps);
    if (proof === null) {
      const hasCredentials = request.headers.authorization !== undefined;
      if (hasCredentials) await api.wrongLogins.slowDown(request.ip);
      const bearer = hasCredentials ? 'Bearer realm="orb", error="invalid_token"' : 'Bearer realm="orb"';
      throw new ApiProblem("unauthorized", hasCredentials ? "the token is wrong" : "the request has no token", {
        // The browser then prompts, and the user enters the token as the password.
        headers: { "www-authenticate": isPage(request) ? 'Basic realm="orb", charset="UTF-8"' : bearer },
      });
    }
    // Browsers attach cookies to any request (CSRF): a change must come from our own page.
    if (proof === "cookie" && UNSAFE_METHODS.has(request.method) && !isSameOrigin(request))
      throw new ApiProblem(
        "forbidden_origin",
        "the request has a login cookie but does not come from this server's dashboard; use a token instead",
      );
    if (token === null) return;
    // Further requests of the page use the cookie.
    const isOld = () => (loginOf(request, token, deps.clock)?.secondsLeft ?? 0) < COOKIE_SECONDS - FRESH_SECONDS;
    if (proof === "password" || (proof === "cookie" && isOld()))
      reply.header("set-cookie", sessionCookie(request, token, deps.clock));
  });
}

/** Authentication: by a key, by the token, or by the cookie that a login with one of them returns. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { isOrbError } from "../base/errors.ts";
import { isKeySecret } from "../domain/access/key-secret.ts";
import { LOCAL_PRINCIPAL, type Principal, TOKEN_PRINCIPAL } from "../domain/access/principal.ts";
import { requireRole } from "./access/declared-roles.ts";
import { type KeyRecord, principalOf } from "./access/keys.ts";
import type { ApiDeps } from "./deps.ts";
import { type ApiInstance, type ApiRequest, UNSAFE_METHODS } from "./instance.ts";
import { ApiProblem } from "./problems.ts";
import { isSameOrigin, isSecure } from "./security.ts";

const COOKIE_NAME = "orb_session";
const COOKIE_SECONDS = 7 * 86_400;
/** An older cookie is renewed, so that a user who returns within a week stays logged in. */
const FRESH_SECONDS = 86_400;

/** Constant time for inputs of the same length. */
function sameSecret(actual: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(actual), digest(expected));
}

type AuthDeps = Pick<ApiDeps, "settings" | "clock" | "store" | "seal">;

/**
 * The cookie proves that its owner knew the key or token and contains its expiry, not the secret. All cookies of a login,
 * which is renewed while in use, carry the login's id: they end together.
 */
export async function sessionCookie(request: ApiRequest, deps: AuthDeps, key: KeyRecord | null): Promise<string> {
  const ends = Math.floor(deps.clock.now() / 1000) + COOKIE_SECONDS;
  const login = await loginOf(request, deps);
  // Another key signs in as somebody else.
  const isSame = login !== null && (login.key?.id ?? null) === (key?.id ?? null);
  const id = isSame ? login.id : randomBytes(16).toString("base64url");
  const parts = key === null ? [ends, id] : [ends, id, key.id];
  const seal = key === null ? sealByToken(deps.settings.token ?? "", ends, id) : sealByKey(deps, ends, id, key);
  return cookieFor(request, [...parts, seal].join("."), COOKIE_SECONDS);
}

/** Ends the caller's login, if any: its cookies become invalid, including copies. */
export async function endLogin(request: ApiRequest, deps: AuthDeps): Promise<void> {
  const { clock, store } = deps;
  const login = await loginOf(request, deps);
  if (login !== null) await store.endLogin(login.id, clock.now() + COOKIE_SECONDS * 1000, clock.now());
}

export const endedCookie = (request: ApiRequest) => cookieFor(request, "", 0);

/** A cookie issued over TLS is sent over TLS only. */
function cookieFor(request: ApiRequest, value: string, seconds: number): string {
  const cookie = `${COOKIE_NAME}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;
  return isSecure(request) ? `${cookie}; Secure` : cookie;
}

function sealByToken(token: string, ends: number, id: string | undefined): string {
  const login = id === undefined ? "" : ` of ${id}`;
  return createHmac("sha256", token).update(`orb session until ${ends}${login}`).digest("base64url");
}

/** With the deployment's key, too: who only reads the database cannot forge a cookie. */
function sealByKey({ seal }: AuthDeps, ends: number, id: string, key: KeyRecord): string {
  const mark = seal.mark(`orb session until ${ends} of ${id} by key ${key.id} ${key.hash}`);
  return Buffer.from(mark, "hex").toString("base64url");
}

interface Login {
  id: string;
  /** Null: by the token. */
  key: KeyRecord | null;
  /** Remaining lifetime of its cookie. */
  secondsLeft: number;
}

const COOKIE = /^(\d{1,12})(?:\.([\w-]{22}))?(?:\.([0-9a-f-]{36}))?\.([\w-]{43})$/;

/** The login of the caller's cookie; null: no valid one. The store knows whether it was ended. */
async function loginOf(request: ApiRequest, deps: AuthDeps): Promise<Login | null> {
  const value = cookieOf(request);
  const [, time = "", id, keyId, seal = ""] = COOKIE.exec(value) ?? [];
  const ends = Number(time);
  const secondsLeft = ends - deps.clock.now() / 1000;
  if (seal === "" || secondsLeft <= 0) return null;
  if (keyId !== undefined && id !== undefined) {
    const key = await request.server.keys.byId(keyId);
    return key !== null && sameSecret(seal, sealByKey(deps, ends, id, key)) ? { id, key, secondsLeft } : null;
  }
  const { token } = deps.settings;
  if (token === null || keyId !== undefined || !sameSecret(seal, sealByToken(token, ends, id))) return null;
  // Cookies of earlier versions contain no login id.
  return { id: id ?? createHash("sha256").update(value).digest("base64url").slice(0, 22), key: null, secondsLeft };
}

const signedInByKey = (request: ApiRequest) => COOKIE.exec(cookieOf(request))?.[3] !== undefined;

function cookieOf(request: ApiRequest): string {
  const prefix = `${COOKIE_NAME}=`;
  const found = request.headers.cookie
    ?.split(";")
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix));
  return found?.slice(prefix.length) ?? "";
}

/** How the caller authenticated, and as whom. `password`: Basic credentials, for which browsers prompt for a page. */
export interface Proof {
  by: "nothing" | "secret" | "cookie" | "password";
  principal: Principal;
  key: KeyRecord | null;
  /** The remaining lifetime of its cookie. */
  secondsLeft: number;
}

/** The key or token that a text is; null: neither. */
export async function principalBySecret(
  request: ApiRequest,
  { settings }: Pick<ApiDeps, "settings">,
  secret: string,
): Promise<Pick<Proof, "principal" | "key"> | null> {
  if (settings.token !== null && sameSecret(secret, settings.token)) return { principal: TOKEN_PRINCIPAL, key: null };
  const key = await request.server.keys.bySecret(secret);
  return key === null ? null : { principal: principalOf(key), key };
}

/** Null: the caller did not authenticate. */
export async function proofOf(request: ApiRequest, deps: AuthDeps): Promise<Proof | null> {
  const { settings, store } = deps;
  const open: Proof | null =
    settings.token === null ? { by: "nothing", principal: LOCAL_PRINCIPAL, key: null, secondsLeft: 0 } : null;
  const { authorization = "" } = request.headers;
  const password = passwordOf(authorization);
  if (authorization !== "" && password === null) {
    const bearer = /^Bearer +(\S+)\s*$/i.exec(authorization)?.[1];
    const found = bearer === undefined ? null : await principalBySecret(request, deps, bearer);
    if (found !== null) return { by: "secret", ...found, secondsLeft: 0 };
    // Where no token is needed, others are ignored as before; a key that is not valid is not.
    return bearer !== undefined && isKeySecret(bearer) ? null : open;
  }
  // Browsers attach Basic credentials to all paths, also for requests of other sites: accepted for pages only.
  if (password !== null && isPage(request)) {
    const found = await principalBySecret(request, deps, password);
    if (found !== null) return { by: "password", ...found, secondsLeft: 0 };
  }
  const login = await loginOf(request, deps);
  // Who signed in by a key that is no longer valid does not get the rights of this machine instead.
  if (login === null) return signedInByKey(request) ? null : open;
  const hasEnded = await store.hasLoginEnded(login.id).catch((error: unknown) => {
    // The dashboard's own files contain no data, and can show that the database is unavailable.
    if (isPage(request) && isOrbError(error, "database_unavailable")) return false;
    throw error;
  });
  if (hasEnded) return login.key === null ? open : null;
  const { key, secondsLeft } = login;
  return { by: "cookie", principal: key === null ? TOKEN_PRINCIPAL : principalOf(key), key, secondsLeft };
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
  api.decorateRequest("principal", null);
  api.decorateRequest("callerIp", "");
  api.addHook("onRequest", async (request, reply) => {
    request.callerIp = request.ip;
    if (request.routeOptions.config.open === true) return;
    const delegated = api.delegations.principalOf(request);
    if (delegated !== null) {
      request.principal = delegated.principal;
      request.callerIp = delegated.ip;
      if (!(await isStillAllowed(request))) throw new ApiProblem("unauthorized", "the key was revoked or changed");
      return requireRole(request);
    }
    const proof = await proofOf(request, deps);
    if (proof === null) {
      const hasCredentials = request.headers.authorization !== undefined;
      if (hasCredentials) await api.wrongLogins.slowDown(request.ip);
      const bearer = hasCredentials ? 'Bearer realm="orb", error="invalid_token"' : 'Bearer realm="orb"';
      throw new ApiProblem("unauthorized", hasCredentials ? "the token is wrong" : "the request has no token", {
        // The browser then prompts, and the user enters the key or token as the password.
        headers: { "www-authenticate": isPage(request) ? 'Basic realm="orb", charset="UTF-8"' : bearer },
      });
    }
    // Browsers attach cookies to any request (CSRF): a change must come from our own page.
    if (proof.by === "cookie" && UNSAFE_METHODS.has(request.method) && !isSameOrigin(request))
      throw new ApiProblem(
        "forbidden_origin",
        "the request has a login cookie but does not come from this server's dashboard; use a token instead",
      );
    request.principal = proof.principal;
    if (proof.key !== null) {
      api.keys.noteUse(proof.key);
      api.rateLimits.take(proof.principal);
    }
    requireRole(request);
    // Further requests of the page use the cookie.
    const isOld = proof.by === "cookie" && proof.secondsLeft < COOKIE_SECONDS - FRESH_SECONDS;
    if (proof.by === "password" || isOld) reply.header("set-cookie", await sessionCookie(request, deps, proof.key));
    return undefined;
  });
}

/** Whether the caller may still do what it began. */
async function isStillAllowed(request: ApiRequest): Promise<boolean> {
  const { principal, server } = request;
  if (principal?.kind !== "key" || principal.id === null) return true;
  const key = await server.keys.byId(principal.id);
  if (key === null) return false;
  const now = principalOf(key);
  // Its rights are those of the beginning: with others it begins again.
  return now.role === principal.role && JSON.stringify(now.limits) === JSON.stringify(principal.limits);
}

/** Ends what a key began, such as a stream, when it is revoked, expires or changes. Returns what stops the check. */
export function untilRevoked(request: ApiRequest, clock: Clock, everyMs: number, end: () => void): () => void {
  if (request.principal?.kind !== "key") return () => {};
  let stopped = false;
  const check = async () => {
    // While the database does not answer, nobody can revoke a key.
    const isAllowed = await isStillAllowed(request).catch(() => true);
    if (stopped) return;
    if (!isAllowed) return end();
    timer = clock.after(everyMs, () => void check());
  };
  let timer = clock.after(everyMs, () => void check());
  return () => {
    stopped = true;
    timer.cancel();
  };
}

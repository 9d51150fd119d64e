/** Authentication: by a key, by the token, by the cookie of a login, or by the header of a trusted proxy. */
import type { Clock } from "../base/clock.ts";
import { isOrbError } from "../base/errors.ts";
import { isKeySecret } from "../domain/access/key-secret.ts";
import { LOCAL_PRINCIPAL, type Principal, TOKEN_PRINCIPAL } from "../domain/access/principal.ts";
import { requireRole } from "./access/declared-roles.ts";
import { type KeyRecord, principalOf } from "./access/keys.ts";
import {
  beginLogin,
  isNamedLogin,
  isToRenew,
  type Login,
  type LoginDeps,
  loginOf,
  sameSecret,
  sessionCookie,
} from "./access/login-cookie.ts";
import type { ApiDeps } from "./deps.ts";
import { type ApiInstance, type ApiRequest, UNSAFE_METHODS } from "./instance.ts";
import { ApiProblem } from "./problems.ts";
import { isSameOrigin } from "./security.ts";

/** How the caller authenticated, and as whom. `password`: Basic credentials, for which browsers prompt for a page. */
export interface Proof {
  by: "nothing" | "secret" | "cookie" | "password" | "proxy";
  principal: Principal;
  key: KeyRecord | null;
  /** Null: not by a cookie. */
  login: Login | null;
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

/** Null: the caller did not authenticate. Throws if a proxy names somebody without a role. */
export async function proofOf(request: ApiRequest, deps: LoginDeps): Promise<Proof | null> {
  const open: Proof | null =
    deps.settings.token === null ? { by: "nothing", principal: LOCAL_PRINCIPAL, key: null, login: null } : null;
  const { authorization = "" } = request.headers;
  const password = passwordOf(authorization);
  if (authorization !== "" && password === null) {
    const bearer = bearerOf(authorization);
    const found = bearer === undefined ? null : await principalBySecret(request, deps, bearer);
    if (found !== null) return { by: "secret", ...found, login: null };
    // Where no token is needed, others are ignored as before; a key that is not valid is not.
    return bearer !== undefined && isKeySecret(bearer) ? null : ((await proxied(request, bearer)) ?? open);
  }
  // Browsers attach Basic credentials to all paths, also for requests of other sites: accepted for pages only.
  const secret = password !== null && isPage(request) ? password : undefined;
  if (secret !== undefined) {
    const found = await principalBySecret(request, deps, secret);
    if (found !== null) return { by: "password", ...found, login: null };
  }
  // Before the cookie: behind such a proxy, a login that somebody left in the browser does not count.
  const byProxy = await proxied(request, secret);
  if (byProxy !== null) return byProxy;
  const proof = await proofByCookie(request, deps, open);
  if (secret !== undefined && proof !== null && proof.login !== null)
    await request.server.wrongLogins.slowDownPerson(nameOf(proof.login), secret);
  return proof;
}

/** `wrong`: the secret that the request has, too. Who is signed in could otherwise guess as fast as the network allows. */
async function proxied(request: ApiRequest, wrong: string | undefined): Promise<Proof | null> {
  const { forwardedPeople, wrongLogins } = request.server;
  const subject = forwardedPeople?.subjectOf(request) ?? null;
  if (forwardedPeople === null || subject === null) return null;
  // Also of somebody without a role.
  if (wrong !== undefined) await wrongLogins.slowDownPerson(`proxy ${subject}`, wrong);
  const principal = forwardedPeople.principalOf(request);
  return principal === null ? null : { by: "proxy", principal, key: null, login: null };
}

/** Who has the token has nothing to guess; many people may share it. */
const nameOf = ({ id, principal }: Login) => `${principal.kind} ${principal.kind === "token" ? id : principal.id}`;

async function proofByCookie(request: ApiRequest, deps: LoginDeps, open: Proof | null): Promise<Proof | null> {
  const login = await loginOf(request, deps);
  // Who signed in by a key that is no longer valid does not get the rights of this machine instead.
  if (login === null) return isNamedLogin(request) ? null : open;
  if (await hasEnded(request, deps, login)) return login.principal.kind === "token" ? open : null;
  return { by: "cookie", principal: login.principal, key: login.key, login };
}

function hasEnded(request: ApiRequest, { store }: LoginDeps, { id }: Login): Promise<boolean> {
  return store.hasLoginEnded(id).catch((error: unknown) => {
    // The dashboard's own files contain no data, and can show that the database is unavailable.
    if (isPage(request) && isOrbError(error, "database_unavailable")) return false;
    throw error;
  });
}

/** Who sends a password with each request has one login all the same; null: none yet. */
async function loginByPassword(request: ApiRequest, deps: LoginDeps, { principal }: Proof): Promise<Login | null> {
  const login = await loginOf(request, deps);
  if (login === null || login.principal.kind !== principal.kind || login.principal.id !== principal.id) return null;
  return (await hasEnded(request, deps, login)) ? null : login;
}

/** For further requests of the page; null: the browser has one, or needs none. */
async function cookieAfter(request: ApiRequest, deps: LoginDeps, proof: Proof): Promise<string | null> {
  const login = proof.by === "password" ? await loginByPassword(request, deps, proof) : proof.login;
  if (login !== null) return isToRenew(login) ? sessionCookie(request, deps, login) : null;
  if (proof.by !== "password") return null;
  return beginLogin(request, deps, proof).catch((error: unknown) => {
    // The page itself is shown while nothing can be written, too.
    if (isOrbError(error)) return null;
    throw error;
  });
}

const bearerOf = (authorization: string) => /^Bearer +(\S+)\s*$/i.exec(authorization)?.[1];

async function refusedSecret({ server, headers: { authorization = "" } }: ApiRequest): Promise<string> {
  const secret = bearerOf(authorization) ?? passwordOf(authorization) ?? "";
  return (await server.keys.whyRefused(secret)) ?? "the token is wrong";
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
  api.decorateRequest("session", null);
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
      const why = hasCredentials ? await refusedSecret(request) : "the request has no token";
      throw new ApiProblem("unauthorized", why, {
        // The browser then prompts, and the user enters the key or token as the password.
        headers: { "www-authenticate": isPage(request) ? 'Basic realm="orb", charset="UTF-8"' : bearer },
      });
    }
    // Browsers attach cookies to any request (CSRF): a change must come from our own page.
    const isOfBrowser = proof.by === "cookie" || proof.by === "proxy";
    if (isOfBrowser && UNSAFE_METHODS.has(request.method) && !isSameOrigin(request))
      throw new ApiProblem(
        "forbidden_origin",
        `the request has ${proof.by === "proxy" ? "the header of a proxy" : "a login cookie"} but does not come from this server's dashboard; use a token instead`,
        {
          more: {
            hint: "Send a key or token (Authorization: Bearer …), or the Origin header of this server's address.",
          },
        },
      );
    request.principal = proof.principal;
    request.session = sessionOf(proof, deps.clock);
    if (proof.key !== null) {
      api.keys.noteUse(proof.key);
      api.rateLimits.take(proof.principal);
    }
    requireRole(request);
    const cookie = await cookieAfter(request, deps, proof);
    if (cookie !== null) reply.header("set-cookie", cookie);
    return undefined;
  });
}

/** A proxy decides with every request who somebody is: their streams begin anew after this time. */
const PROXIED_MS = 15 * 60_000;

/** Until when somebody may go on with what they began; null: no login, and no person. */
function sessionOf({ by, principal, login }: Proof, clock: Clock): ApiRequest["session"] {
  if (by === "proxy") return { loginId: null, endsAt: clock.now() + PROXIED_MS };
  if (login === null) return null;
  const endsAt = principal.kind === "person" ? clock.now() + login.secondsLeft * 1000 : null;
  return { loginId: login.id, endsAt };
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

/** `revoked`: the key, which no longer is what it was; `ended`: the session, and another one can begin. */
export type EndReason = "revoked" | "ended";

type Checks = Pick<ApiDeps, "clock" | "store">;

/** Null: the caller may go on. */
async function whyEnded(request: ApiRequest, { clock, store }: Checks, isLoginDue = true): Promise<EndReason | null> {
  const { session } = request;
  if (!(await isStillAllowed(request))) return "revoked";
  if (session === null) return null;
  if (session.endsAt !== null && clock.now() >= session.endsAt) return "ended";
  return isLoginDue && session.loginId !== null && (await store.hasLoginEnded(session.loginId)) ? "ended" : null;
}

/** While the database does not answer, nobody can revoke a key or log out. */
export async function mayGoOn(request: ApiRequest, checks: Checks): Promise<boolean> {
  return (await whyEnded(request, checks).catch(() => null)) === null;
}

/**
 * Ends what a key or a login began, such as a stream, when the key is revoked, expires or changes, the login is ended, or
 * the session of a person ends. Returns what stops the check.
 */
export function untilRevoked(
  request: ApiRequest,
  { clock, store }: Pick<ApiDeps, "clock" | "store">,
  everyMs: number,
  end: (reason: EndReason) => void,
): () => void {
  const { principal, session } = request;
  if (principal?.kind !== "key" && session === null) return () => {};
  const keyCheckMs = principal?.kind === "key" ? everyMs : Infinity;
  let stopped = false;
  let loginCheckedAt = clock.monotonic();
  /** Each check of a login is a query, and a key is looked at more often. */
  const isLoginDue = () => {
    const now = clock.monotonic();
    if (now - loginCheckedAt + keyCheckMs < SESSION_CHECK_MS) return false;
    loginCheckedAt = now;
    return true;
  };
  const wait = () => {
    const leftMs = (session?.endsAt ?? Infinity) - clock.now();
    const waitMs = Math.min(keyCheckMs, SESSION_CHECK_MS, leftMs);
    return clock.after(Math.max(1, waitMs), () => void check());
  };
  const check = async () => {
    const reason = await whyEnded(request, { clock, store }, isLoginDue()).catch(() => null);
    if (stopped) return;
    if (reason !== null) return end(reason);
    timer = wait();
  };
  let timer = wait();
  return () => {
    stopped = true;
    timer.cancel();
  };
}

/** Sign-out ends streams of other tabs and machines within this time; each check is a query. */
const SESSION_CHECK_MS = 2000;

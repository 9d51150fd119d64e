/** Authentication: by a key, by the token, by the cookie of a login, or by the header of a trusted proxy. */
import type { Clock } from "../base/clock.ts";
import { isOrbError } from "../base/errors.ts";
import { isKeySecret } from "../domain/access/key-secret.ts";
import { LOCAL_PRINCIPAL, type Principal, TOKEN_PRINCIPAL } from "../domain/access/principal.ts";
import { requireRole } from "./access/declared-roles.ts";
import { type KeyRecord, principalOf } from "./access/keys.ts";
import {
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
    return bearer !== undefined && isKeySecret(bearer) ? null : (proxied(request) ?? open);
  }
  // Browsers attach Basic credentials to all paths, also for requests of other sites: accepted for pages only.
  if (password !== null && isPage(request)) {
    const found = await principalBySecret(request, deps, password);
    if (found !== null) return { by: "password", ...found, login: null };
  }
  // Before the cookie: behind such a proxy, a login that somebody left in the browser does not count.
  return proxied(request) ?? (await proofByCookie(request, deps, open));
}

function proxied(request: ApiRequest): Proof | null {
  const principal = request.server.forwardedPeople?.principalOf(request) ?? null;
  return principal === null ? null : { by: "proxy", principal, key: null, login: null };
}

async function proofByCookie(request: ApiRequest, deps: LoginDeps, open: Proof | null): Promise<Proof | null> {
  const login = await loginOf(request, deps);
  // Who signed in by a key that is no longer valid does not get the rights of this machine instead.
  if (login === null) return isNamedLogin(request) ? null : open;
  const hasEnded = await deps.store.hasLoginEnded(login.id).catch((error: unknown) => {
    // The dashboard's own files contain no data, and can show that the database is unavailable.
    if (isPage(request) && isOrbError(error, "database_unavailable")) return false;
    throw error;
  });
  if (hasEnded) return login.principal.kind === "token" ? open : null;
  return { by: "cookie", principal: login.principal, key: login.key, login };
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
    // Further requests of the page use the cookie.
    const isOld = proof.login !== null && isToRenew(proof.login);
    if (proof.by === "password" || isOld) reply.header("set-cookie", await sessionCookie(request, deps, proof.key));
    return undefined;
  });
}

/** A proxy decides with every request who somebody is: their streams begin anew after this time. */
const PROXIED_MS = 15 * 60_000;

/** Until when a person may go on with what they began; null: no person. */
function sessionOf({ by, principal, login }: Proof, clock: Clock): ApiRequest["session"] {
  if (principal.kind !== "person") return null;
  if (by === "proxy" || login === null) return { loginId: null, endsAt: clock.now() + PROXIED_MS };
  return { loginId: login.id, endsAt: clock.now() + login.secondsLeft * 1000 };
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

/** The same of a person, whose session may have ended. */
export async function mayGoOn(
  request: ApiRequest,
  { clock, store }: Pick<ApiDeps, "clock" | "store">,
): Promise<boolean> {
  const { session } = request;
  if (session !== null && clock.now() >= session.endsAt) return false;
  try {
    if (session === null) return await isStillAllowed(request);
    return session.loginId === null || !(await store.hasLoginEnded(session.loginId));
  } catch {
    // While the database does not answer, nobody can revoke a key.
    return true;
  }
}

/**
 * Ends what a key or a person began, such as a stream, when the key is revoked, expires or changes, or the person's
 * session ends. Returns what stops the check.
 */
export function untilRevoked(
  request: ApiRequest,
  { clock, store }: Pick<ApiDeps, "clock" | "store">,
  everyMs: number,
  end: () => void,
): () => void {
  const { principal, session } = request;
  if (principal?.kind !== "key" && session === null) return () => {};
  let stopped = false;
  const waitMs = () => (session === null ? everyMs : Math.min(SESSION_CHECK_MS, session.endsAt - clock.now()));
  const check = async () => {
    const goesOn = await mayGoOn(request, { clock, store });
    if (stopped) return;
    if (!goesOn) return end();
    timer = clock.after(Math.max(1, waitMs()), () => void check());
  };
  let timer = clock.after(Math.max(1, waitMs()), () => void check());
  return () => {
    stopped = true;
    timer.cancel();
  };
}

/** Sign-out ends streams of other tabs and machines within this time; each check is a query. */
const SESSION_CHECK_MS = 2000;

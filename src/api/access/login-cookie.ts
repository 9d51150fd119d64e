/** The cookie of a login: by a key, by the token, or by a person's sign-in at the provider. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { asCaller } from "../../domain/access/caller.ts";
import { grantingGroup, roleOfGroup } from "../../domain/access/group-roles.ts";
import { type PersonInGroups, personPrincipal } from "../../domain/access/person.ts";
import { type Principal, TOKEN_PRINCIPAL } from "../../domain/access/principal.ts";
import type { ApiDeps } from "../deps.ts";
import type { ApiRequest } from "../instance.ts";
import { cookieFor, cookieOf } from "./cookies.ts";
import { type KeyRecord, principalOf } from "./keys.ts";
import { closePersonSession, isPersonSession, openPersonSession } from "./person-session.ts";

const COOKIE_NAME = "orb_session";
const COOKIE_SECONDS = 7 * 86_400;
/** An older cookie is renewed, so that a user who returns within a week stays logged in. */
const FRESH_SECONDS = 86_400;

export type LoginDeps = Pick<ApiDeps, "settings" | "clock" | "store" | "seal" | "singleSignOn">;

/** Constant time for inputs of the same length. */
export function sameSecret(actual: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(actual), digest(expected));
}

/** A new login by a key or the token, which the audit log has. Returns its cookie. */
export async function beginLogin(
  request: ApiRequest,
  deps: LoginDeps,
  { principal, key }: Pick<Login, "principal" | "key">,
): Promise<string> {
  await recordLogin(request, deps, principal);
  return sessionCookie(request, deps, { id: newLoginId(), key });
}

export async function recordLogin(
  request: ApiRequest,
  { store }: Pick<LoginDeps, "store">,
  { kind, id, name, limits }: Principal,
): Promise<void> {
  const caller = { actor: { kind, id, name }, limits, ip: request.ip, requestId: request.id };
  await asCaller(caller, () => store.recordAudit("login.succeeded", { kind: "login", id }));
}

/**
 * The cookie proves that its owner knew the key or token and contains its expiry, not the secret. All cookies of a login,
 * which is renewed while in use, carry the login's id: they end together.
 */
export function sessionCookie(request: ApiRequest, deps: LoginDeps, { id, key }: Pick<Login, "id" | "key">): string {
  const ends = Math.floor(deps.clock.now() / 1000) + COOKIE_SECONDS;
  const parts = key === null ? [ends, id] : [ends, id, key.id];
  const seal = key === null ? sealByToken(deps.settings.token ?? "", ends, id) : sealByKey(deps, ends, id, key);
  return cookieFor(request, COOKIE_NAME, [...parts, seal].join("."), { seconds: COOKIE_SECONDS });
}

/** Null: none of the person's groups has a role. */
export function personCookie(
  request: ApiRequest,
  deps: LoginDeps,
  person: PersonInGroups,
): { cookie: string; principal: Principal } | null {
  const { singleSignOn, clock } = deps;
  const provider = singleSignOn?.provider ?? null;
  if (singleSignOn === null || provider === null) return null;
  const group = grantingGroup(person.groups, singleSignOn.roles);
  const role = group === null ? null : roleOfGroup(group, singleSignOn.roles);
  if (group === null || role === null) return null;
  const seconds = Math.floor(provider.sessionMs / 1000);
  const { subject, name } = person;
  const ends = Math.floor(clock.now() / 1000) + seconds;
  const { publicUrl } = provider;
  const value = closePersonSession(deps, provider, { id: newLoginId(), ends, subject, name, group });
  const cookie = cookieFor(request, COOKIE_NAME, value, { seconds, publicUrl });
  return { cookie, principal: personPrincipal(person, role) };
}

const newLoginId = () => randomBytes(16).toString("base64url");

/** Ends the caller's login, if any: its cookies become invalid, including copies. */
export async function endLogin(request: ApiRequest, deps: LoginDeps): Promise<void> {
  const { clock, store } = deps;
  const login = await loginOf(request, deps);
  if (login !== null) await store.endLogin(login.id, clock.now() + COOKIE_SECONDS * 1000, clock.now());
}

export const endedCookie = (request: ApiRequest) => cookieFor(request, COOKIE_NAME, "", { seconds: 0 });

function sealByToken(token: string, ends: number, id: string | undefined): string {
  const login = id === undefined ? "" : ` of ${id}`;
  return createHmac("sha256", token).update(`orb session until ${ends}${login}`).digest("base64url");
}

/** With the deployment's key, too: who only reads the database cannot forge a cookie. */
function sealByKey({ seal }: LoginDeps, ends: number, id: string, key: KeyRecord): string {
  const mark = seal.mark(`orb session until ${ends} of ${id} by key ${key.id} ${key.hash}`);
  return Buffer.from(mark, "hex").toString("base64url");
}

export interface Login {
  id: string;
  principal: Principal;
  /** Null: by the token, or of a person. */
  key: KeyRecord | null;
  /** Remaining lifetime of its cookie. */
  secondsLeft: number;
}

const COOKIE = /^(\d{1,12})(?:\.([\w-]{22}))?(?:\.([0-9a-f-]{36}))?\.([\w-]{43})$/;

/** The login of the caller's cookie; null: no valid one. The store knows whether it was ended. */
export async function loginOf(request: ApiRequest, deps: LoginDeps): Promise<Login | null> {
  const value = cookieOf(request, COOKIE_NAME);
  const now = deps.clock.now() / 1000;
  if (isPersonSession(value)) {
    const session = openPersonSession(deps, value);
    if (session === null || session.ends <= now) return null;
    const { id, ends, principal } = session;
    return { id, principal, key: null, secondsLeft: ends - now };
  }
  const [, time = "", id, keyId, seal = ""] = COOKIE.exec(value) ?? [];
  const ends = Number(time);
  const secondsLeft = ends - now;
  if (seal === "" || secondsLeft <= 0) return null;
  if (keyId !== undefined && id !== undefined) {
    const key = await request.server.keys.byId(keyId);
    const isRight = key !== null && sameSecret(seal, sealByKey(deps, ends, id, key));
    return isRight ? { id, principal: principalOf(key), key, secondsLeft } : null;
  }
  const { token } = deps.settings;
  if (token === null || keyId !== undefined || !sameSecret(seal, sealByToken(token, ends, id))) return null;
  // Cookies of earlier versions contain no login id.
  const loginId = id ?? createHash("sha256").update(value).digest("base64url").slice(0, 22);
  return { id: loginId, principal: TOKEN_PRINCIPAL, key: null, secondsLeft };
}

/** Whether the cookie, valid or not, is of a key or a person. */
export function isNamedLogin(request: ApiRequest): boolean {
  const value = cookieOf(request, COOKIE_NAME);
  return isPersonSession(value) || COOKIE.exec(value)?.[3] !== undefined;
}

/** Logins by a key or the token go on while they are used; those of people end, so that their groups are read again. */
export const isToRenew = ({ principal, secondsLeft }: Login) =>
  principal.kind !== "person" && secondsLeft < COOKIE_SECONDS - FRESH_SECONDS;

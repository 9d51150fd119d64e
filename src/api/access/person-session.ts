/** Sessions of people who signed in through the provider: sealed in their cookie, so that every server can open them. */
import { isOrbError } from "../../base/errors.ts";
import { roleOfGroup } from "../../domain/access/group-roles.ts";
import type { IdentityProvider } from "../../domain/access/identity-provider.ts";
import { personPrincipal } from "../../domain/access/person.ts";
import type { Principal } from "../../domain/access/principal.ts";
import type { ApiDeps } from "../deps.ts";

type SessionDeps = Pick<ApiDeps, "settings" | "seal" | "singleSignOn">;

interface Stored {
  id: string;
  /** In seconds. */
  ends: number;
  subject: string;
  name: string;
  /** The group that gives the role: its role is that of the current configuration. */
  group: string;
}

interface PersonSession {
  id: string;
  ends: number;
  principal: Principal;
}

/** Tells it from the cookies of keys and the token. */
const PREFIX = "p.";
const FORM = /^p\.([\w-]{40,3800})$/;

export const isPersonSession = (cookie: string) => cookie.startsWith(PREFIX);

export function closePersonSession(deps: SessionDeps, provider: IdentityProvider, session: Stored): string {
  const sealed = deps.seal.close(session, purposeOf(deps, provider));
  return `${PREFIX}${Buffer.from(sealed).toString("base64url")}`;
}

/** Null: not a session, one of another configuration, or its group has no role any more. */
export function openPersonSession(deps: SessionDeps, cookie: string): PersonSession | null {
  const { singleSignOn } = deps;
  const provider = singleSignOn?.provider ?? null;
  const sealed = FORM.exec(cookie)?.[1];
  if (sealed === undefined || provider === null || singleSignOn === null) return null;
  try {
    const bytes = Buffer.from(sealed, "base64url");
    const { id, ends, subject, name, group } = deps.seal.open(bytes, purposeOf(deps, provider)) as Stored;
    const role = roleOfGroup(group, singleSignOn.roles);
    if (role === null) return null;
    return { id, ends, principal: personPrincipal({ issuer: provider.issuer, subject, name }, role) };
  } catch (error) {
    if (isOrbError(error, "secret_key_wrong")) return null;
    throw error;
  }
}

/** Another provider, client or token of this server ends all sessions. */
function purposeOf({ settings, seal }: SessionDeps, { issuer, clientId }: IdentityProvider): string {
  return `session of a person of ${issuer} at ${clientId} under ${seal.mark(`token ${settings.token ?? ""}`)}`;
}

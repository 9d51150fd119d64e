import type { SingleSignOn } from "../api/deps.ts";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/options.ts";
import type { IdentityProvider } from "../domain/access/identity-provider.ts";
import type { OidcProvider } from "../identity/oidc-provider.ts";

/** Null: people sign in with keys and the token alone. */
export function singleSignOnOf(config: Config, clock: Clock): SingleSignOn | null {
  const { authRoles: roles, authHeader: header, authGroupsHeader: groupsHeader, authProxies: proxies } = config;
  const provider = providerOf(config, clock);
  if (roles === null || (provider === null && header === null)) return null;
  return { roles, provider, forwarded: header === null ? null : { header, groupsHeader, proxies: proxies ?? [] } };
}

/** Loads the library with the first sign-in. */
function providerOf(config: Config, clock: Clock): IdentityProvider | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, publicUrl } = config;
  if (issuer === null || clientId === null || publicUrl === null) return null;
  const address = publicUrl.replace(/\/+$/, "");
  let opened: Promise<OidcProvider> | null = null;
  const provider = () =>
    (opened ??= import("../identity/oidc-provider.ts").then(
      ({ OidcProvider }) =>
        new OidcProvider({
          issuer,
          clientId,
          clientSecret: config.oidcClientSecret,
          publicUrl: address,
          scopes: config.oidcScopes,
          groupsClaim: config.oidcGroupsClaim,
          clock,
          userAgent: config.userAgent,
        }),
    ));
  return {
    issuer,
    clientId,
    name: config.oidcName,
    publicUrl: address,
    sessionMs: config.oidcSessionMs,
    begin: async () => (await provider()).begin(),
    complete: async (query, checks) => (await provider()).complete(query, checks),
  };
}

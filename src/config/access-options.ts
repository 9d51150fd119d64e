/** Options of single sign-on, part of the table of all options. */
import { headerName, proxyNetworks, rolesByGroup, scopes } from "./access-types.ts";
import { option, optional } from "./option.ts";
import * as type from "./types.ts";

export const ACCESS_OPTIONS = {
  authRoles: optional({
    name: "APP_AUTH_ROLES",
    type: rolesByGroup,
    about:
      "Roles by group, for people who sign in through a provider or a proxy; the highest counts. `*` is everybody who can sign in there. Who has no role is refused.",
    example: '{"admins":"admin","*":"viewer"}',
  }),
  authHeader: optional({
    name: "APP_AUTH_HEADER",
    type: headerName,
    about:
      "Header in which a proxy in front of this server names the person it has signed in. Honoured only from APP_AUTH_PROXIES.",
    example: "Remote-User",
  }),
  authGroupsHeader: optional({
    name: "APP_AUTH_GROUPS_HEADER",
    type: headerName,
    about: "Header in which that proxy names the person's groups, separated by commas or `|`.",
    example: "Remote-Groups",
  }),
  authProxies: optional({
    name: "APP_AUTH_PROXIES",
    type: proxyNetworks,
    about:
      "Addresses of the proxies whose APP_AUTH_HEADER is honoured, as the connection has them. From all others the header is ignored.",
    example: "10.0.0.5,172.18.0.0/16",
  }),
  oidcIssuer: optional({
    name: "APP_OIDC_ISSUER",
    type: type.url(["https", "http"]),
    about: "URL of the OpenID Connect provider through which people sign in. `http` is accepted on loopback only.",
    example: "https://login.example.com/realms/main",
  }),
  oidcClientId: optional({
    name: "APP_OIDC_CLIENT_ID",
    type: type.headerText,
    about: "Id under which this server is registered at the provider.",
    example: "orbweaver",
  }),
  oidcClientSecret: optional({
    name: "APP_OIDC_CLIENT_SECRET",
    type: type.headerText,
    about: "Secret of APP_OIDC_CLIENT_ID; without it, this server is a public client.",
    example: "the secret that the provider shows",
    secret: "whole",
  }),
  oidcName: option({
    name: "APP_OIDC_NAME",
    type: type.headerText,
    default: "single sign-on",
    about: "Name of the provider on the sign-in page.",
    example: "Keycloak",
  }),
  oidcScopes: option({
    name: "APP_OIDC_SCOPES",
    type: scopes,
    default: "openid profile email",
    about: "Scopes that are requested. Some providers send groups only if their scope is requested.",
    example: "openid profile email groups",
  }),
  oidcGroupsClaim: option({
    name: "APP_OIDC_GROUPS_CLAIM",
    type: type.headerText,
    default: "groups",
    about: "Claim with the person's groups; dots lead into objects.",
    example: "realm_access.roles",
  }),
  oidcSessionMs: option({
    name: "APP_OIDC_SESSION_HOURS",
    type: type.duration("hours", 0.05, 168),
    default: "8",
    about:
      "How long a person stays signed in. Then they sign in again, and their groups are read again: who lost a group keeps its role at most this long.",
    example: "1",
  }),
} as const;

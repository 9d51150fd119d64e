/** Rules between the options of single sign-on: a dangerous combination must not start. */
import type { FieldError } from "../base/errors.ts";
import { EVERYBODY } from "../domain/access/group-roles.ts";
import { ACCESS_OPTIONS } from "./access-options.ts";
import { isLoopback } from "./loopback.ts";
import type { Config } from "./options.ts";

type Rule = (config: Partial<Config>) => FieldError | undefined;

const {
  authRoles: ROLES,
  authHeader: HEADER,
  authGroupsHeader: GROUPS,
  authProxies: PROXIES,
  oidcIssuer: ISSUER,
  oidcClientId: CLIENT,
  oidcClientSecret: SECRET,
} = ACCESS_OPTIONS;

const isSet = (value: unknown) => value !== undefined && value !== null;

/** The option that lets people sign in elsewhere. */
const wayIn = ({ authHeader, oidcIssuer }: Partial<Config>) =>
  isSet(oidcIssuer) ? ISSUER.name : isSet(authHeader) ? HEADER.name : null;

export const ACCESS_RULES: readonly Rule[] = [
  ({ authHeader, authProxies }) => {
    if (!isSet(authHeader) || authProxies !== null) return undefined;
    return {
      path: PROXIES.name,
      message: `expected the addresses of the proxies that set ${HEADER.name}, because anybody else could send that header; got none`,
    };
  },
  ({ authHeader, authProxies, authGroupsHeader }) => {
    const option = isSet(authProxies) ? PROXIES : isSet(authGroupsHeader) ? GROUPS : null;
    if (authHeader !== null || option === null) return undefined;
    return { path: HEADER.name, message: `expected a header, because ${option.name} is set; got none` };
  },
  ({ authHeader, authGroupsHeader }) => {
    if (!isSet(authHeader) || authHeader !== authGroupsHeader) return undefined;
    return { path: GROUPS.name, message: `expected another header than ${HEADER.name}` };
  },
  ({ authHeader, authGroupsHeader, authRoles, oidcIssuer }) => {
    if (!isSet(authHeader) || authGroupsHeader !== null || oidcIssuer !== null || !isSet(authRoles)) return undefined;
    const group = Object.keys(authRoles ?? {}).find((name) => name !== EVERYBODY);
    if (group === undefined) return undefined;
    return {
      path: GROUPS.name,
      message: `expected a header, because ${ROLES.name} names the group ${JSON.stringify(group)}; got none`,
    };
  },
  (config) => {
    const by = wayIn(config);
    if (by === null || config.authRoles !== null) return undefined;
    return {
      path: ROLES.name,
      message: `expected the roles of groups, for example ${ROLES.example}, because ${by} is set; got none`,
    };
  },
  (config) => {
    const by = wayIn(config);
    if (by === null || config.apiToken !== null) return undefined;
    return {
      path: "APP_API_TOKEN",
      message: `expected a token, because ${by} is set: without a token everybody who reaches this server is an admin; got none`,
    };
  },
  ({ oidcIssuer, oidcClientId, oidcClientSecret }) => {
    if (isSet(oidcIssuer) && oidcClientId === null)
      return { path: CLIENT.name, message: `expected the id of this server at ${ISSUER.name}; got none` };
    const option = isSet(oidcClientId) ? CLIENT : isSet(oidcClientSecret) ? SECRET : null;
    if (oidcIssuer !== null || option === null) return undefined;
    return { path: ISSUER.name, message: `expected a URL, because ${option.name} is set; got none` };
  },
  ({ oidcIssuer }) => {
    if (typeof oidcIssuer !== "string") return undefined;
    const { protocol, hostname, search, hash, username, password } = new URL(oidcIssuer);
    if (search !== "" || hash !== "" || username !== "" || password !== "")
      return { path: ISSUER.name, message: "expected a URL without user, query and fragment" };
    if (protocol === "https:" || isLoopback(bare(hostname))) return undefined;
    return { path: ISSUER.name, message: `expected https://…, because tokens pass the network; got ${oidcIssuer}` };
  },
  ({ oidcIssuer, publicUrl }) => {
    if (!isSet(oidcIssuer) || publicUrl === undefined) return undefined;
    const path = "APP_PUBLIC_URL";
    if (publicUrl === null)
      return {
        path,
        message: `expected the URL under which people open the dashboard, because ${ISSUER.name} sends them back to it; got none`,
      };
    const { protocol, hostname, search, hash, username, password } = new URL(publicUrl);
    if (search !== "" || hash !== "" || username !== "" || password !== "")
      return { path, message: "expected a URL without user, query and fragment" };
    if (protocol === "https:" || isLoopback(bare(hostname))) return undefined;
    return { path, message: `expected https://…, because people sign in there; got ${publicUrl}` };
  },
];

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, "");

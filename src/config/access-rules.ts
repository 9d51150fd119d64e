/** Rules between the options of single sign-on: a dangerous combination must not start. */
import { BlockList, isIPv4 } from "node:net";
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
  ({ authHeader, authProxies, allowPrivateNetworks: targets }) => {
    if (!isSet(authHeader) || !isSet(authProxies) || targets === undefined || targets === false) return undefined;
    // A job could call this server with that header, from an address of this server.
    const opened = (one: string) => targets === true || targets.some((other) => overlap(reachOf(one), other));
    const network = authProxies?.find((one) => mayHoldThisServer(one) && opened(one));
    if (network === undefined) return undefined;
    return {
      path: PROXIES.name,
      message: `expected single addresses that APP_ALLOW_PRIVATE_NETWORKS does not open, because a job could reach this server from ${network} and name anybody`,
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

const FULL = { ipv4: 32, ipv6: 128 } as const;

function parts(network: string): { address: string; prefix: number; family: "ipv4" | "ipv6" } {
  const [address = "", prefix = ""] = network.split("/");
  return { address, prefix: Number(prefix), family: isIPv4(address) ? "ipv4" : "ipv6" };
}

/** A network, or this machine itself; the address of another machine is not that of this server. */
function mayHoldThisServer(network: string): boolean {
  const { address, prefix, family } = parts(network);
  return prefix < FULL[family] || isLoopback(address);
}

/** A call to any loopback address may come from 127.0.0.1. */
const reachOf = (network: string) => (parts(network).address.startsWith("127.") ? "127.0.0.0/8" : network);

const overlap = (one: string, other: string) => holds(one, other) || holds(other, one);

function holds(network: string, other: string): boolean {
  const [outer, inner] = [parts(network), parts(other)];
  const list = new BlockList();
  list.addSubnet(outer.address, outer.prefix, outer.family);
  return outer.family === inner.family && list.check(inner.address, inner.family);
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, "");

/** Value types of the options of single sign-on. */
import { isIPv4 } from "node:net";
import { EVERYBODY, type GroupRoles } from "../domain/access/group-roles.ts";
import { type Role, ROLES } from "../domain/access/roles.ts";
import { BadValue, readCidr, splitList, type ValueType } from "./types.ts";

function refuse(why = ""): never {
  throw new BadValue(why);
}

/** Headers that clients, browsers or proxies send for other purposes. */
const OTHER_HEADERS =
  /^(accept|access-control|content|sec|proxy|if|orb)-|^(accept|authorization|cache-control|connection|cookie|date|dnt|expect|forwarded|from|host|idempotency-key|keep-alive|last-event-id|origin|pragma|range|referer|te|traceparent|trailer|transfer-encoding|upgrade|user-agent|via|warning|x-real-ip|x-requested-with)$|^x-forwarded-(for|host|port|proto|server)$/;

/** In lower case, as Node names headers. */
export const headerName: ValueType<string> = {
  expected: "the name of a header of letters, digits and hyphens",
  parse: (text) => {
    const name = text.toLowerCase();
    if (!/^[a-z][a-z0-9-]{0,63}$/.test(name)) refuse();
    if (OTHER_HEADERS.test(name)) refuse("this header has another purpose, and anybody may send it");
    return name;
  },
  format: String,
};

/** Wider networks are nearly the whole internet. */
const WIDEST = { ipv4: 8, ipv6: 7 } as const;

/** Addresses and networks, each as address/prefix. */
export const proxyNetworks: ValueType<readonly string[]> = {
  expected: "a comma-separated list of addresses or CIDRs",
  parse: (text) => {
    const networks = splitList(text).map(readCidr);
    if (networks.length === 0) refuse();
    for (const network of networks) {
      const [address = "", prefix = ""] = network.split("/");
      if (Number(prefix) < WIDEST[isIPv4(address) ? "ipv4" : "ipv6"])
        refuse(`${network} is too wide: everybody in it could name themselves an admin`);
    }
    return networks;
  },
  format: (networks) => networks.join(","),
};

/** `{"group": "role"}`. */
export const rolesByGroup: ValueType<GroupRoles> = {
  expected: `a JSON object of groups with one of the roles ${ROLES.join(", ")}`,
  parse: (text) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      refuse("it is not JSON");
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) refuse();
    const entries = Object.entries(value);
    if (entries.length === 0) refuse("it gives nobody a role");
    for (const [group, role] of entries) {
      if (group === "" || group === "__proto__" || group.length > 256) refuse(`${JSON.stringify(group)} is no group`);
      if (!ROLES.includes(role as Role))
        refuse(`the role of ${JSON.stringify(group)} is not one of ${ROLES.join(", ")}`);
      if (group === EVERYBODY && role === "admin")
        refuse(`"${EVERYBODY}" would make everybody who can sign in an admin; name the group of the admins`);
    }
    return value as GroupRoles;
  },
  format: (roles) => JSON.stringify(roles),
};

/** Scopes by RFC 6749, 3.3. */
export const scopes: ValueType<string> = {
  expected: "scopes separated by spaces, openid among them",
  parse: (text) => {
    const names = text.split(/[ ,]+/).filter((name) => name !== "");
    if (!names.every((name) => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(name))) refuse();
    if (!names.includes("openid")) refuse("openid is missing");
    return [...new Set(names)].join(" ");
  },
  format: String,
};

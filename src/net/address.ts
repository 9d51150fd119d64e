import { isIPv4, isIPv6 } from "node:net";

/**
 * Which addresses the program may talk to. The rules follow IANA's special-purpose registries: IPv4 is a list of what
 * is refused, IPv6 a list of what is allowed (2000::/3 and little else), because new IPv6 special ranges appear outside
 * it. Addresses that carry an IPv4 address inside are judged by that one.
 */
export interface AddressPolicy {
  /** Private and loopback networks are open; link-local and cloud metadata addresses stay closed. */
  readonly privateNetworks: boolean;
  /** Networks the operator opened by name; these win over every rule. */
  readonly listed: readonly Network[];
  /**
   * Ports of 127.0.0.1 on which this process serves its demo site. Only the literal address passes: no host name resolves
   * to it, and no other port of the machine opens.
   */
  readonly ownPorts?: ReadonlySet<number>;
}

const OWN_ADDRESS = "127.0.0.1";

/** Whether the address is the demo site of this process. */
export function isOwnSite(hostname: string, port: number | undefined, { ownPorts }: AddressPolicy): boolean {
  return port !== undefined && hostname === OWN_ADDRESS && ownPorts?.has(port) === true;
}

/** A parsed CIDR. `words` are 2 (IPv4) or 8 (IPv6) groups of 16 bits, in order. */
export interface Network {
  readonly words: readonly number[];
  readonly bits: number;
}

export const PUBLIC_ONLY: AddressPolicy = { privateNetworks: false, listed: [] };

/** Throws a plain Error that names the invalid entry; the configuration loader adds the key. */
export function parseAddressPolicy(value: boolean | readonly string[]): AddressPolicy {
  if (typeof value === "boolean") return { privateNetworks: value, listed: [] };
  return { privateNetworks: false, listed: value.map((cidr) => parseNetwork(cidr)) };
}

/** What either of them allows. */
export function eitherPolicy(a: AddressPolicy, b: AddressPolicy): AddressPolicy {
  return {
    privateNetworks: a.privateNetworks || b.privateNetworks,
    listed: [...a.listed, ...b.listed],
    ...(a.ownPorts === undefined ? {} : { ownPorts: a.ownPorts }),
  };
}

function parseNetwork(cidr: string): Network {
  const text = cidr.trim();
  const slash = text.indexOf("/");
  const words = parseAddress(slash === -1 ? text : text.slice(0, slash));
  const size = slash === -1 ? String((words?.length ?? 0) * 16) : text.slice(slash + 1);
  if (words === null || !/^\d{1,3}$/.test(size) || Number(size) > words.length * 16) {
    throw new Error(`"${cidr}" is not a network in CIDR form, such as 10.0.0.0/8 or fd00::/8`);
  }
  const bits = Number(size);
  // IPv4-mapped networks are stored as IPv4, so one comparison suffices.
  if (words.length === 8 && bits >= 96 && matches(words, MAPPED)) return { words: words.slice(6), bits: bits - 96 };
  return { words, bits };
}

export function isAllowedAddress(ip: string, policy: AddressPolicy): boolean {
  const words = parseAddress(ip);
  if (words === null) return false;
  return words.length === 2 ? isAllowed4(words, policy) : isAllowed6(words, policy);
}

function isAllowed4(words: readonly number[], policy: AddressPolicy): boolean {
  if (matchesAny(words, policy.listed)) return true;
  if (matchesAny(words, METADATA_4)) return false;
  if (policy.privateNetworks && matchesAny(words, PRIVATE_4)) return true;
  return !matchesAny(words, NOT_GLOBAL_4);
}

function isAllowed6(words: readonly number[], policy: AddressPolicy): boolean {
  if (matchesAny(words, policy.listed)) return true;
  if (matches(words, MAPPED) || matches(words, NAT64)) return isAllowed4(words.slice(6), policy);
  if (matchesAny(words, METADATA_6)) return false;
  if (policy.privateNetworks && matchesAny(words, PRIVATE_6)) return true;
  return matches(words, GLOBAL_UNICAST) && !matchesAny(words, NOT_GLOBAL_6);
}

function matchesAny(words: readonly number[], networks: readonly Network[]): boolean {
  for (const network of networks) if (matches(words, network)) return true;
  return false;
}

function matches(words: readonly number[], network: Network): boolean {
  if (words.length !== network.words.length) return false;
  let bitsLeft = network.bits;
  for (let index = 0; bitsLeft > 0; index += 1, bitsLeft -= 16) {
    const mask = bitsLeft >= 16 ? 0xffff : (0xffff << (16 - bitsLeft)) & 0xffff;
    if (((words[index]! ^ network.words[index]!) & mask) !== 0) return false;
  }
  return true;
}

/** 2 groups for IPv4, 8 for IPv6, null for anything else, including a zone id (`fe80::1%eth0`). */
function parseAddress(ip: string): number[] | null {
  if (isIPv4(ip)) return parse4(ip);
  if (!isIPv6(ip) || ip.includes("%")) return null;
  let text = ip;
  const tail: number[] = [];
  const dotted = text.lastIndexOf(":") + 1;
  if (text.includes(".")) {
    tail.push(...parse4(text.slice(dotted)));
    text = text.slice(0, dotted);
    // Strips the colon of "::ffff:", keeps "::" itself.
    if (text.endsWith(":") && !text.endsWith("::")) text = text.slice(0, -1);
  }
  const gap = text.indexOf("::");
  if (gap === -1) return [...groups(text), ...tail];
  const before = groups(text.slice(0, gap));
  const after = [...groups(text.slice(gap + 2)), ...tail];
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}

/** Hand-written: every fetch checks a literal host, and split-and-map took 4 % of a fetch's time. */
function parse4(ip: string): number[] {
  let value = 0;
  let byte = 0;
  for (let index = 0; index < ip.length; index += 1) {
    const code = ip.charCodeAt(index);
    if (code !== 46) byte = byte * 10 + code - 48;
    else {
      value = value * 256 + byte;
      byte = 0;
    }
  }
  value = value * 256 + byte;
  return [(value >>> 16) & 0xffff, value & 0xffff];
}

function groups(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}

function networks(...list: string[]): Network[] {
  return list.map((cidr) => {
    const [address = "", bits = ""] = cidr.split("/");
    return { words: parseAddress(address) ?? [], bits: Number(bits) };
  });
}

const [MAPPED, NAT64, GLOBAL_UNICAST] = networks("::ffff:0:0/96", "64:ff9b::/96", "2000::/3") as [
  Network,
  Network,
  Network,
];

const NOT_GLOBAL_4 = networks(
  "0.0.0.0/8", // "this network": 0.0.0.0 reaches the machine itself
  "10.0.0.0/8",
  "100.64.0.0/10", // carrier NAT
  "127.0.0.0/8",
  "169.254.0.0/16", // link-local, cloud metadata
  "172.16.0.0/12",
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // retired 6to4 relays
  "192.168.0.0/16",
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
);

/** What `true` opens. Includes 198.18/15, which local proxies hand out as fake addresses. */
const PRIVATE_4 = networks(
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "198.18.0.0/15",
);
const PRIVATE_6 = networks("::1/128", "fc00::/7");

/** Cloud metadata services, which hand out credentials. 168.63.129.16 is Azure's, in a public range. */
const METADATA_4 = networks("169.254.0.0/16", "100.100.100.200/32", "168.63.129.16/32");
const METADATA_6 = networks("fe80::/10", "fd00:ec2::254/128", "fd20:ce::254/128");

const NOT_GLOBAL_6 = networks(
  "2001::/23", // protocol assignments: Teredo, benchmarks, both ORCHIDs
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4: the router at the far end would unpack any IPv4 address
  "3fff::/20", // documentation
);

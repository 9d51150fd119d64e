import { promises as dns } from "node:dns";
import { isIP, type LookupFunction, type Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import { type AddressPolicy, isAllowedAddress, isOwnSite } from "./address.ts";
import { privateAddress } from "./guard.ts";
import { connectFailure } from "./wire-failure.ts";

/**
 * The second and third egress check, shared by everything that opens connections: every resolved address, and the
 * connected socket. The first check, of the URL as written, is in guard.ts.
 */
interface ResolvedAddress {
  address: string;
  family: number;
}

/** Every address of a name. Tests replace the system resolver. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

interface ResolverOptions {
  policy: AddressPolicy;
  clock: Clock;
  lookup?: Lookup;
  /** How long a checked DNS answer is cached. */
  dnsTtlMs?: number;
}

/** All addresses of a name, all of them allowed. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

const MAX_CACHED_NAMES = 10_000;

/**
 * Caches checked answers briefly: getaddrinfo runs on libuv's four threads, and thousands of fetches per second would
 * queue there behind each other and behind file writes. Refusals and failures are not cached.
 */
export function createResolver(options: ResolverOptions): Resolve {
  const { clock, policy, dnsTtlMs = 30_000, lookup = systemLookup } = options;
  const cache = new Map<string, { until: number; answer: Promise<readonly ResolvedAddress[]> }>();

  const resolveChecked = async (hostname: string): Promise<readonly ResolvedAddress[]> => {
    let addresses: readonly ResolvedAddress[];
    try {
      addresses = await lookupAll(lookup, hostname);
    } catch (error) {
      throw new FetchFailure("dns_failed", `the host name "${hostname}" could not be resolved`, { cause: error });
    }
    if (addresses.length === 0) throw new FetchFailure("dns_failed", `the host name "${hostname}" has no address`);
    for (const { address } of addresses) {
      if (isIP(address) === 0 || !isAllowedAddress(address, policy)) throw privateAddress(hostname);
    }
    return addresses;
  };

  return (hostname) => {
    const now = clock.monotonic();
    const hit = cache.get(hostname);
    if (hit !== undefined && hit.until > now) return hit.answer;
    const answer = resolveChecked(hostname);
    const entry = { until: now + dnsTtlMs, answer };
    cache.delete(hostname);
    // A Map keeps the order of insertion, so the first key is the oldest answer.
    if (cache.size >= MAX_CACHED_NAMES) cache.delete(cache.keys().next().value!);
    cache.set(hostname, entry);
    answer.catch(() => {
      if (cache.get(hostname) === entry) cache.delete(hostname);
    });
    return answer;
  };
}

/**
 * `localhost` and all names below it are this machine, regardless of DNS (RFC 6761). A name with a trailing dot skips
 * /etc/hosts, so a failed lookup is repeated without the dot.
 */
async function lookupAll(lookup: Lookup, hostname: string): Promise<readonly ResolvedAddress[]> {
  const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  if (/(?:^|\.)localhost$/i.test(name)) return lookup("localhost");
  if (name === hostname) return lookup(name);
  const found = await lookup(hostname).catch(() => []);
  return found.length > 0 ? found : lookup(name);
}

const systemLookup: Lookup = (hostname) => dns.lookup(hostname, { all: true, verbatim: true });

/** For `net.connect`: the socket connects to exactly the checked addresses. */
export function checkedLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const first = addresses[0]!;
        if (options.all === true) callback(null, addresses as ResolvedAddress[]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ""),
    );
  };
}

const RESET = Object.assign(new Error("the connection closed while it opened"), { code: "ECONNRESET" });

/** Checks the peer of a connected socket. Closes the socket and returns the failure when the peer is gone or refused. */
export function refuseConnected(socket: Socket, hostname: string, policy: AddressPolicy): FetchFailure | null {
  const remote = socket.remoteAddress;
  if (remote !== undefined && isAllowedAddress(remote, policy)) return null;
  if (remote === hostname && isOwnSite(hostname, socket.remotePort, policy)) return null;
  socket.on("error", () => {}).destroy();
  return remote === undefined ? connectFailure(RESET, hostname) : privateAddress();
}

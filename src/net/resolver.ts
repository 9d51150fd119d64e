import { promises as dns } from "node:dns";
import { isIP, type LookupFunction, type Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import { type AddressPolicy, isAllowedAddress, isOwnSite } from "./address.ts";
import { privateAddress } from "./guard.ts";
import { connectFailure } from "./wire-failure.ts";

/**
 * The second and the third check on everything that leaves, shared by all that opens connections: every resolved
 * address, and the connected socket. The first, of the address as written, is in guard.ts.
 */
interface ResolvedAddress {
  address: string;
  family: number;
}

/** Every address of a name. The system's own resolver unless a test hands in another. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

interface ResolverOptions {
  policy: AddressPolicy;
  clock: Clock;
  lookup?: Lookup;
  /** How long a checked DNS answer is used again. */
  dnsTtlMs?: number;
}

/** All addresses of a name, each of them allowed. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

const MAX_CACHED_NAMES = 10_000;

/**
 * Checked answers are kept for a short time: getaddrinfo runs on libuv's four threads, and thousands of fetches per
 * second would queue there behind each other and behind file writes. Refusals and failures are never kept.
 */
export function createResolver(options: ResolverOptions): Resolve {
  const { clock, policy, dnsTtlMs = 30_000, lookup = systemLookup } = options;
  const known = new Map<string, { until: number; answer: Promise<readonly ResolvedAddress[]> }>();

  const ask = async (hostname: string): Promise<readonly ResolvedAddress[]> => {
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
    const hit = known.get(hostname);
    if (hit !== undefined && hit.until > now) return hit.answer;
    const answer = ask(hostname);
    const entry = { until: now + dnsTtlMs, answer };
    known.delete(hostname);
    // A Map keeps the order of insertion, so the first key is the oldest answer.
    if (known.size >= MAX_CACHED_NAMES) known.delete(known.keys().next().value!);
    known.set(hostname, entry);
    answer.catch(() => {
      if (known.get(hostname) === entry) known.delete(hostname);
    });
    return answer;
  };
}

/**
 * `localhost` and all names below it are this machine, whatever a name server says of them (RFC 6761). With a dot at its
 * end a name is not looked for among the names that the machine knows itself: it is asked for without.
 */
async function lookupAll(lookup: Lookup, hostname: string): Promise<readonly ResolvedAddress[]> {
  const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  if (/(?:^|\.)localhost$/i.test(name)) return lookup("localhost");
  if (name === hostname) return lookup(name);
  const found = await lookup(hostname).catch(() => []);
  return found.length > 0 ? found : lookup(name);
}

const systemLookup: Lookup = (hostname) => dns.lookup(hostname, { all: true, verbatim: true });

/** For `net.connect`: the socket connects to exactly the addresses that were checked. */
export function checkedLookup(resolve: Resolve): LookupFunction {
  return (hostname, asked, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const first = addresses[0]!;
        if (asked.all === true) callback(null, addresses as ResolvedAddress[]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ""),
    );
  };
}

const RESET = Object.assign(new Error("the connection closed while it opened"), { code: "ECONNRESET" });

/** Whom the connected socket really talks to. Closes it and says why when that is nobody, or nobody we may talk to. */
export function refuseConnected(socket: Socket, hostname: string, policy: AddressPolicy): FetchFailure | null {
  const remote = socket.remoteAddress;
  if (remote !== undefined && isAllowedAddress(remote, policy)) return null;
  if (remote === hostname && isOwnSite(hostname, socket.remotePort, policy)) return null;
  socket.on("error", () => {}).destroy();
  return remote === undefined ? connectFailure(RESET, hostname) : privateAddress();
}

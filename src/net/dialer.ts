import { promises as dns } from "node:dns";
import { isIP, type LookupFunction, type Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { buildConnector } from "undici";
import type { Clock } from "../base/clock.ts";
import { FetchFailure } from "../domain/failure.ts";
import { type AddressPolicy, isAllowedAddress } from "./address.ts";
import { checkHost, privateAddress } from "./guard.ts";
import { connectFailure, RESET_CODE } from "./wire-failure.ts";

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** Every address of a name. The system's own resolver unless a test hands in another. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface DialerOptions {
  policy: AddressPolicy;
  clock: Clock;
  /** After this long a connection attempt is dropped, whoever still waits for it. */
  connectMs: number;
  lookup?: Lookup;
  /** How long a checked DNS answer is used again. */
  dnsTtlMs?: number;
  /** Extra trust (`ca`), for sites with a private certificate authority. */
  tls?: Pick<ConnectionOptions, "ca" | "rejectUnauthorized">;
}

export interface Dialer {
  readonly connect: buildConnector.connector;
  /**
   * True only while a new socket is being handed to undici, which writes the first request on it in the same turn.
   * It is how a request learns whether its connection is new or was kept alive.
   */
  readonly opening: boolean;
}

/**
 * The one way out. A literal is checked before anything else (Node calls no lookup for it); a name is resolved once,
 * every one of its addresses must be allowed, and the socket connects to exactly those, so an answer that changes
 * later finds nothing; the connected socket is checked again.
 */
export function createDialer(options: DialerOptions): Dialer {
  const { policy } = options;
  const resolve = createResolver(options);
  const lookup: LookupFunction = (hostname, asked, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const first = addresses[0]!;
        if (asked.all === true) callback(null, addresses as ResolvedAddress[]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ""),
    );
  };
  const open = buildConnector({ ...options.tls, timeout: options.connectMs, autoSelectFamily: true, lookup });
  let opening = false;

  return {
    get opening() {
      return opening;
    },
    connect(target, callback) {
      try {
        checkHost(target.hostname, policy);
      } catch (error) {
        callback(error as Error, null);
        return;
      }
      open(target, (error, socket) => {
        if (error !== null) return callback(connectFailure(error, target.hostname), null);
        const remote = socket.remoteAddress;
        if (remote === undefined || !isAllowedAddress(remote, policy)) {
          socket.on("error", () => {}).destroy();
          const failure = remote === undefined ? connectFailure(RESET, target.hostname) : privateAddress();
          return callback(failure, null);
        }
        renameResets(socket);
        opening = true;
        try {
          callback(null, socket);
        } finally {
          opening = false;
        }
      });
    },
  };
}

const RESET = Object.assign(new Error("the connection closed while it opened"), { code: "ECONNRESET" });

/**
 * undici 7.30 ends a close-delimited body quietly on ECONNRESET, which hides a truncation, and asserts that it is not
 * paused at that moment: a reset during back-pressure would end the whole process with an uncaught AssertionError.
 * Our listener runs before undici's, and under another code the reset is an ordinary error to it.
 */
function renameResets(socket: Socket): void {
  socket.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNRESET") error.code = RESET_CODE;
  });
}

const MAX_CACHED_NAMES = 10_000;

/**
 * Checked answers are kept for a short time: getaddrinfo runs on libuv's four threads, and thousands of fetches per
 * second would queue there behind each other and behind file writes. Refusals and failures are never kept.
 */
function createResolver(options: DialerOptions): (hostname: string) => Promise<readonly ResolvedAddress[]> {
  const { clock, policy, dnsTtlMs = 30_000, lookup = systemLookup } = options;
  const known = new Map<string, { until: number; answer: Promise<readonly ResolvedAddress[]> }>();

  const ask = async (hostname: string): Promise<readonly ResolvedAddress[]> => {
    let addresses: readonly ResolvedAddress[];
    try {
      addresses = await lookup(hostname);
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

const systemLookup: Lookup = (hostname) => dns.lookup(hostname, { all: true, verbatim: true });

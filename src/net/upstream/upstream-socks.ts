import type { Socket } from "node:net";
import { messageOf } from "../../base/errors.ts";
import type { FetchFailure } from "../../domain/run/failure.ts";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import { signInRefused, tunnelRefused, unreachable } from "./upstream-failure.ts";

/** User name and password each have one byte for their length. */
const MAX_CREDENTIAL_BYTES = 255;

/**
 * Requests a tunnel from a SOCKS5 proxy. Once it resolves, the peer of the socket is the destination. The caller bounds
 * the time and destroys the socket on rejection.
 */
export async function askSocksForTunnel(
  socket: Socket,
  via: Upstream,
  address: string,
  port: number,
  connectMs: number,
): Promise<void> {
  const { hostname, credentials } = via;
  const parts = credentials === null ? [] : [credentials.username, credentials.password];
  if (parts.some((part) => Buffer.byteLength(part) > MAX_CREDENTIAL_BYTES)) throw signInRefused(via);
  // Loaded only when a SOCKS5 proxy is configured.
  const { SocksClient } = await import("socks");
  let granted;
  try {
    granted = await SocksClient.createConnection({
      command: "connect",
      proxy: {
        host: hostname,
        port: via.port,
        type: 5,
        ...(credentials === null ? {} : { userId: credentials.username, password: credentials.password }),
      },
      destination: { host: address, port },
      existing_socket: socket,
      // The caller's deadline is shorter; the library keeps its timer and state until this one.
      timeout: 2 * connectMs,
    });
  } catch (error) {
    throw refusal(messageOf(error), socket, via);
  }
  // The library emits bytes after the reply in the next turn. The client speaks first through a tunnel, so such bytes
  // are the proxy's own, and the reply was not valid.
  let hasExtraBytes = false;
  const onData = () => (hasExtraBytes = true);
  socket.on("data", onData);
  await new Promise((resolve) => setImmediate(resolve));
  socket.off("data", onData);
  if (hasExtraBytes || granted.remoteHost === undefined) throw unreachable(via, "its response is not valid SOCKS5");
  if (socket.destroyed) throw hungUp(via);
}

const REPLIES: Readonly<Record<string, string>> = {
  Failure: "it gave no reason",
  NotAllowed: "its rules forbid it",
  NetworkUnreachable: "it cannot reach that network",
  HostUnreachable: "it cannot reach that host",
  ConnectionRefused: "the site refused the connection",
  TTLExpired: "the route is too long (TTL expired)",
  CommandNotSupported: "it does not support CONNECT",
  AddressNotSupported: "it does not support this address type",
};

/** The library reports causes only in its messages. */
function refusal(message: string, socket: Socket, via: Upstream): FetchFailure {
  if (/authentication failed|no accepted authentication type/i.test(message)) return signInRefused(via);
  const reply = REPLIES[/rejected connection - (\w+)/.exec(message)?.[1] ?? ""];
  if (reply !== undefined) return tunnelRefused(via, reply);
  if (/invalid|rejected|internal error/i.test(message)) return unreachable(via, "it is not a SOCKS5 proxy");
  // Closed without an answer, before the destination was sent.
  return socket.bytesRead === 0 ? unreachable(via, "it closed the connection at once") : hungUp(via);
}

function hungUp(via: Upstream): FetchFailure {
  return tunnelRefused(via, "it closed the connection without a response");
}

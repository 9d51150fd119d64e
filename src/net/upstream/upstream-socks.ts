import type { Socket } from "node:net";
import { messageOf } from "../../base/errors.ts";
import type { FetchFailure } from "../../domain/run/failure.ts";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import { signInRefused, tunnelRefused, unreachable } from "./upstream-failure.ts";

/** User name and password each have one byte for their length. */
const MAX_CREDENTIAL_BYTES = 255;

/**
 * Asks a SOCKS5 proxy for a tunnel on a connection to it. When it resolves, the other end of the socket is the
 * destination. Whoever calls bounds the time, and destroys the socket when it rejects.
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
  // Only when somebody has such a proxy.
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
      // The caller ends it sooner; the library keeps its timer and its state until this time is over.
      timeout: 2 * connectMs,
    });
  } catch (error) {
    throw refusal(messageOf(error), socket, via);
  }
  // The library hands over what came behind the answer in the next turn. Behind the tunnel it is always us who speak
  // first: such bytes are the proxy's own, or the answer was not what it said it was.
  let more = false;
  const seen = () => (more = true);
  socket.on("data", seen);
  await new Promise((resolve) => setImmediate(resolve));
  socket.off("data", seen);
  if (more || granted.remoteHost === undefined) throw unreachable(via, "its answer is not valid SOCKS5");
  if (socket.destroyed) throw hungUp(via);
}

const REPLIES: Readonly<Record<string, string>> = {
  Failure: "it does not say why",
  NotAllowed: "its rules forbid it",
  NetworkUnreachable: "it cannot reach that network",
  HostUnreachable: "it cannot reach that host",
  ConnectionRefused: "the site refused the connection",
  TTLExpired: "the way there is too long",
  CommandNotSupported: "it makes no connections for others",
  AddressNotSupported: "it cannot reach addresses of that kind",
};

/** The library reports causes only in its messages. */
function refusal(words: string, socket: Socket, via: Upstream): FetchFailure {
  if (/authentication failed|no accepted authentication type/i.test(words)) return signInRefused(via);
  const reply = REPLIES[/rejected connection - (\w+)/.exec(words)?.[1] ?? ""];
  if (reply !== undefined) return tunnelRefused(via, reply);
  if (/invalid|rejected|internal error/i.test(words)) return unreachable(via, "what answers there is no SOCKS5 proxy");
  // Closed without an answer, before the destination was sent.
  return socket.bytesRead === 0 ? unreachable(via, "it closed the connection at once") : hungUp(via);
}

function hungUp(via: Upstream): FetchFailure {
  return tunnelRefused(via, "it closed the connection instead of answering");
}

import type { Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import type { buildConnector as Connector } from "undici";
import { checkHost } from "./guard.ts";
import type { AddressPolicy } from "./address.ts";
import { checkedLookup, refuseConnected, type Resolve } from "./resolver.ts";
import { buildConnector } from "./undici.ts";
import { connectFailure, RESET_CODE } from "./wire-failure.ts";

export interface DialerOptions {
  policy: AddressPolicy;
  resolve: Resolve;
  /** After this long a connection attempt is dropped, even if callers still wait for it. */
  connectMs: number;
  /** Extra trust (`ca`), for sites with a private certificate authority. */
  tls?: Pick<ConnectionOptions, "ca" | "rejectUnauthorized">;
}

export interface Dialer {
  readonly connect: Connector.connector;
  /**
   * True only while a new socket is passed to undici, which writes the first request on it in the same turn: tells a
   * request whether its connection is new or was kept alive.
   */
  readonly opening: boolean;
}

/**
 * The only outbound connector. A literal is checked first (Node calls no lookup for it). A name is resolved once, all of
 * its addresses must be allowed, and the socket connects to exactly those, which defeats DNS rebinding. The connected
 * socket is checked again.
 */
export function createDialer(options: DialerOptions): Dialer {
  const { policy } = options;
  const lookup = checkedLookup(options.resolve);
  const open = buildConnector({ ...options.tls, timeout: options.connectMs, autoSelectFamily: true, lookup });
  let opening = false;

  return {
    get opening() {
      return opening;
    },
    connect(target, callback) {
      try {
        checkHost(target.hostname, policy, Number(target.port || 80));
      } catch (error) {
        callback(error as Error, null);
        return;
      }
      open(target, (error, socket) => {
        if (error !== null) return callback(connectFailure(error, target.hostname), null);
        const refused = refuseConnected(socket, target.hostname, policy);
        if (refused !== null) return callback(refused, null);
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

/**
 * undici 7.30 ends a close-delimited body quietly on ECONNRESET, which hides a truncation, and asserts that it is not
 * paused at that moment: a reset during back-pressure would end the whole process with an uncaught AssertionError.
 * Our listener runs before undici's, and under another code the reset is an ordinary error to it.
 */
export function renameResets(socket: Socket): void {
  socket.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNRESET") error.code = RESET_CODE;
  });
}

import { connect, type Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import type { AddressPolicy } from "./address.ts";
import { checkHost } from "./guard.ts";
import { checkedLookup, refuseConnected, type Resolve } from "./resolver.ts";
import { connectFailure } from "./wire-failure.ts";

export interface SocketOpenerOptions {
  policy: AddressPolicy;
  clock: Clock;
  resolve: Resolve;
  /** DNS included. */
  connectMs: number;
}

/** Opens a plain connection under all three checks. `hostname` is in WHATWG form. Throws a FetchFailure. */
export type OpenSocket = (hostname: string, port: number) => Promise<Socket>;

export function createSocketOpener(options: SocketOpenerOptions): OpenSocket {
  const { policy, clock, connectMs } = options;
  const lookup = checkedLookup(options.resolve);
  return (hostname, port) =>
    new Promise((resolve, reject) => {
      checkHost(hostname, policy, port);
      const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
      const socket = connect({ host, port, lookup, autoSelectFamily: true, noDelay: true });
      const timer = clock.after(connectMs, () => {
        socket.destroy();
        reject(new FetchFailure("timeout_connect", `no connection to ${hostname} after ${connectMs} ms`));
      });
      // Stays for the socket's lifetime: an unhandled error event would end the process.
      socket.on("error", (error) => {
        timer.cancel();
        reject(connectFailure(error, hostname));
      });
      socket.once("connect", () => {
        timer.cancel();
        const refused = refuseConnected(socket, hostname, policy);
        if (refused === null) resolve(socket);
        else reject(refused);
      });
    });
}

import { isIP, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import { checkHost } from "../guard.ts";
import { createSocketOpener, type OpenSocket, type SocketOpenerOptions } from "../guarded-socket.ts";
import { askForTunnel } from "./upstream-connect.ts";
import { connectionToProxyFailed, tunnelLate, unreachable } from "./upstream-failure.ts";
import { greetSocks } from "./upstream-greeting.ts";
import { askSocksForTunnel } from "./upstream-socks.ts";
import { connectFailure } from "../wire-failure.ts";

export interface TunnelOptions extends SocketOpenerOptions {
  /** Extra trust for proxies that speak TLS, the same as for sites. */
  tls?: Pick<ConnectionOptions, "ca" | "rejectUnauthorized">;
}

export interface Tunnels {
  /**
   * Connects to the destination through the proxy, within `connectMs` in total; `hostname` is in WHATWG form, or an
   * IPv6 address without its brackets. Throws a FetchFailure.
   */
  open(via: Upstream, hostname: string, port: number): Promise<Socket>;
  /**
   * Checks the proxy itself, as far as possible without a destination: connection, TLS where it speaks it, and the SOCKS5
   * greeting with authentication; within `connectMs` in total. Throws a FetchFailure.
   */
  reach(via: Upstream, signal: AbortSignal): Promise<void>;
  /** Fails tunnels that are being opened. */
  close(): void;
}

/**
 * Each connection has two guarded targets. The proxy: its address as written, every resolved address, and the connected
 * socket. The destination: we resolve it, all of its addresses must be allowed, and the proxy gets one of them. The
 * proxy never resolves a name, because we could not check the result.
 */
export function createTunnels(options: TunnelOptions): Tunnels {
  const open = createSocketOpener(options);
  const opening = new Set<Opening>();
  const track = async (tunnel: Opening, run: () => Promise<Socket>) => {
    opening.add(tunnel);
    try {
      return await run();
    } finally {
      opening.delete(tunnel);
    }
  };
  return {
    open(via, hostname, port) {
      const tunnel = new Opening(options, open, via);
      return track(tunnel, () => tunnel.run({ hostname, port }));
    },
    async reach(via, signal) {
      signal.throwIfAborted();
      const tunnel = new Opening(options, open, via);
      const abort = () => tunnel.fail(new FetchFailure("run_cancelled", "the request was cancelled"));
      signal.addEventListener("abort", abort, { once: true });
      try {
        (await track(tunnel, () => tunnel.run(null))).destroy();
      } finally {
        signal.removeEventListener("abort", abort);
      }
    },
    close() {
      for (const tunnel of opening) tunnel.fail(new FetchFailure("run_cancelled", "the program is stopping"));
    },
  };
}

/** Identifies a proxy with its credentials. Never shown: it contains the password. */
export function upstreamKey({ scheme, hostname, port, credentials }: Upstream): string {
  return JSON.stringify([scheme, hostname, port, credentials?.username, credentials?.password]);
}

interface Destination {
  hostname: string;
  port: number;
}

type Stage = "resolving" | "connecting" | "asking";

/** One tunnel until it is established. */
class Opening {
  readonly #options: TunnelOptions;
  readonly #open: OpenSocket;
  readonly #via: Upstream;
  readonly #ended: PromiseWithResolvers<never> = Promise.withResolvers();
  #over = false;
  #stage: Stage = "resolving";
  #socket: Socket | null = null;

  constructor(options: TunnelOptions, open: OpenSocket, via: Upstream) {
    this.#options = options;
    this.#open = open;
    this.#via = via;
    this.#ended.promise.catch(() => {});
  }

  /** Without a destination: only up to the proxy itself. */
  async run(to: Destination | null): Promise<Socket> {
    const { clock, connectMs } = this.#options;
    // After a stall of this process the reply may be buffered: read it before timing out.
    const timer = clock.after(connectMs, () => setImmediate(() => this.fail(this.#late(to?.hostname ?? ""))));
    const work = this.#work(to);
    // Its result is ignored after an early end.
    work.catch(() => {});
    try {
      const socket = await Promise.race([work, this.#ended.promise]);
      this.#over = true;
      return socket;
    } catch (error) {
      this.fail(error as FetchFailure);
      throw error;
    } finally {
      timer.cancel();
    }
  }

  fail(failure: FetchFailure): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended.reject(failure);
    this.#socket?.destroy();
  }

  async #work(to: Destination | null): Promise<Socket> {
    const via = this.#via;
    const address = to === null ? null : await this.#addressOf(to.hostname);
    this.#stage = "connecting";
    let socket = this.#hold(await this.#toProxy());
    if (via.scheme === "https") socket = this.#hold(await this.#secure(socket));
    if (to === null || address === null) {
      if (via.scheme === "socks5") await greetSocks(socket, via);
      return socket;
    }
    this.#stage = "asking";
    if (via.scheme === "socks5") await askSocksForTunnel(socket, via, address, to.port, this.#options.connectMs);
    else await askForTunnel(socket, via, address, to.port);
    return socket;
  }

  async #addressOf(hostname: string): Promise<string> {
    const literal = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    checkHost(literal, this.#options.policy);
    if (isIP(literal) !== 0) return literal;
    const addresses = await this.#options.resolve(literal);
    // Few proxies can reach IPv6.
    return (addresses.find(({ family }) => family === 4) ?? addresses[0]!).address;
  }

  async #toProxy(): Promise<Socket> {
    try {
      return await this.#open(this.#via.hostname, this.#via.port);
    } catch (error) {
      throw connectionToProxyFailed(this.#via, error as FetchFailure);
    }
  }

  /** `fail` closes the held socket; it may have been called while the socket connected. */
  #hold(socket: Socket): Socket {
    this.#socket = socket;
    if (this.#over) socket.destroy();
    return socket;
  }

  #secure(socket: Socket): Promise<Socket> {
    const { hostname } = this.#via;
    const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    return new Promise((resolve, reject) => {
      const secured = connectTls({
        ...this.#options.tls,
        socket,
        host,
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ALPNProtocols: ["http/1.1"],
      });
      this.#hold(secured);
      // Stays for the socket's lifetime: an unhandled error event would end the process.
      secured.on("error", (error) =>
        reject(connectionToProxyFailed(this.#via, connectFailure(error, this.#via.hostname))),
      );
      secured.once("close", () => reject(unreachable(this.#via, "it closed the connection while it opened")));
      secured.once("secureConnect", () => resolve(secured));
    });
  }

  #late(hostname: string): FetchFailure {
    const { connectMs } = this.#options;
    if (this.#stage === "resolving")
      return new FetchFailure("timeout_connect", `${hostname} was not resolved after ${connectMs} ms`);
    // A SOCKS5 proxy answers before the destination is sent, an HTTP proxy after.
    const hasGreeted = this.#via.scheme !== "socks5" || this.#socket!.bytesRead > 0;
    if (this.#stage === "connecting" || !hasGreeted) return unreachable(this.#via, `no answer within ${connectMs} ms`);
    return tunnelLate(this.#via, connectMs);
  }
}

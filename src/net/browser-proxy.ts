import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../base/clock.ts";
import type { FetchFailure } from "../domain/run/failure.ts";
import type { AddressPolicy } from "./address.ts";
import { createSocketOpener } from "./guarded-socket.ts";
import { FAILURE_HEADER, Forwarder, keepBoundCookies, type OpenConnection } from "./proxy-forward.ts";
import { type GuestOptions, ProxyGuest } from "./proxy-guest.ts";
import { endToEnd, plainTarget, proxyCredentials, type ProxyTarget, tunnelTarget } from "./proxy-target.ts";
import { createResolver, type Lookup } from "./resolver.ts";
import { createTunnels, type TunnelOptions } from "./upstream/upstream-tunnel.ts";

export interface BrowserProxyOptions {
  policy: AddressPolicy;
  clock: Clock;
  lookup?: Lookup;
  /** For upstream proxies that speak TLS. */
  tls?: TunnelOptions["tls"];
  /** DNS included. */
  connectMs?: number;
  /** The longest silence on a connection. */
  idleMs?: number;
  /** From the browser to the proxy, all guests together. */
  maxConnections?: number;
  /** For browsers on other machines; default: this machine only, on any free port. */
  listen?: ProxyListen;
}

export interface ProxyListen {
  /** The address to bind. */
  bind: string;
  /** 0: any free one. */
  port: number;
  /** The name or address at which the browsers reach it. */
  host: string;
}

export interface BrowserProxy {
  /** For the browsers: `http://127.0.0.1:port` */
  readonly address: string;
  /** Registers a browser context. It authenticates as `id` with `password` until `end()`. */
  admit(options?: Partial<GuestOptions>): ProxyGuest;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

/** Answered by the proxy itself, with `FAILURE_HEADER`: shows that a browser uses it. */
export const PROBE_URL = "http://guard.orb.invalid/";

const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;
const DEFAULT_GUEST_CONNECTIONS = 256;

/**
 * The browser's only network egress. The proxy resolves the host of every plain request and tunnel, applies the same
 * checks as every other fetch, and connects to exactly the checked addresses. Each guest has its own password, so other
 * processes of the machine cannot use it.
 */
export async function startBrowserProxy(options: BrowserProxyOptions): Promise<BrowserProxy> {
  const { policy, clock, connectMs = 10_000, idleMs = 60_000 } = options;
  const sockets = { policy, clock, resolve: createResolver(options), connectMs };
  const direct = createSocketOpener(sockets);
  const tunnels = createTunnels({ ...sockets, ...(options.tls === undefined ? {} : { tls: options.tls }) });
  const open: OpenConnection = ({ hostname, port }, via) =>
    via === undefined ? direct(hostname, port) : tunnels.open(via, hostname, port);
  const guests = new Map<string, ProxyGuest>();
  const forwarder = new Forwarder({ open, idleMs });
  const clients = new Set<Duplex>();

  const guestOf = (request: IncomingMessage): ProxyGuest | null => {
    const credentials = proxyCredentials(request.headers["proxy-authorization"]);
    const guest = credentials === null ? undefined : guests.get(credentials.username);
    return guest?.authenticates(credentials!.password) === true ? guest : null;
  };

  const server = createServer({
    maxHeaderSize: 128 * 1024,
    keepAliveTimeout: 60_000,
    requestTimeout: 0,
    headersTimeout: 20_000,
  });
  server.maxConnections = options.maxConnections ?? 2048;
  server.on("connection", (socket) => {
    clients.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.once("close", () => clients.delete(socket));
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  server.on("request", (request, answer) => {
    answer.on("error", () => {});
    const guest = guestOf(request);
    if (guest === null) {
      request.resume();
      answer.writeHead(407, { "proxy-authenticate": CHALLENGE, "content-length": 0 }).end();
      return;
    }
    const target = plainTarget(request.url ?? "");
    if (target === null) {
      request.resume();
      answer.writeHead(400, { "content-type": "text/plain" }).end("this proxy fetches absolute http addresses only\n");
      return;
    }
    if (target.host === PROBE_HOST) {
      request.resume();
      answer.writeHead(200, { "content-type": "text/plain", [FAILURE_HEADER]: guest.id }).end("the guarding proxy\n");
      return;
    }
    forwarder.forward(guest, target, request, answer);
  });
  server.on("connect", (request: IncomingMessage, client: Duplex, first: Buffer) => {
    const guest = guestOf(request);
    if (guest === null) return refuse(client, 407);
    const target = tunnelTarget(request.url ?? "");
    if (target === null) return refuse(client, 400);
    return void tunnel({ guest, target, client, open, idleMs, encrypted: true }, (upstream) => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.write(first);
    });
  });
  server.on("upgrade", (request: IncomingMessage, client: Duplex, first: Buffer) => {
    const guest = guestOf(request);
    if (guest === null) return refuse(client, 407);
    const target = plainTarget(request.url ?? "");
    if (target === null) return refuse(client, 400);
    return void tunnel({ guest, target, client, open, idleMs, encrypted: false }, (upstream) => {
      upstream.write(upgradeHead(guest, request, target));
      upstream.write(first);
    });
  });

  const { bind, port, host } = options.listen ?? { bind: "127.0.0.1", port: 0, host: "127.0.0.1" };
  await listen(server, port, bind);
  let closing: Promise<void> | null = null;
  const close = () =>
    (closing ??= new Promise((done) => {
      server.close(() => done());
      for (const guest of [...guests.values()]) guest.end();
      forwarder.close();
      tunnels.close();
      for (const client of [...clients]) client.destroy();
    }));
  return {
    address: `http://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    admit(options = {}) {
      const guest: ProxyGuest = new ProxyGuest(
        { maxBytes: DEFAULT_MAX_BYTES, maxConnections: DEFAULT_GUEST_CONNECTIONS, ...options },
        () => guests.delete(guest.id),
      );
      if (closing === null) guests.set(guest.id, guest);
      else guest.end();
      return guest;
    },
    close,
  };
}

const PROBE_HOST = new URL(PROBE_URL).host;
const CHALLENGE = 'Basic realm="orb"';

function listen(server: Server, port: number, bind: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, bind, () => {
      server.removeListener("error", reject);
      // A failed accept loses one connection, not the server.
      server.on("error", () => {});
      resolve();
    });
  });
}

interface Tunnel {
  guest: ProxyGuest;
  target: ProxyTarget;
  client: Duplex;
  open: OpenConnection;
  idleMs: number;
  /** The proxy cannot read the traffic. */
  encrypted: boolean;
}

/** Pipes the client and its target into each other. `begin` writes the first bytes. */
async function tunnel(options: Tunnel, begin: (upstream: Duplex) => void): Promise<void> {
  const { guest, target, client, open, idleMs } = options;
  let upstream;
  try {
    const refused = guest.refusal() ?? (options.encrypted ? guest.tunnelRefusal(target) : null);
    if (refused !== null) throw refused;
    guest.holdUntil(client, (done) => client.once("close", done));
    upstream = await open(target, guest.options.via);
  } catch (error) {
    guest.failed(target.host, error as FetchFailure);
    return refuse(client, 502);
  }
  // The page may have closed while the connection opened.
  if (client.destroyed || guest.ended) {
    upstream.destroy();
    client.destroy();
    return;
  }
  const count = (chunk: Buffer) => guest.count(chunk.length);
  const ends: [Duplex & { setTimeout?: (ms: number, then: () => void) => unknown }, Duplex][] = [
    [client, upstream],
    [upstream, client],
  ];
  for (const [from, to] of ends) {
    from.setTimeout?.(idleMs, () => from.destroy());
    // After a regular end, the other side still receives what is buffered.
    from.once("close", () => (from.readableEnded ? to.end() : to.destroy()));
  }
  begin(upstream);
  client.on("data", count).pipe(upstream);
  upstream.on("data", count).pipe(client);
}

function refuse(client: Duplex, status: 400 | 407 | 502): void {
  if (client.destroyed) return;
  const why = { 400: "Bad Request", 407: "Proxy Authentication Required", 502: "Bad Gateway" }[status];
  const challenge = status === 407 ? `Proxy-Authenticate: ${CHALLENGE}\r\n` : "";
  client.end(`HTTP/1.1 ${status} ${why}\r\n${challenge}Content-Length: 0\r\nConnection: close\r\n\r\n`);
}

function upgradeHead(guest: ProxyGuest, request: IncomingMessage, target: ProxyTarget): string {
  const forwarded = keepBoundCookies(guest, target, endToEnd(request.rawHeaders, new Set(["host"])));
  const kept = ["Host", target.host, ...forwarded];
  kept.push("Connection", "Upgrade", "Upgrade", request.headers.upgrade ?? "websocket");
  let head = `${request.method} ${target.path} HTTP/1.1\r\n`;
  for (let index = 0; index < kept.length; index += 2) head += `${kept[index]}: ${kept[index + 1]}\r\n`;
  return `${head}\r\n`;
}

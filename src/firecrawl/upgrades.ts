/** Requests for a WebSocket: they go through all that guards others, and their connections end with the server. */
import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { limitsOf } from "../api/deps.ts";
import type { ApiInstance, ApiReply, ApiRequest } from "../api/instance.ts";
import type { Clock } from "../base/clock.ts";
import type { FirecrawlDeps } from "./deps.ts";

const UPGRADE = Symbol("upgrade");

interface Upgrading extends IncomingMessage {
  [UPGRADE]?: { socket: Socket; head: Buffer };
}

const PATHS = /^\/v[12]\/(?:crawl|batch\/scrape)\/[\w-]+$/;

/** How long the other side may take to say goodbye, too. */
const GOODBYE_MS = 10_000;
const GOODBYE_AT_STOP_MS = 2000;

/**
 * Hands requests for a WebSocket to the routes, as any other; whatever refuses them answers in HTTP. From then on the
 * server of HTTP does not know the connection any more: what it does for others, with those in time, is done here.
 */
export function acceptUpgrades(api: ApiInstance, deps: FirecrawlDeps): void {
  const { requestMs } = limitsOf(deps);
  const open = new Set<Socket>();
  // Other upgrade offers, such as those of HTTP/2 clients, are ignored.
  Object.assign(api.server, { shouldUpgradeCallback: wantsToWatch });
  api.server.on("upgrade", (request: Upgrading, duplex: Duplex, head: Buffer) => {
    const socket = duplex as Socket;
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy());
    // A watcher removes it.
    socket.setTimeout(requestMs, () => socket.destroy());
    // Their key stands where sub-protocols do, as browsers can set nothing else.
    const [key] = (request.headers["sec-websocket-protocol"] ?? "").split(",", 1);
    request[UPGRADE] = { socket, head };
    if (key !== undefined && key.trim() !== "") request.headers.authorization ??= `Bearer ${key.trim()}`;
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    response.shouldKeepAlive = false;
    // Nobody waits for the other side to close it.
    response.once("finish", () => socket.destroySoon());
    api.routing(request, response);
  });
  api.addHook("preClose", async () => {
    const most = Math.min(GOODBYE_AT_STOP_MS, deps.settings.graceMs);
    deps.clock.after(most, () => open.forEach((socket) => socket.destroy()), { keepAlive: open.size > 0 });
  });
}

function wantsToWatch({ method, url = "", headers }: IncomingMessage): boolean {
  const [path = ""] = url.split("?", 1);
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket" && PATHS.test(path);
}

export function isUpgrade(request: ApiRequest): boolean {
  return (request.raw as Upgrading)[UPGRADE] !== undefined;
}

/** They send nothing that is of interest. */
const server = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  maxPayload: 4096,
  perMessageDeflate: false,
  closeTimeout: GOODBYE_MS,
} as ConstructorParameters<typeof WebSocketServer>[0]);

/** `open` is called once it is one; a request that is not well-formed is answered with 400. */
export function upgrade(request: ApiRequest, reply: ApiReply, open: (ws: WebSocket) => void): void {
  const { socket, head } = (request.raw as Upgrading)[UPGRADE]!;
  reply.hijack();
  reply.raw.detachSocket(socket);
  server.handleUpgrade(request.raw, socket, head, (ws) => {
    ws.on("error", () => ws.terminate());
    open(ws);
  });
}

/** A client that does not answer pings for so long is disconnected, like other idle connections. */
export function keepAlive(
  ws: WebSocket,
  clock: Clock,
  { heartbeatMs, silentMs }: { heartbeatMs: number; silentMs: number },
): void {
  let lastPongAt = clock.monotonic();
  ws.on("pong", () => (lastPongAt = clock.monotonic()));
  const beat = () => {
    if (ws.readyState !== ws.OPEN) return;
    if (clock.monotonic() - lastPongAt >= silentMs) return ws.terminate();
    ws.ping();
    next = clock.after(heartbeatMs, beat);
  };
  let next = clock.after(heartbeatMs, beat);
  ws.once("close", () => next.cancel());
}

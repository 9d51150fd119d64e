/** Requests for a WebSocket: they go through all that guards others, and their connections end with the server. */
import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import type { Clock } from "../base/clock.ts";
import { type ApiDeps, limitsOf } from "./deps.ts";
import type { ApiInstance, ApiReply, ApiRequest } from "./instance.ts";

const UPGRADE = Symbol("upgrade");

interface Upgrading extends IncomingMessage {
  [UPGRADE]?: { socket: Socket; head: Buffer };
}

/** The paths that become a WebSocket. */
interface UpgradePath {
  path: RegExp;
  /** The caller's key stands where sub-protocols do, as browsers can set no headers. */
  keyInProtocol?: boolean;
}

declare module "fastify" {
  interface FastifyInstance {
    upgradePaths: UpgradePath[];
  }
}

/** How long the other side may take to say goodbye, too. */
const GOODBYE_MS = 10_000;
const GOODBYE_AT_STOP_MS = 2000;

/**
 * Hands requests for a WebSocket to the routes, as any other; whatever refuses them answers in HTTP. From then on the
 * server of HTTP does not know the connection any more: what it does for others, with those in time, is done here.
 */
export function acceptUpgrades(api: ApiInstance, deps: Pick<ApiDeps, "settings" | "clock">): void {
  const { requestMs } = limitsOf(deps);
  const open = new Set<Socket>();
  api.decorate("upgradePaths", []);
  // Other upgrade offers, such as those of HTTP/2 clients, are ignored.
  Object.assign(api.server, {
    shouldUpgradeCallback: (request: IncomingMessage) => upgradePathOf(api, request) !== undefined,
  });
  api.server.on("upgrade", (request: Upgrading, duplex: Duplex, head: Buffer) => {
    const socket = duplex as Socket;
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy());
    // A watcher removes it.
    socket.setTimeout(requestMs, () => socket.destroy());
    request[UPGRADE] = { socket, head };
    if (upgradePathOf(api, request)?.keyInProtocol === true) {
      const [key] = (request.headers["sec-websocket-protocol"] ?? "").split(",", 1);
      if (key !== undefined && key.trim() !== "") request.headers.authorization ??= `Bearer ${key.trim()}`;
    }
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

function upgradePathOf(api: ApiInstance, { method, url = "", headers }: IncomingMessage): UpgradePath | undefined {
  if (method !== "GET" || headers.upgrade?.toLowerCase() !== "websocket") return undefined;
  const [asked = ""] = url.split("?", 1);
  return api.upgradePaths.find(({ path }) => path.test(asked));
}

export function isUpgrade(request: ApiRequest): boolean {
  return (request.raw as Upgrading)[UPGRADE] !== undefined;
}

/** Most clients send nothing that is of interest. */
const SMALL_PAYLOAD = 4096;
const servers = new Map<number, WebSocketServer>();

/** Loaded with the first one: commands use the API without a port. */
async function serverFor(maxPayload: number): Promise<WebSocketServer> {
  const ws = await import("ws");
  let server = servers.get(maxPayload);
  if (server === undefined) {
    server = new ws.WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload,
      perMessageDeflate: false,
      closeTimeout: GOODBYE_MS,
    } as ConstructorParameters<typeof WebSocketServer>[0]);
    servers.set(maxPayload, server);
  }
  return server;
}

/** `open` is called once it is one; a request that is not well-formed is answered with 400. */
export function upgrade(
  request: ApiRequest,
  reply: ApiReply,
  open: (ws: WebSocket) => void,
  maxPayload = SMALL_PAYLOAD,
): void {
  const { socket, head } = (request.raw as Upgrading)[UPGRADE]!;
  reply.hijack();
  reply.raw.detachSocket(socket);
  const failed = () => void socket.destroy();
  serverFor(maxPayload).then((server) => {
    server.handleUpgrade(request.raw, socket, head, (ws) => {
      ws.on("error", () => ws.terminate());
      open(ws);
    });
  }, failed);
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

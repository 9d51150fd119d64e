/**
 * A crawl as it goes on, over a WebSocket: first what there is, then each document, then the end. A request that asks for
 * one goes through all that guards other requests; its key stands where sub-protocols do, as browsers can set nothing else.
 */
import { type IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { limitsOf } from "../api/deps.ts";
import type { ApiInstance, ApiReply, ApiRequest } from "../api/instance.ts";
import { ApiProblem } from "../api/problems.ts";
import { isSameOrigin } from "../api/security.ts";
import { sleep } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { FirecrawlDeps } from "./deps.ts";
import type { Version } from "./scrape-options.ts";
import { countsOf, documentsOf, hasEnded, PAGE_LIMITS, requireCrawlRun } from "./status.ts";

const UPGRADE = Symbol("upgrade");

interface Upgrading extends IncomingMessage {
  [UPGRADE]?: { socket: Duplex; head: Buffer };
}

const PATHS = /^\/v[12]\/(?:crawl|batch\/scrape)\/[\w-]+$/;

/** Hands requests for a WebSocket to the routes, as any other; whatever refuses them answers in HTTP. */
export function acceptUpgrades(api: ApiInstance): void {
  // Whoever offers something else, as clients of HTTP/2 do, is answered as if they had not.
  Object.assign(api.server, { shouldUpgradeCallback: wantsToWatch });
  api.server.on("upgrade", (request: Upgrading, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    const [key] = (request.headers["sec-websocket-protocol"] ?? "").split(",", 1);
    request[UPGRADE] = { socket, head };
    if (key !== undefined && key.trim() !== "") request.headers.authorization ??= `Bearer ${key.trim()}`;
    const response = new ServerResponse(request);
    response.assignSocket(socket as Socket);
    response.shouldKeepAlive = false;
    response.once("finish", () => socket.end());
    api.routing(request, response);
  });
}

function wantsToWatch({ method, url = "", headers }: IncomingMessage): boolean {
  const [path = ""] = url.split("?", 1);
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket" && PATHS.test(path);
}

export function isUpgrade(request: ApiRequest): boolean {
  return (request.raw as Upgrading)[UPGRADE] !== undefined;
}

interface Watched {
  id: string;
  version: Version;
  base: string;
}

/** They send nothing that is of interest. */
const server = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  maxPayload: 4096,
  perMessageDeflate: false,
});

export async function watchRun(
  deps: FirecrawlDeps,
  request: ApiRequest,
  reply: ApiReply,
  watched: Watched,
): Promise<ApiReply> {
  // A page of another web site could read along: browsers let any page open one.
  if (request.headers.origin !== undefined && !isSameOrigin(request))
    throw new ApiProblem("forbidden_origin", "a page of another web site may not listen here");
  await requireCrawlRun(deps, watched.id);
  const { socket, head } = (request.raw as Upgrading)[UPGRADE]!;
  reply.hijack();
  reply.raw.detachSocket(socket as Socket);
  const ended = request.server.openStreams.open();
  server.handleUpgrade(request.raw, socket, head, (ws) => {
    ws.on("error", () => ws.terminate());
    ws.once("close", () => ended.abort());
    ended.signal.addEventListener("abort", () => ws.close(1001), { once: true });
    void follow(deps, ws, watched, ended.signal)
      .catch((error: unknown) => end(ws, watched, { type: "error", error: messageOf(error) }))
      .finally(() => ended.abort());
  });
  return reply;
}

const LOOK_MS = 250;

async function follow(deps: FirecrawlDeps, ws: WebSocket, watched: Watched, signal: AbortSignal): Promise<void> {
  const { clock } = deps;
  const { heartbeatMs } = limitsOf(deps);
  let last: string | undefined;
  let sentAt = clock.monotonic();
  let told = 0;
  const tell = async (message: object) => {
    sentAt = clock.monotonic();
    // Never faster than its reader.
    await new Promise<void>((resolve) => ws.send(JSON.stringify(message), () => resolve()));
  };
  for (let first = true; !signal.aborted; first = false) {
    // The state first: what was written before the end is then among the documents.
    const run = await requireCrawlRun(deps, watched.id);
    const page = await documentsOf(deps, run, watched.base, last === undefined ? {} : { after: last });
    last = page.last ?? last;
    told += page.documents.length;
    if (first) {
      const status = hasEnded(run) ? ({ status: "scraping" } as const) : {};
      await tell({ type: "catchup", data: { ...(await countsOf(deps, run)), ...status, data: page.documents } });
    } else for (const data of page.documents) await tell({ type: "document", data });
    if (page.more) continue;
    if (hasEnded(run)) {
      const { success: _success, ...counts } = await countsOf(deps, run);
      const isDone = counts.status === "completed";
      if (watched.version === "v1")
        return end(ws, watched, isDone ? { type: "done" } : { type: "error", error: `it is ${counts.status}` });
      // Whoever listens gets all of it at the end, too, as far as it fits one answer.
      const all = told <= PAGE_LIMITS.documents ? (await documentsOf(deps, run, watched.base, {})).documents : [];
      await tell({ type: isDone ? "done" : "status", data: { ...counts, data: all } });
      return ws.close(1000);
    }
    if (clock.monotonic() - sentAt >= heartbeatMs) {
      sentAt = clock.monotonic();
      ws.ping();
    }
    await sleep(clock, LOOK_MS, signal);
  }
}

/** The client of the first version reads its last message from the reason, which has 123 bytes. */
function end(ws: WebSocket, { version }: Watched, message: { type: "done" } | { type: "error"; error: string }): void {
  if (version === "v2" && message.type === "error") ws.send(JSON.stringify(message));
  const short = message.type === "error" ? { ...message, error: message.error.slice(0, 80) } : message;
  const reason = Buffer.from(JSON.stringify(short));
  ws.close(1000, version === "v1" && reason.length <= 123 ? reason : undefined);
}

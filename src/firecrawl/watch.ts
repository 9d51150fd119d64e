/** A crawl as it goes on, over a WebSocket: first what there is, then each document, then the end. */
import type { WebSocket } from "ws";
import { callerBy } from "../api/access/held-answers.ts";
import { RECHECK_MS } from "../api/access/keys.ts";
import { untilRevoked } from "../api/auth.ts";
import { limitsOf } from "../api/deps.ts";
import type { ApiReply, ApiRequest } from "../api/instance.ts";
import { ApiProblem } from "../api/problems.ts";
import { isSameOrigin } from "../api/security.ts";
import { keepAlive, upgrade } from "../api/upgrades.ts";
import { sleep } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { asCaller } from "../domain/access/caller.ts";
import type { FirecrawlDeps } from "./deps.ts";
import type { Version } from "./scrape-options.ts";
import { countsOf, documentsOf, hasEnded, requireCrawlRun, showStatus } from "./status.ts";

interface Watched {
  id: string;
  version: Version;
  base: string;
  path: string;
}

export async function watchRun(
  deps: FirecrawlDeps,
  request: ApiRequest,
  reply: ApiReply,
  watched: Watched,
): Promise<ApiReply> {
  // A page of another web site could read along: browsers let any page open one.
  if (request.headers.origin !== undefined && !isSameOrigin(request))
    throw new ApiProblem("forbidden_origin", "a page of another web site may not connect here");
  await requireCrawlRun(deps, watched.id);
  upgrade(request, reply, (ws) => {
    const ended = request.server.openStreams.open();
    ws.once("close", () => ended.abort());
    if (ended.signal.aborted) ws.close(1001);
    ended.signal.addEventListener("abort", () => ws.close(1001), { once: true });
    const stop = untilRevoked(request, deps, RECHECK_MS, () => ended.abort());
    ended.signal.addEventListener("abort", stop, { once: true });
    keepAlive(ws, deps.clock, limitsOf(deps));
    // The call itself has ended: what follows is still for its caller.
    const { principal } = request;
    const caller = principal === null ? null : callerBy(principal, request);
    void asCaller(caller, () => follow(deps, ws, watched, ended.signal))
      .catch((error: unknown) => end(ws, watched, { type: "error", error: messageOf(error) }))
      .finally(() => ended.abort());
  });
  return reply;
}

const LOOK_MS = 250;

async function follow(deps: FirecrawlDeps, ws: WebSocket, watched: Watched, signal: AbortSignal): Promise<void> {
  const { clock } = deps;
  let last: string | undefined;
  // Never faster than its reader.
  const send = (message: object) => new Promise<void>((resolve) => ws.send(JSON.stringify(message), () => resolve()));
  for (let first = true; !signal.aborted; first = false) {
    // The state first: what was written before the end is then among the documents.
    const run = await requireCrawlRun(deps, watched.id);
    const page = await documentsOf(deps, run, watched.base, last === undefined ? {} : { after: last });
    last = page.last ?? last;
    if (first) {
      const status = hasEnded(run) ? ({ status: "scraping" } as const) : {};
      await send({ type: "catchup", data: { ...(await countsOf(deps, run)), ...status, data: page.documents } });
    } else for (const data of page.documents) await send({ type: "document", data });
    if (page.more) continue;
    if (hasEnded(run)) {
      // The end says what asking for the status says: the documents of its first page, and where the next one is.
      const { success: _success, ...whole } = await showStatus(deps, watched.id, watched, {});
      const isDone = whole.status === "completed";
      if (watched.version === "v1")
        return end(ws, watched, isDone ? { type: "done" } : { type: "error", error: `it is ${whole.status}` });
      await send({ type: isDone ? "done" : "status", data: whole });
      return ws.close(1000);
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

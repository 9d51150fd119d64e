/** `POST /mcp`: MCP over HTTP. Calls are stateless; guards and authentication are the API's. */
import { AsyncLocalStorage } from "node:async_hooks";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { RECHECK_MS } from "../api/access/keys.ts";
import { untilRevoked } from "../api/auth.ts";
import { type ApiDeps, limitsOf } from "../api/deps.ts";
import type { ApiReply, ApiRequest } from "../api/instance.ts";
import { Type } from "../api/type.ts";
import type { Routes } from "../api/routes/registry.ts";
import { messageOf } from "../base/errors.ts";
import type { Role } from "../domain/access/roles.ts";
import type { OrbweaverClient } from "../api-client/client.ts";

/** `api`: the client with which tools call this server's API, with the rights of the caller. */
export function mcpRoutes(api: (request: ApiRequest) => { client: OrbweaverClient; end(): void }): Routes {
  return (server, deps) => {
    // Loads the SDK with the first agent: most servers never see one.
    let serving: Promise<Serve> | null = null;
    // Calls that wait for a run return its current state, so that they do not delay the shutdown.
    const stopping = new AbortController();
    server.addHook("preClose", async () => stopping.abort());
    server.post(
      "/mcp",
      {
        config: { role: "viewer", limited: true },
        bodyLimit: limitsOf(deps).workflowBytes,
        schema: { hide: true, body: Type.Unknown() },
      },
      async (request, reply) => {
        serving ??= openHandler(deps, api, stopping.signal);
        return (await serving)(request, reply);
      },
    );
  };
}

type Serve = (request: ApiRequest, reply: ApiReply) => Promise<ApiReply>;

async function openHandler(deps: ApiDeps, api: Parameters<typeof mcpRoutes>[0], stopping: AbortSignal): Promise<Serve> {
  const [{ createMcpHandler }, { createMcpServer }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("./server.ts"),
  ]);
  const { clock, log } = deps;
  const { version } = deps.settings;
  const calls = new AsyncLocalStorage<{ client: OrbweaverClient; role: Role }>();
  const handler = createMcpHandler(
    ({ era }) => {
      const call = calls.getStore();
      if (call === undefined) throw new Error("an MCP call without its caller");
      return createMcpServer(
        { api: call.client, role: call.role, clock, log, version, stopping },
        // Before the revision of 2026-07-28 a lost connection was no cancellation.
        { goneIsCancelled: era === "modern" },
      );
    },
    {
      onerror: (error) => log.debug("invalid MCP request", { error: messageOf(error) }),
      // Tools and resources do not change while the server runs, so there is nothing to subscribe to.
      maxSubscriptions: 0,
    },
  );
  return async (request, reply) => {
    const gone = new AbortController();
    reply.raw.once("close", () => {
      if (!reply.raw.writableFinished && !stopping.aborted) gone.abort();
    });
    // The caller has left while the call waited for its turn: nothing would end it.
    if (reply.raw.destroyed) return reply.send();
    const { client, end } = api(request);
    // A tool cancels what nobody waits for any more, also for the caller.
    reply.raw.once("close", () => void clock.after(CANCEL_MS, end));
    const role = request.principal?.role ?? "viewer";
    const answer = await calls.run({ client, role }, () =>
      handler.fetch(webRequest(request, gone.signal), { parsedBody: request.body }),
    );
    for (const [name, value] of answer.headers) if (name !== "cache-control") reply.header(name, value);
    reply.code(answer.status);
    if (answer.body === null) return reply.send();
    const stream = Readable.fromWeb(answer.body as ReadableStream);
    const stop = untilRevoked(request, deps, RECHECK_MS, () => {
      gone.abort();
      reply.raw.destroy();
    });
    reply.raw.once("close", stop);
    return reply.header("x-accel-buffering", "no").send(stream);
  };
}

const CANCEL_MS = 30_000;

/** The body is already read, and the handler ignores the URL. */
function webRequest(request: ApiRequest, signal: AbortSignal): Request {
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, one]),
  );
  return new Request("http://localhost/mcp", { method: "POST", headers, signal });
}

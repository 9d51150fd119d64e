/** `POST /mcp`: agents that come over the network. Every call stands by itself; the guards and the token are those of the API. */
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { type ApiDeps, limitsOf } from "../api/deps.ts";
import type { ApiReply, ApiRequest } from "../api/instance.ts";
import { Type } from "../api/type.ts";
import type { Routes } from "../api/routes/registry.ts";
import { messageOf } from "../base/errors.ts";
import type { OrbweaverClient } from "../api-client/client.ts";

/** `api`: how the tools speak the API of this very server. */
export function mcpRoutes(api: () => OrbweaverClient): Routes {
  return (server, deps) => {
    // The SDK is loaded by the first agent that comes: most servers never see one.
    let serving: Promise<Serve> | null = null;
    // Calls that wait for a run are answered with its current state, so that they do not delay the shutdown.
    const stopping = new AbortController();
    server.addHook("preClose", async () => stopping.abort());
    server.post(
      "/mcp",
      {
        bodyLimit: limitsOf(deps).workflowBytes,
        schema: { hide: true, body: Type.Unknown() },
      },
      async (request, reply) => {
        serving ??= openHandler(deps, api(), stopping.signal);
        return (await serving)(request, reply);
      },
    );
  };
}

type Serve = (request: ApiRequest, reply: ApiReply) => Promise<ApiReply>;

async function openHandler(deps: ApiDeps, api: OrbweaverClient, stopping: AbortSignal): Promise<Serve> {
  const [{ createMcpHandler }, { createMcpServer }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("./server.ts"),
  ]);
  const { clock, log } = deps;
  const { version } = deps.settings;
  const handler = createMcpHandler(
    ({ era }) =>
      createMcpServer(
        { api, clock, log, version, stopping },
        // Before the revision of 2026-07-28 a lost connection was no cancellation.
        { goneIsCancelled: era === "modern" },
      ),
    {
      onerror: (error) => log.debug("a call of an agent could not be used", { error: messageOf(error) }),
      // Tools and resources do not change while the server runs: there is nothing to wait for on an open stream.
      maxSubscriptions: 0,
    },
  );
  return async (request, reply) => {
    const gone = new AbortController();
    reply.raw.once("close", () => {
      if (!reply.raw.writableFinished && !stopping.aborted) gone.abort();
    });
    const answer = await handler.fetch(webRequest(request, gone.signal), { parsedBody: request.body });
    for (const [name, value] of answer.headers) if (name !== "cache-control") reply.header(name, value);
    reply.code(answer.status);
    if (answer.body === null) return reply.send();
    return reply.header("x-accel-buffering", "no").send(Readable.fromWeb(answer.body as ReadableStream));
  };
}

/** The body is read already, and the address is of no importance to who answers. */
function webRequest(request: ApiRequest, signal: AbortSignal): Request {
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, one]),
  );
  return new Request("http://localhost/mcp", { method: "POST", headers, signal });
}

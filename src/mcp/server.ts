/** Tools and resources for every transport. */
import {
  type CallToolResult,
  McpServer,
  SdkError,
  SdkErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { includesRole, type Role } from "../domain/access/roles.ts";
import type { OrbweaverClient } from "../api-client/client.ts";
import { asStandard } from "./checks.ts";
import { toFailure } from "./problems.ts";
import { render } from "./render.ts";
import { addResources } from "./resources.ts";
import { MOST_CHARS, NORMAL_CHARS } from "./shapes.ts";
import type { Tool, ToolCall } from "./tool.ts";
import { TOOLS } from "./tools/registry.ts";

export interface McpDeps {
  api: OrbweaverClient;
  /** Of the caller: tools that need another one are not offered. */
  role: Role;
  clock: Clock;
  log: Log;
  version: string;
  /** This process shuts down. */
  stopping: AbortSignal;
}

const INSTRUCTIONS = `Orbweaver fetches web pages and stores the results. One page: scrape. Pages that you do not know yet: search. Many pages of a site: crawl_start, then crawl_status to wait, then crawl_results to read. Test rules with extract_preview. Responses are limited: if something was left out, "next" or "rest" is the call that returns it. Runs continue when you stop waiting; their ids stay valid.`;

const UNFORESEEN =
  "Unexpected server error. Call once more; if it persists, tell the operator, who finds it in the log.";

// Created once: over HTTP every call has its own server.
const STANDARD = TOOLS.map(({ tool, about }) => ({
  tool,
  about,
  input: asStandard(tool.input),
  output: asStandard(tool.output),
}));

/** `goneIsCancelled`: a client that disconnects cancels its call. */
export function createMcpServer(deps: McpDeps, { goneIsCancelled }: { goneIsCancelled: boolean }): McpServer {
  const server = new McpServer(
    { name: "orbweaver", title: "Orbweaver", version: deps.version },
    {
      instructions: INSTRUCTIONS,
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
    },
  );
  for (const { tool, about, input, output } of STANDARD.filter(({ tool }) => includesRole(deps.role, tool.role)))
    server.registerTool(
      tool.name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema: input,
        outputSchema: output,
        annotations: {
          title: tool.title,
          readOnlyHint: tool.hints.reads,
          destructiveHint: tool.hints.destroys === true,
          idempotentHint: tool.hints.reads || tool.hints.repeatable === true,
          openWorldHint: tool.hints.open === true,
        },
      },
      (args, context) => callTool(tool, about, args, callOf(deps, context, goneIsCancelled), deps.log),
    );
  addResources(server, deps.api);
  return server;
}

function callOf(
  { api, clock, stopping }: McpDeps,
  { mcpReq, http }: ServerContext,
  goneIsCancelled: boolean,
): ToolCall {
  const { signal, notify } = mcpReq;
  const token = mcpReq._meta?.progressToken;
  let lastMessage = "";
  return {
    api,
    clock,
    signal,
    stopping,
    isCancelled: () => {
      if (!signal.aborted || stopping.aborted) return false;
      const isGone = signal.reason instanceof SdkError && signal.reason.code === SdkErrorCode.ConnectionClosed;
      return !isGone || (goneIsCancelled && http !== undefined);
    },
    progress: (done, total, message) => {
      if (token === undefined || signal.aborted || message === lastMessage) return;
      lastMessage = message;
      // A client that disconnected misses nothing.
      void notify({
        method: "notifications/progress",
        params: { progressToken: token, progress: done, total, message },
      }).catch(() => {});
    },
  };
}

async function callTool(
  tool: Tool,
  about: string,
  args: Record<string, unknown>,
  call: ToolCall,
  log: Log,
): Promise<CallToolResult> {
  try {
    const answer = (await tool.call(args as never, call)) as Record<string, unknown>;
    const asked = args["max_chars"];
    return {
      content: [{ type: "text", text: textOf(answer, typeof asked === "number" ? asked : NORMAL_CHARS) }],
      structuredContent: answer,
    };
  } catch (error) {
    return failed(tool, error, about, log);
  }
}

/** Deeply nested values may be longer as text than as JSON: the limit holds for both. */
function textOf(answer: Record<string, unknown>, maxChars: number): string {
  const text = render(answer);
  return text.length <= Math.min(maxChars, MOST_CHARS) ? text : JSON.stringify(answer);
}

function failed(tool: Tool, error: unknown, about: string, log: Log): CallToolResult {
  const failure = toFailure(error, about);
  if (failure === null) log.error("a tool failed unexpectedly", { tool: tool.name, error: messageOf(error) });
  return { isError: true, content: [{ type: "text", text: failure?.message ?? UNFORESEEN }] };
}

import type { Command } from "commander";
import { apiCommand, type UrlOption } from "../api/command.ts";
import type { CliContext, OpenApi } from "../context.ts";
import { stopRequest } from "../stop.ts";

/** `orb mcp`: tools for the agent that started this program. Standard output belongs to the protocol. */
export function addMcpCommand(program: Command, context: CliContext): void {
  apiCommand(program, "mcp", "MCP server (Model Context Protocol) for agents, over standard input and output").action(
    (options: UrlOption) => serveAgent(context, options),
  );
}

/**
 * The agent is gone and does not wait. Every state change is a transaction, so work that does not end in time is
 * dropped.
 */
const END_WITHIN_MS = 10_000;

async function serveAgent(context: CliContext, options: UrlOption): Promise<void> {
  let deadline: NodeJS.Timeout | undefined;
  try {
    await context.withApi(options, (api) =>
      talk(context, api, () => {
        deadline = setTimeout(() => context.wiring.exit(context.exitCode), END_WITHIN_MS);
      }),
    );
  } finally {
    clearTimeout(deadline);
  }
}

async function talk({ wiring, terminal }: CliContext, api: OpenApi, onEnd: () => void): Promise<void> {
  using stop = stopRequest(wiring, terminal, api.log);
  if (terminal.live) terminal.err("waiting for an agent on standard input; see docs/mcp.md for the configuration\n");
  const failed = new AbortController();
  // Answer the agent at once; the worker starts a moment later, unless one already runs.
  const working = api.here?.work({ onRole: () => {}, givesWay: true });
  working?.catch(() => failed.abort());
  try {
    await wiring.serveMcp(api, api.log, AbortSignal.any([stop.signal, failed.signal]));
  } finally {
    onEnd();
    // The parent does not wait long: the next worker takes over tasks in flight.
    (await working)?.hurry();
  }
}

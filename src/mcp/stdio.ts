/** MCP over the standard streams, for agents that start this program. */
import type { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { messageOf } from "../base/errors.ts";
import { createMcpServer, type McpDeps } from "./server.ts";

/** Resolves when the agent has closed its end or `signal` aborts, and all calls are answered or dropped. */
export async function serveOverStdio(
  deps: McpDeps,
  { input, output, signal }: { input: Readable; output: Writable; signal: AbortSignal },
): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const transport = new AgentTransport(input, output);
  transport.onEnd = resolve;
  const handle = serveStdio(() => createMcpServer(deps, { goneIsCancelled: false }), {
    transport,
    onerror: (error) => deps.log.debug("invalid MCP message", { error: messageOf(error) }),
  });
  for (const event of ["end", "close", "error"]) input.once(event, resolve);
  for (const event of ["close", "error"]) output.once(event, resolve);
  signal.addEventListener("abort", () => resolve(), { once: true });
  if (signal.aborted) resolve();
  await closed;
  await handle.close();
}

/**
 * Reports when the SDK closes it, for whatever reason. The SDK then stops reading the input, as after an EPIPE: the end
 * of the input is never seen.
 */
class AgentTransport extends StdioServerTransport {
  onEnd: () => void = () => {};

  override async close(): Promise<void> {
    await super.close();
    this.onEnd();
  }
}

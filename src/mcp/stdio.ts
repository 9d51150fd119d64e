/** Agents that start this program themselves, and talk to it over its standard streams. */
import type { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { messageOf } from "../base/errors.ts";
import { createMcpServer, type McpDeps } from "./server.ts";

/** Resolves when the agent has closed its end, or `signal` says stop; all that was asked for has been answered, or has been left. */
export async function talkOverStdio(
  deps: McpDeps,
  { input, output, signal }: { input: Readable; output: Writable; signal: AbortSignal },
): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const transport = new AgentTransport(input, output);
  transport.onEnd = resolve;
  const handle = serveStdio(() => createMcpServer(deps, { goneIsCancelled: false }), {
    transport,
    onerror: (error) => deps.log.debug("a message could not be used", { error: messageOf(error) }),
  });
  for (const event of ["end", "close", "error"]) input.once(event, resolve);
  for (const event of ["close", "error"]) output.once(event, resolve);
  signal.addEventListener("abort", () => resolve(), { once: true });
  if (signal.aborted) resolve();
  await closed;
  await handle.close();
}

/**
 * Says when the SDK closes it, for whatever reason. The SDK stops reading the input when it does, as after an answer that
 * nobody reads (EPIPE): the input's end is never seen then.
 */
class AgentTransport extends StdioServerTransport {
  onEnd: () => void = () => {};

  override async close(): Promise<void> {
    await super.close();
    this.onEnd();
  }
}

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
  const transport = new StdioServerTransport(input, output);
  const handle = serveStdio(() => createMcpServer(deps, { goneIsCancelled: false }), {
    transport,
    onerror: (error) => deps.log.debug("a message could not be used", { error: messageOf(error) }),
  });
  // The SDK has its own reasons to look at the end; this process has them, too.
  input.once("end", resolve);
  input.once("close", resolve);
  signal.addEventListener("abort", () => resolve(), { once: true });
  if (signal.aborted) resolve();
  await closed;
  await handle.close();
}

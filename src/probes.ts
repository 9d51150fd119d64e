/** What `GET /ready` looks at. Part of the composition root, because it looks at everything. */
import type { RunningWorker } from "./app.ts";
import type { Client } from "./client.ts";
import type { Finding, Probe } from "./orchestrator/health.ts";
import { standstill } from "./orchestrator/workforce.ts";
import type { PageTools } from "./page-tools.ts";

/** What this process has, if it has it. */
export interface Parts {
  worker: () => RunningWorker | null;
  tools: () => Pick<PageTools, "browser" | "memory"> | null;
}

const MB = 1024 * 1024;
const inMb = (bytes: number) => Math.floor(bytes / MB);

export function probesOf(client: Client, { worker, tools }: Parts): Record<string, Probe> {
  const { store, artifacts, room } = client;
  return {
    database: () => store.probe(),
    disk: async () => {
      room.check();
      return { message: room.rooms.map(({ what, freeBytes }) => `${inMb(freeBytes)} MB free for ${what}`).join(", ") };
    },
    artifacts: async () => artifacts.probe(),
    worker: async () => workerFinding(client, worker()),
    memory: async () => memoryFinding(tools()?.memory ?? null),
    browser: async () => {
      const trouble = tools()?.browser.trouble ?? null;
      return trouble === null ? undefined : { ...trouble, degraded: true };
    },
  };
}

async function workerFinding(client: Client, own: RunningWorker | null): Promise<Finding> {
  const paused = own?.paused ?? null;
  if (paused !== null) {
    const since = own?.pausedSince ?? null;
    return { degraded: true, message: `work pauses: ${paused}`, ...(since === null ? {} : { since }) };
  }
  const still = await standstill(client);
  if (still !== null) return { degraded: true, message: still.message };
  return { message: own?.role === "engine" ? "this process does the work" : "another process does the work" };
}

async function memoryFinding(memory: PageTools["memory"] | null): Promise<Finding | void> {
  if (memory === null) return undefined;
  const used = inMb(await memory.used());
  const { limitBytes, since } = memory;
  if (limitBytes === null) return { message: `${used} MB` };
  const message = `${used} of ${inMb(limitBytes)} MB`;
  return since === null ? { message } : { message: `${message}: one task at a time is done`, degraded: true, since };
}

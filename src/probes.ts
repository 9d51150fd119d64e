/** What `GET /ready` looks at. Part of the composition root, because it looks at everything. */
import type { RunningWorker } from "./app.ts";
import type { Client } from "./client.ts";
import type { Finding, Probe } from "./orchestrator/health.ts";
import { standstill } from "./orchestrator/workforce.ts";
import { inMb, memoryWords, troublesOf } from "./own-worker.ts";
import type { PageTools } from "./page-tools.ts";
import type { WorkerRecord, WorkerTrouble } from "./store/worker-port.ts";

/** What this process has, if it has it. */
export interface Parts {
  worker: () => RunningWorker | null;
  tools: () => Pick<PageTools, "browser" | "memory"> | null;
}

const MOST_WORKERS = 1000;
/** So many others are named when all is well. */
const MOST_NAMED = 5;

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
    memory: async () => {
      const own = tools();
      const others = await otherWorkers(client, worker());
      const trouble = await troubleOf("memory", own, others);
      if (trouble !== null) return trouble;
      const words = [
        ...(own === null ? [] : [`this process ${await memoryWords(own)}`]),
        ...others.slice(0, MOST_NAMED).map((one) => `${nameOf(one)} ${inMb(one.memoryBytes)} MB`),
      ];
      return words.length === 0 ? undefined : { message: words.join(", ") };
    },
    browser: async () => (await troubleOf("browser", tools(), await otherWorkers(client, worker()))) ?? undefined,
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

/** Those that work elsewhere: what they say of themselves is at most a few seconds old. */
async function otherWorkers({ store }: Client, own: RunningWorker | null): Promise<WorkerRecord[]> {
  const workers = await store.workers({ live: true, limit: MOST_WORKERS });
  return workers.filter(({ id, state }) => id !== own?.workerId && state !== "lost");
}

const nameOf = ({ command, identity }: WorkerRecord) => `orb ${command} (process ${identity.pid})`;

/** What is wrong with it in this process, or else in another one that works. */
async function troubleOf(
  what: WorkerTrouble["what"],
  tools: ReturnType<Parts["tools"]>,
  others: readonly WorkerRecord[],
): Promise<Finding | null> {
  const own = tools === null ? undefined : (await troublesOf(tools)).find((one) => one.what === what);
  if (own !== undefined) return { degraded: true, message: own.message, since: own.since };
  for (const other of others) {
    const trouble = other.troubles.find((one) => one.what === what);
    if (trouble !== undefined)
      return { degraded: true, message: `${nameOf(other)}: ${trouble.message}`, since: trouble.since };
  }
  return null;
}

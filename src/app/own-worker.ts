/** State of the workers: from the registry, and for this process from live values. */
import type { PageTools } from "./page-tools.ts";
import type { Store } from "../store/ports/port.ts";
import type { WorkerHeartbeat, WorkerRecord, WorkerProblem } from "../store/ports/worker-port.ts";

const MOST = 1000;

export async function knownWorkers(
  { store }: { store: Store },
  worker: { workerId: string; heartbeat(): Promise<WorkerHeartbeat> } | null,
): Promise<WorkerRecord[]> {
  const workers = await store.workers({ limit: MOST });
  const heartbeat = worker === null ? null : await worker.heartbeat();
  return workers.map((one) => (one.id === worker?.workerId ? { ...one, ...heartbeat } : one));
}

const MB = 1024 * 1024;
export const inMb = (bytes: number) => Math.floor(bytes / MB);

/** Memory usage in words. */
export async function memoryWords({ memory }: Pick<PageTools, "memory">): Promise<string> {
  const used = inMb(await memory.used());
  return memory.limitBytes === null ? `${used} MB` : `${used} of ${inMb(memory.limitBytes)} MB`;
}

/** Degraded components. */
export async function problemsOf(tools: Pick<PageTools, "browser" | "memory">): Promise<WorkerProblem[]> {
  const problems: WorkerProblem[] = [];
  const words = await memoryWords(tools);
  const { since } = tools.memory;
  if (since !== null) problems.push({ what: "memory", message: `${words}: tasks run one at a time`, since });
  if (tools.browser.problem !== null) problems.push({ what: "browser", ...tools.browser.problem });
  return problems;
}

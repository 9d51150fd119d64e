/** Whether somebody takes up what is to be done, as the registry of workers tells. */
import { laneWithoutShard } from "../domain/lane.ts";
import { type IdleReason, isIdle, type Waiting } from "../domain/waiting.ts";
import { type PaceLimits, waitingSentence } from "../domain/waiting-sentence.ts";
import type { WorkerRecord } from "../store/worker-port.ts";
import type { OrchestratorDeps } from "./deps.ts";

/** Why nothing new is begun. */
export interface Standstill {
  reason: IdleReason;
  /** For people: what it is, and what helps. */
  message: string;
  /** What is under way all the same, by run and by lane. */
  runs: ReadonlySet<string>;
  lanes: ReadonlySet<string>;
}

const MOST = 1000;

/** It works on nothing before it takes over from another process. */
export function standsBy({ state, role }: Pick<WorkerRecord, "state" | "role">): boolean {
  return state === "working" && role === "standby";
}

export const WORKER_COUNTS = ["working", "standby", "draining", "drained", "lost"] as const;

/** How many there are in each state: one that stands by is not among those that work. */
export function countWorkers(
  workers: readonly Pick<WorkerRecord, "state" | "role">[],
): Record<(typeof WORKER_COUNTS)[number], number> {
  const counts = { working: 0, standby: 0, draining: 0, drained: 0, lost: 0 };
  for (const worker of workers)
    if (standsBy(worker)) counts.standby += 1;
    else if (worker.state !== "stopped") counts[worker.state] += 1;
  return counts;
}

/** Its message, where sentences stand by themselves. */
export function sentenceOf({ message }: Standstill): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}

/** Why work waits at a site, as a sentence; `needs` are the sites that it waits for, `limits` what it is paced by. */
export function waitingMessage(
  { reason, until }: Waiting,
  still: Standstill | null,
  needs: readonly string[] = [],
  limits: PaceLimits | null = null,
): string {
  if (!isIdle(reason)) return waitingSentence({ reason, until }, needs, limits);
  return still === null ? "" : sentenceOf(still);
}

/** null: somebody takes work. */
export async function standstill({ store }: Pick<OrchestratorDeps, "store">): Promise<Standstill | null> {
  const holder = await store.engineHolder();
  const holderLives = holder !== null && holder.remainingMs > 0;
  const workers = (await store.workers({ live: true, limit: MOST })).filter(({ state }) => state !== "lost");
  const active = workers.flatMap((worker) => worker.active);
  const because = (reason: IdleReason, message: string): Standstill => ({
    reason,
    message,
    runs: new Set(active.map(({ runId }) => runId)),
    lanes: new Set(active.map(({ lane }) => laneWithoutShard(lane))),
  });
  if (workers.length > 0 && workers.every(({ state }) => state !== "working"))
    return because("workers_drained", drainedWords(workers));
  // Where many may work, the one that leads may have just gone while others work.
  const engineLives =
    holderLives || (!store.capabilities.singleEngine && workers.some(({ role }) => role === "engine"));
  if (!engineLives) return because("no_worker", "no worker runs: work waits until orb serve or orb worker is started");
  const engines = workers.filter(({ role }) => role === "engine");
  const paused = engines.find((worker) => worker.paused !== null)?.paused ?? null;
  if (paused === null || engines.some((worker) => worker.paused === null)) return null;
  return because("worker_paused", `work pauses: ${paused}`);
}

function drainedWords(workers: readonly WorkerRecord[]): string {
  const goOn = (id: string) => `orb workers resume ${id} goes on`;
  return workers.length === 1
    ? `the only worker is drained and takes no work: ${goOn(workers[0]!.id)}`
    : `all ${workers.length} workers are drained and take no work: ${goOn("ID")}`;
}

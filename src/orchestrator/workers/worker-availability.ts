/** Whether any worker accepts tasks, by the registry of workers. */
import { mayBeAlive, type ProcessIdentity } from "../../base/machine.ts";
import { laneWithoutShard } from "../../domain/lane/lane.ts";
import type { RunHold } from "../../domain/run/run-hold.ts";
import { type IdleReason, isIdle, type LostLease, type Waiting } from "../../domain/run/waiting.ts";
import { type WaitingFacts, waitingSentence } from "../../domain/run/waiting-sentence.ts";
import type { WorkerRecord } from "../../store/ports/worker-port.ts";
import type { OrchestratorDeps } from "../deps.ts";

/** Why nothing starts. */
export interface NoWorkers {
  reason: IdleReason;
  /** Human-readable: the reason and the remedy. */
  message: string;
  /** What is in flight nevertheless, by run and by lane. */
  runs: ReadonlySet<string>;
  lanes: ReadonlySet<string>;
}

const MOST = 1000;

/** A standby accepts no tasks until it takes over. */
export function standsBy({ state, role }: Pick<WorkerRecord, "state" | "role">): boolean {
  return state === "working" && role === "standby";
}

export const WORKER_COUNTS = ["working", "standby", "draining", "drained", "lost"] as const;

/** Number of workers by state; standbys do not count as working. */
export function countWorkers(
  workers: readonly Pick<WorkerRecord, "state" | "role">[],
): Record<(typeof WORKER_COUNTS)[number], number> {
  const counts = { working: 0, standby: 0, draining: 0, drained: 0, lost: 0 };
  for (const worker of workers)
    if (standsBy(worker)) counts.standby += 1;
    else if (worker.state !== "stopped") counts[worker.state] += 1;
  return counts;
}

/** The message as a full sentence. */
export function sentenceOf({ message }: NoWorkers): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}

/** Why work waits at a site, as a sentence. */
export function waitingMessage(
  { reason, until, key }: Waiting,
  noWorkers: NoWorkers | null,
  facts: WaitingFacts = {},
): string {
  if (isIdle(reason)) return noWorkers === null ? "" : sentenceOf(noWorkers);
  return waitingSentence({ reason, until, ...(key === undefined ? {} : { key }) }, facts);
}

/** Why the whole run is held; null: it waits for something else. */
export function holdMessage(reason: Waiting["reason"], hold: RunHold | null | undefined): string | null {
  return hold?.reason === reason ? hold.message : null;
}

/** Null: a worker accepts tasks. */
export async function noWorkersReason({ store }: Pick<OrchestratorDeps, "store">): Promise<NoWorkers | null> {
  const holder = await store.engineHolder();
  // A killed process of this machine is gone at once, whatever its lease says.
  const holderLives = holder !== null && holder.remainingMs > 0 && mayBeAlive(holder);
  const workers = (await store.workers({ live: true, limit: MOST })).filter(isThere);
  const active = workers.flatMap((worker) => worker.active);
  const because = (reason: IdleReason, message: string): NoWorkers => ({
    reason,
    message,
    runs: new Set(active.map(({ runId }) => runId)),
    lanes: new Set(active.map(({ lane }) => laneWithoutShard(lane))),
  });
  if (workers.length > 0 && workers.every(({ state }) => state !== "working"))
    return because("workers_drained", drainedWords(workers));
  // With several engines, the leader may have just gone while others work.
  const engineLives =
    holderLives || (!store.capabilities.singleEngine && workers.some(({ role }) => role === "engine"));
  if (!engineLives)
    return because("no_worker", "no worker is running: work waits until orb serve or orb worker is started");
  const engines = workers.filter(({ role }) => role === "engine");
  const paused = engines.find((worker) => worker.paused !== null)?.paused ?? null;
  if (paused === null || engines.some((worker) => worker.paused === null)) return null;
  return because("worker_paused", `work pauses: ${paused}`);
}

function isThere({ state, identity }: WorkerRecord): boolean {
  return state !== "lost" && mayBeAlive(identity);
}

/**
 * Lanes with a dead owner, each with its worker and the end of its lease: until then no other worker claims its pages.
 */
export async function lostLeases(
  { store, clock }: Pick<OrchestratorDeps, "store" | "clock">,
  lanes: readonly string[],
): Promise<Map<string, LostLease>> {
  // With a single engine, the next one takes over everything at once.
  if (store.capabilities.singleEngine || lanes.length === 0) return new Map();
  const leases = await store.laneLeases(lanes);
  if (leases.length === 0) return new Map();
  const workers = await store.workers({ live: true, limit: MOST });
  return new Map(
    leases.flatMap(({ lane, identity, remainingMs }) => {
      const worker = identity === null ? undefined : workers.find((one) => isSame(one.identity, identity));
      if (worker === undefined || isThere(worker)) return [];
      return [[lane, { machine: worker.machine, pid: worker.identity.pid, until: clock.now() + remainingMs }]];
    }),
  );
}

export function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.boot === b.boot && a.pid === b.pid && a.pidStart === b.pidStart;
}

function drainedWords(workers: readonly WorkerRecord[]): string {
  const goOn = (id: string) => `resume with orb workers resume ${id}`;
  return workers.length === 1
    ? `the only worker is drained and takes no work: ${goOn(workers[0]!.id)}`
    : `all ${workers.length} workers are drained and take no work: ${goOn("ID")}`;
}

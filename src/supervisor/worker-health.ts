import { type Clock, sleep } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { ProcessIdentity } from "../base/machine.ts";
import type { WorkerRecord, WorkerStore } from "../store/ports/worker-port.ts";
import type { Health } from "./processes/child.ts";

interface WorkerHealthDeps {
  store: Pick<WorkerStore, "workers" | "askPing" | "pingAnswered">;
  clock: Clock;
}

const ANSWER_MS = 5000;
const LOOK_MS = 100;
/** No machine runs more workers. */
const MOST_WORKERS = 1000;

/**
 * A worker is healthy while its heartbeats arrive. After three missed ones it is pinged, and counts as hung only
 * without an answer: a busy machine delays heartbeats as well. `ask`: ping in any case. An unusable store (a full disk)
 * says nothing about the worker, which waits for it as we do.
 */
export async function workerHealth(
  deps: WorkerHealthDeps,
  identity: ProcessIdentity,
  { ask }: { ask: boolean },
): Promise<Health> {
  try {
    return await askedOf(deps, identity, ask);
  } catch (error) {
    return { ok: true, what: `running; no further information: ${messageOf(error)}` };
  }
}

async function askedOf(deps: WorkerHealthDeps, identity: ProcessIdentity, ask: boolean): Promise<Health> {
  const { store, clock } = deps;
  const worker = (await store.workers({ live: true, limit: MOST_WORKERS })).find((candidate) =>
    isSame(candidate.identity, identity),
  );
  if (worker === undefined) return { ok: false, why: "it has not sent a heartbeat yet", starting: true };
  const age = clock.now() - worker.heartbeatAt;
  // A time in the future comes from another clock.
  if (!ask && age >= 0 && age < 3 * worker.heartbeatMs) return { ok: true, what: wordsFor(worker) };
  if (await answersPing(deps, worker.id)) return { ok: true, what: wordsFor(worker) };
  return { ok: false, why: `no heartbeat, and no answer to a ping within ${ANSWER_MS / 1000} s` };
}

async function answersPing({ store, clock }: WorkerHealthDeps, id: string): Promise<boolean> {
  const begun = clock.monotonic();
  const ping = await store.askPing(id);
  for (;;) {
    // Read once more after the timeout: this process may have been late itself.
    const over = clock.monotonic() - begun >= ANSWER_MS;
    if (await store.pingAnswered(id, ping)) return true;
    if (over) return false;
    await sleep(clock, LOOK_MS);
  }
}

function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.pid === b.pid && a.pidStart === b.pidStart && a.boot === b.boot;
}

function wordsFor({ role, inFlight, paused, state }: WorkerRecord): string {
  if (paused !== null) return `paused: ${paused}`;
  if (state !== "working") return state;
  return role === "standby" ? "standby" : `working, ${inFlight} in flight`;
}

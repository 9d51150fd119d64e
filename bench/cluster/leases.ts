/** Heartbeats while the writers are saturated: no live worker may lose its lease. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/base/clock.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { print, verdictAtMost } from "../support/measure.ts";
import { startPostgres } from "../support/services.ts";
import { pause, printLoad } from "./cluster.ts";

const WORKERS = 50;
const DELAY_MS = 5;
/** A store has up to this many. */
const CONNECTIONS = 7;
const TTL_MS = 60_000;
const HEARTBEAT_MS = TTL_MS / 4;
const TASKS_PER_LANE = 100;
const CLAIMED = 20;

/** Claims and settles without fetching, as fast as the database allows. */
async function work(store: Store, worker: number, done: { all: boolean }): Promise<number> {
  const owner = `worker-${worker}`;
  const lane = `site:s${worker}.example`;
  const hold = await store.takeLane(lane, owner, TTL_MS);
  if (hold === null) throw new Error(`${owner} did not get its lane`);
  let settled = 0;
  while (!done.all) {
    const claim = await store.claim(hold, { limit: CLAIMED }, Date.now());
    if (claim === null) throw new Error(`${owner} has lost its lane`);
    // They are queued again, so that they never run out.
    const tasks = claim.tasks.map((task) => ({ task, verdict: { kind: "handed_back" } as const, attempt: null }));
    const { lost } = await store.settle([{ hold, tasks }], Date.now());
    if (lost.length > 0) throw new Error(`${owner} has lost its lane`);
    settled += tasks.length;
  }
  return settled;
}

async function keepLease(store: Store, worker: number, done: { all: boolean }, slowest: { ms: number }): Promise<void> {
  while (!done.all) {
    const begun = performance.now();
    const held = await store.heartbeat(`worker-${worker}`, TTL_MS);
    slowest.ms = Math.max(slowest.ms, performance.now() - begun);
    if (held === null) throw new Error(`worker-${worker} has lost its lease`);
    for (let waited = 0; waited < HEARTBEAT_MS && !done.all; waited += 250) await pause(250);
  }
}

async function prepare(store: Store, worker: number): Promise<void> {
  await store.joinOwners(`worker-${worker}`, TTL_MS);
  const site = `s${worker}.example`;
  const tasks = Array.from({ length: TASKS_PER_LANE }, (_, page) => ({
    key: String(page),
    lane: `site:${site}`,
    site,
    resolver: null,
    url: `https://${site}/${page}`,
    priority: 0,
    handler: null,
    payload: null,
  }));
  await store.startRun({ kind: "queue", maxAttempts: 3, snapshot: {} }, tasks, Date.now());
}

export async function benchLeases(seconds: number, workers = WORKERS): Promise<boolean> {
  print(`\nleases: ${workers} workers that only write, Postgres ${DELAY_MS} ms away each way, for ${seconds} s`);
  printLoad();
  const postgres = await startPostgres(["-c", `max_connections=${workers * CONNECTIONS + 10}`]);
  if (postgres === null) throw new Error("PostgreSQL has to be installed for this benchmark");
  const { hostname, port } = new URL(postgres.url);
  const line: ChildProcess = fork(fileURLToPath(new URL("delay-line.ts", import.meta.url)), [
    hostname,
    port,
    String(DELAY_MS),
  ]);
  const stores: Store[] = [];
  const leases: Promise<void>[] = [];
  const all: Promise<number>[] = [];
  const done = { all: false };
  try {
    const own = await new Promise<number>((resolve) => line.once("message", (at) => resolve(at as number)));
    const url = postgres.url.replace(`:${port}`, `:${own}`);
    const slowest = { ms: 0 };
    for (let worker = 0; worker < workers; worker += 1) {
      const store = await openPostgresStore({ url, clock: systemClock });
      stores.push(store);
      await prepare(store, worker);
      leases.push(keepLease(store, worker, done, slowest));
    }
    const begun = performance.now();
    all.push(...stores.map((store, worker) => work(store, worker, done)));
    await Promise.race([pause(seconds * 1000), Promise.all([...leases, ...all])]);
    done.all = true;
    const settled = (await Promise.all(all)).reduce((sum, count) => sum + count, 0);
    await Promise.all(leases);
    const conflicts = stores.reduce((sum, store) => sum + (store.conflicts?.() ?? 0), 0);
    print(
      `${((settled * 1000) / (performance.now() - begun)).toFixed(0)} tasks/s, ${conflicts} conflicts, no lease lost`,
    );
    return verdictAtMost("slowest heartbeat", slowest.ms / 1000, HEARTBEAT_MS / 1000, " s");
  } finally {
    // The first failure counts: others may follow from the end.
    done.all = true;
    await Promise.allSettled([...leases, ...all]);
    for (const store of stores) await store.close();
    line.kill();
    await postgres.stop();
  }
}

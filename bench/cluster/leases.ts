/** Heartbeats while the writers are saturated: no live worker may lose its lease. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { Lease } from "../../src/engine/lease.ts";
import { RETRY_MS } from "../../src/lanes/owner/settler.ts";
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

const ownerOf = (worker: number) => `worker-${worker}`;

/** What happened to all workers. */
interface Seen {
  done: boolean;
  heartbeats: number;
  slowestMs: number;
  /** Transactions that the database ended because something took too long; workers begin them again. */
  busy: number;
}

/** Claims and settles without fetching, as fast as the database allows. */
async function work(store: Store, worker: number, seen: Seen): Promise<number> {
  const owner = ownerOf(worker);
  const lane = `site:s${worker}.example`;
  const hold = await unlessBusy(seen, () => store.takeLane(lane, owner, TTL_MS));
  if (hold === null) throw new Error(`${owner} did not get its lane`);
  let settled = 0;
  while (!seen.done) {
    const claim = await unlessBusy(seen, () => store.claim(hold, { limit: CLAIMED }, Date.now()));
    if (claim === null) throw new Error(`${owner} has lost its lane`);
    // They are queued again, so that they never run out.
    let tasks = claim.tasks.map((task) => ({ task, verdict: { kind: "handed_back" } as const, attempt: null }));
    while (tasks.length > 0) {
      const batches = [{ hold, tasks }];
      const { lost, busy = [] } = await unlessBusy(seen, () => store.settle(batches, Date.now(), "try"));
      if (lost.length > 0) throw new Error(`${owner} has lost its lane`);
      settled += tasks.length - busy.length;
      tasks = tasks.filter(({ task }) => busy.includes(task.row));
    }
  }
  return settled;
}

/** A worker whose transaction waited too long begins it again. */
async function unlessBusy<T>(seen: Seen, execute: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await execute();
    } catch (error) {
      if (!isOrbError(error, "database_busy")) throw error;
      seen.busy += 1;
      await pause(RETRY_MS);
    }
  }
}

/** Keeps the lease of a worker as the product does. `over` resolves at the end, and rejects when the lease is lost. */
async function joinOwners(
  store: Store,
  worker: number,
  seen: Seen,
  end: AbortSignal,
): Promise<{ over: Promise<void> }> {
  const owner = ownerOf(worker);
  const timed = {
    heartbeat: async (...args: Parameters<Store["heartbeat"]>) => {
      const begun = performance.now();
      try {
        return await store.heartbeat(...args);
      } finally {
        seen.heartbeats += 1;
        seen.slowestMs = Math.max(seen.slowestMs, performance.now() - begun);
      }
    },
  };
  const options = { clock: systemClock, log: silentLog, ttlMs: TTL_MS, heartbeatMs: HEARTBEAT_MS };
  const lease = new Lease({ ...options, store: timed as Store });
  await lease.obtain(owner, () => store.joinOwners(owner, TTL_MS));
  const lost = new AbortController();
  end.addEventListener("abort", () => lost.abort(), { once: true });
  const over = lease.keep(owner, lost).then(() => {
    if (!end.aborted) throw new Error(`${owner} has lost its lease`);
  });
  // Another failure may come first.
  over.catch(() => {});
  return { over };
}

async function prepare(store: Store, worker: number): Promise<void> {
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
  const seen: Seen = { done: false, heartbeats: 0, slowestMs: 0, busy: 0 };
  const end = new AbortController();
  try {
    const own = await new Promise<number>((resolve) => line.once("message", (at) => resolve(at as number)));
    const url = postgres.url.replace(`:${port}`, `:${own}`);
    for (let worker = 0; worker < workers; worker += 1) {
      const store = await openPostgresStore({ url, clock: systemClock });
      stores.push(store);
      const { over } = await joinOwners(store, worker, seen, end.signal);
      leases.push(over);
      await prepare(store, worker);
    }
    printLoad("after the start");
    const begun = performance.now();
    all.push(...stores.map((store, worker) => work(store, worker, seen)));
    await Promise.race([pause(seconds * 1000), Promise.all([...leases, ...all])]);
    seen.done = true;
    const settled = (await Promise.all(all)).reduce((sum, count) => sum + count, 0);
    end.abort();
    await Promise.all(leases);
    const conflicts = stores.reduce((sum, store) => sum + (store.conflicts?.() ?? 0), 0);
    print(
      `${((settled * 1000) / (performance.now() - begun)).toFixed(0)} tasks/s, ${seen.heartbeats} heartbeats, ` +
        `${conflicts} conflicts, ${seen.busy} transactions begun again, no lease lost`,
    );
    printLoad("at the end");
    return verdictAtMost("slowest heartbeat", seen.slowestMs / 1000, HEARTBEAT_MS / 1000, " s");
  } finally {
    // The first failure counts: others may follow from the end.
    seen.done = true;
    end.abort();
    await Promise.allSettled([...leases, ...all]);
    for (const store of stores) await store.close();
    line.kill();
    await postgres.stop();
  }
}

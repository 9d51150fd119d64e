/** The same durable work (bulk enqueue, a no-op handler, acknowledge) on ours and on common queues. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { perSecond, print, race, seconds, verdict } from "../support/measure.ts";
import { startEngine } from "../support/own-queue.ts";
import { loadPeer } from "../support/peers.ts";
import { startPostgres, startRedis } from "../support/services.ts";
import { makeTasks } from "./statements.ts";

const JOBS = 20_000;
const BULK = 500;
const CONCURRENCY = 50;

async function own(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), "orb-bench-"));
  const path = join(dir, "orb.db");
  const store = openSqliteStore({ path, clock: systemClock });
  const run = await store.openRun({ kind: "queue", alias: "queue", maxAttempts: null, snapshot: {} }, Date.now());
  let ended: () => void = () => {};
  const done = new Promise<void>((resolve) => (ended = resolve));
  const handler = { strategy: "none", run: async () => ({ kind: "completed", artifacts: [], results: [] }) as const };
  const engine = await startEngine(store, path, handler, (count) => {
    if (count > 0 && enqueued) ended();
  });
  let enqueued = false;
  const tasks = makeTasks(JOBS);
  const took = await seconds(async () => {
    for (let start = 0; start < JOBS; start += BULK) {
      if (start + BULK >= JOBS) enqueued = true;
      engine.offer((await store.enqueue(run.id, tasks.slice(start, start + BULK), Date.now())).lanes);
      // As in a server: yield between two submits.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await done;
  });
  await engine.stop();
  await store.close();
  rmSync(dir, { recursive: true, force: true });
  return JOBS / took;
}

interface BullQueue {
  addBulk(jobs: { name: string; data: unknown; opts: object }[]): Promise<unknown>;
  obliterate(options: object): Promise<void>;
  close(): Promise<void>;
}
interface BullWorker {
  on(event: string, listener: () => void): void;
  close(): Promise<void>;
}
interface Bull {
  Queue: new (name: string, options: object) => BullQueue;
  Worker: new (name: string, run: () => Promise<void>, options: object) => BullWorker;
}

async function bullmq(bull: Bull, url: string): Promise<number> {
  const { hostname: host, port } = new URL(url);
  const connection = { host, port: Number(port), maxRetriesPerRequest: null };
  const queue = new bull.Queue("bench", { connection });
  let completed = 0;
  let ended: () => void = () => {};
  const done = new Promise<void>((resolve) => (ended = resolve));
  const worker = new bull.Worker("bench", async () => {}, { connection, concurrency: CONCURRENCY });
  worker.on("completed", () => {
    completed += 1;
    if (completed === JOBS) ended();
  });
  const tasks = makeTasks(JOBS);
  const took = await seconds(async () => {
    for (let start = 0; start < JOBS; start += BULK) {
      await queue.addBulk(
        tasks.slice(start, start + BULK).map((task) => ({
          name: "task",
          data: { url: task.url },
          opts: { jobId: task.key, removeOnComplete: true },
        })),
      );
    }
    await done;
  });
  await worker.close();
  await queue.obliterate({ force: true });
  await queue.close();
  return JOBS / took;
}

interface Boss {
  start(): Promise<void>;
  stop(options: object): Promise<void>;
  createQueue(name: string): Promise<void>;
  insert(name: string, jobs: object[]): Promise<unknown>;
  work(name: string, options: object, run: (jobs: unknown[]) => Promise<void>): Promise<string>;
  offWork(name: string): Promise<void>;
  on(event: "error", listener: (error: unknown) => void): void;
}

async function pgBoss(boss: Boss, round: number): Promise<number> {
  const name = `bench-${round}`;
  await boss.createQueue(name);
  let completed = 0;
  let ended: () => void = () => {};
  const done = new Promise<void>((resolve) => (ended = resolve));
  // Batches and several workers at the shortest polling interval: its fastest documented setup.
  for (let index = 0; index < 4; index += 1) {
    await boss.work(name, { batchSize: 250, pollingIntervalSeconds: 0.5 }, async (jobs) => {
      completed += jobs.length;
      if (completed === JOBS) ended();
    });
  }
  const tasks = makeTasks(JOBS);
  const took = await seconds(async () => {
    for (let start = 0; start < JOBS; start += BULK) {
      await boss.insert(
        name,
        tasks.slice(start, start + BULK).map((task) => ({ data: { url: task.url }, singletonKey: task.key })),
      );
    }
    await done;
  });
  await boss.offWork(name);
  return JOBS / took;
}

export async function benchPeers(rounds: number): Promise<boolean> {
  print(
    `\n${JOBS} no-op jobs: enqueue in ${BULK}s, process ${CONCURRENCY} at a time, acknowledge; median of ${rounds} rounds`,
  );
  const contestants: Record<string, () => Promise<number>> = { orbweaver: own };
  const stops: (() => Promise<void>)[] = [];
  const bull = await loadPeer<Bull>("bullmq");
  for (const fsync of ["always", "everysec"] as const) {
    const redis = bull === null ? null : await startRedis(fsync);
    if (bull === null || redis === null) {
      print(`  SKIPPED bullmq (${fsync}): Redis or the package is not at hand (apt-get install redis-server)`);
      continue;
    }
    stops.push(redis.stop);
    contestants[`bullmq, fsync ${fsync}`] = () => bullmq(bull, redis.url);
  }
  const pg = await loadPeer<{ PgBoss: new (options: object) => Boss }>("pg-boss");
  const postgres = pg === null ? null : await startPostgres();
  if (pg === null || postgres === null)
    print("  SKIPPED pg-boss: PostgreSQL or the package is not at hand (apt-get install postgresql)");
  else {
    const boss = new pg.PgBoss({ connectionString: postgres.url });
    boss.on("error", (error) => print(`  pg-boss: ${String(error)}`));
    await boss.start();
    let round = 0;
    contestants["pg-boss"] = () => pgBoss(boss, (round += 1));
    stops.push(async () => {
      await boss.stop({ graceful: false });
      await postgres.stop();
    });
  }
  const rates = await race(contestants, rounds);
  for (const stop of stops) await stop();
  for (const [name, rate] of Object.entries(rates)) print(`  ${name.padEnd(22)} ${perSecond(rate)}`);
  return Object.entries(rates)
    .filter(([name]) => name !== "orbweaver")
    .map(([name, rate]) => verdict(`against ${name}`, (rates["orbweaver"] ?? 0) / rate, 4))
    .every(Boolean);
}

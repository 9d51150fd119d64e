/** SQLite on the main thread or in its own? The same batches both ways, while the main thread has other work. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { systemClock } from "../../src/base/clock.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { makeTasks, takeTheLane } from "../queue/statements.ts";
import { median, print } from "../support/measure.ts";

const CYCLES = 150;
const BATCH = 100;

function inThread(path: string): { store: Store; stop: () => Promise<unknown> } {
  const worker = new Worker(new URL("thread.ts", import.meta.url), { workerData: path });
  const waiting = new Map<number, (value: unknown) => void>();
  let calls = 0;
  worker.on("message", ({ id, value }: { id: number; value: unknown }) => {
    waiting.get(id)?.(value);
    waiting.delete(id);
  });
  const store = new Proxy({} as Store, {
    get: (_, verb) =>
      verb === "then"
        ? undefined
        : (...args: unknown[]) =>
            new Promise((resolve) => {
              waiting.set((calls += 1), resolve);
              worker.postMessage({ id: calls, verb, args });
            }),
  });
  return { store, stop: () => worker.terminate() };
}

/** Some 5 ms of computation per cycle, in pieces: like parsing a few pages. */
async function ownWork(): Promise<void> {
  for (let piece = 0; piece < 10; piece += 1) {
    const until = performance.now() + 0.5;
    while (performance.now() < until);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function cycles(store: Store): Promise<{ perSecond: number; delayMs: number; cpuMs: number }> {
  const run = await store.openRun({ kind: "queue", alias: "queue", maxAttempts: null, snapshot: {} }, 1);
  await store.enqueue(run.id, makeTasks(BATCH, 1_000_000), 1);
  const grant = await takeTheLane(store, "site:site-0.test");
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const begun = performance.now();
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const storing = (async () => {
      await store.enqueue(run.id, makeTasks(BATCH, cycle * BATCH), 1);
      const claim = await store.claim(grant, { limit: BATCH }, 1);
      const tasks = (claim?.tasks ?? []).map(
        (task) =>
          ({ task, attempt: null, verdict: { kind: "completed", artifacts: [], results: [], detail: null } }) as const,
      );
      await store.settle([{ hold: grant, tasks }], 1);
    })();
    await Promise.all([storing, ownWork()]);
  }
  const took = (performance.now() - begun) / 1000;
  const used = process.cpuUsage(cpu);
  delay.disable();
  return {
    perSecond: (CYCLES * BATCH) / took,
    delayMs: delay.percentile(99) / 1e6,
    cpuMs: (used.user + used.system) / 1000 / CYCLES,
  };
}

export async function run(rounds: number): Promise<boolean> {
  print(
    `\n${CYCLES} cycles of enqueue, claim and settle of ${BATCH} tasks beside 5 ms of other work, median of ${rounds} rounds`,
  );
  const results = {
    main: [] as Awaited<ReturnType<typeof cycles>>[],
    thread: [] as Awaited<ReturnType<typeof cycles>>[],
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const where of ["main", "thread"] as const) {
      const dir = mkdtempSync(join(tmpdir(), "orb-bench-"));
      const path = join(dir, "orb.db");
      if (where === "main") {
        await using store = openSqliteStore({ path, clock: systemClock });
        results.main.push(await cycles(store));
      } else {
        const { store, stop } = inThread(path);
        results.thread.push(await cycles(store));
        await stop();
      }
      rmSync(dir, { recursive: true, force: true });
    }
  }
  for (const where of ["main", "thread"] as const) {
    const middle = (pick: (result: Awaited<ReturnType<typeof cycles>>) => number) => median(results[where].map(pick));
    print(
      `  ${where.padEnd(6)} ${Math.round(middle((r) => r.perSecond))} tasks/s   event loop p99 ${middle((r) => r.delayMs).toFixed(1)} ms   ${middle((r) => r.cpuMs).toFixed(1)} ms of CPU per cycle`,
    );
  }
  return true;
}

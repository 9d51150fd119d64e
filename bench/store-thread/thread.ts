/** The store in its own thread: every call is a message in each direction. */
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../src/base/clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

const store = openSqliteStore({ path: workerData as string, clock: systemClock });
parentPort?.on("message", async ({ id, verb, args }: { id: number; verb: keyof typeof store; args: unknown[] }) => {
  const value = await (store[verb] as (...all: unknown[]) => Promise<unknown>)(...args);
  parentPort?.postMessage({ id, value });
});
